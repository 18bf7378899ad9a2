// Questions where the newest counts: each waits until its time has come, is then asked about what is wanted by then, and
// what comes back after a newer answer, or after it was dropped, is nobody's. When to ask is the owner's. No socket.

import { GivenUp } from "../asks";

/** Brushing changes what is wanted with every move. */
export const REST_MS = 200;
export const NOBODY = "there is no connection to ask over";

/** An answer, or why there is none in words; null: the question was given up for others, and can be asked again. */
export type Outcome<Answer> = { answer: Answer } | { why: string } | null;

export class Asking<Scope, Answer> {
  /** How long the last answer took. */
  tookMs = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private newest = 0;
  /** Up to this question nothing is waited for any more. */
  private settled = 0;

  /** `wanted`: null where there is nothing to ask. */
  constructor(
    private readonly wanted: () => Scope | null,
    private readonly ask: (scope: Scope) => Promise<Answer>,
    private readonly take: (outcome: Outcome<Answer>, scope: Scope) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** A question waits for its time. */
  get isWaiting(): boolean {
    return this.timer !== undefined;
  }

  /** A question is on its way. */
  get isAway(): boolean {
    return this.newest > this.settled;
  }

  /** Asks after a while, instead of what waits. */
  askIn(restMs: number): void {
    this.cancel();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.askNow();
    }, restMs);
  }

  askNow(): void {
    const scope = this.wanted();
    if (scope === null) return;
    const number = ++this.newest;
    const sentMs = this.nowMs();
    const settle = (outcome: Outcome<Answer>): void => {
      if (number <= this.settled) return;
      this.settled = number;
      if (outcome && "answer" in outcome) this.tookMs = this.nowMs() - sentMs;
      this.take(outcome, scope);
    };
    this.ask(scope).then((answer) => settle({ answer }), (reason: Error) => settle(reason instanceof GivenUp ? null : { why: reason.message }));
  }

  /** What waits is not asked. */
  cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Something else is wanted: what waits is not asked, and what is on its way is for nothing. */
  drop(): void {
    this.cancel();
    this.settled = this.newest;
  }
}
