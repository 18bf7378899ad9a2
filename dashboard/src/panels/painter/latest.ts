// Questions. One is under way at a time, and then the newest that waits, or all that wait as one.

export class Latest<Ask> {
  private busy = false;
  private waiting: Ask | null = null;

  constructor(private readonly send: (ask: Ask) => void, private readonly merge: (before: Ask, next: Ask) => Ask = (_, next) => next) {}

  ask(ask: Ask): void {
    if (this.busy) {
      this.waiting = this.waiting === null ? ask : this.merge(this.waiting, ask);
      return;
    }
    this.busy = true;
    this.send(ask);
  }

  answered(): void {
    this.busy = false;
    const next = this.waiting;
    this.waiting = null;
    if (next !== null) this.ask(next);
  }

  /** What is under way and what waits will never be answered. */
  forget(): void {
    this.busy = false;
    this.waiting = null;
  }
}
