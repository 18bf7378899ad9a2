// A page shows what its commands will do before the server says so. What arrives in between was sent before the
// command was heard there, and would make the picture jump back: each command raises the shared clock's version by one,
// which shows which message is the first to know of it.

/** A server that has not answered by then is not going to: what it said last is true. */
const PATIENCE_MS = 2000;

export class Echo<T> {
  private version = 0;
  private awaited = 0;
  private untilMs = 0;
  private delayed: T | null = null;

  sent(nowMs: number): void {
    this.awaited = Math.max(this.awaited, this.version) + 1;
    this.untilMs = nowMs + PATIENCE_MS;
    this.delayed = null;
  }

  /** Whether to take a message; if not, it is delayed in case that nothing newer comes. */
  heard(message: T, version: number, nowMs: number): boolean {
    this.version = version;
    const taken = version >= this.awaited || nowMs >= this.untilMs;
    this.delayed = taken ? null : message;
    return taken;
  }

  /** What was delayed for too long; to be asked for now and then. */
  overdue(nowMs: number): T | null {
    if (this.delayed === null || nowMs < this.untilMs) return null;
    const message = this.delayed;
    this.reset();
    return message;
  }

  /** Another connection may be another server, whose versions start anew. */
  reset(): void {
    this.version = 0;
    this.awaited = 0;
    this.delayed = null;
  }
}
