// What is known of the selected range: asks once a range stays, and again at once when more of the
// run was judged. No socket.

import { GivenUp } from "../asks";
import type { RangeBudget } from "../feed/found";
import type { Span } from "./perspective";

/** Brushing changes the range with every move. */
const REST_MS = 150;

export type RangeFigures =
  | { kind: "none" }
  | { kind: "asked" }
  /** Why there are none, in words. */
  | { kind: "missing"; why: string }
  /** `isOld`: more was judged since, and nobody is there to be asked. */
  | { kind: "known"; rangeNs: Span; budget: RangeBudget; isOld: boolean };

export class RangeBudgets {
  private rangeNs: Span | null = null;
  private judgement: unknown = null;
  private isOpen = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  /** The question whose answer is shown. */
  private shown = 0;
  private figures: RangeFigures = { kind: "none" };
  /** What was judged when those figures were asked for. */
  private shownJudgement: unknown = null;

  constructor(
    private readonly ask: (fromNs: number, toNs: number) => Promise<RangeBudget>,
    private readonly show: (figures: RangeFigures) => void,
  ) {}

  /** What is selected, what was judged last (another object says that more was), and whether there is anyone to ask. */
  want(rangeNs: Span | null, judgement: unknown, isOpen: boolean): void {
    const isSame = same(rangeNs, this.rangeNs);
    if (isSame && judgement === this.judgement && isOpen === this.isOpen) return;
    Object.assign(this, { rangeNs, judgement, isOpen });
    if (!isSame) {
      clearTimeout(this.timer);
      this.timer = undefined;
      // Answers on their way are about another range. Figures of the one before stay while one brushes: they say
      // themselves what they are of.
      this.shown = this.asked;
      if (this.figures.kind !== "known") this.become({ kind: "asked" });
    }
    if (!rangeNs) this.become({ kind: "none" });
    else if (!isOpen) this.rest(rangeNs);
    else if (!isSame) this.askSoon();
    // What was judged last may be the last of all: there is no time to lose.
    else if (this.timer === undefined) this.askNow();
  }

  /** Nobody looks any more. */
  stop(): void {
    this.want(null, null, false);
  }

  private become(figures: RangeFigures): void {
    this.figures = figures;
    this.show(figures);
  }

  private askSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.askNow();
    }, REST_MS);
  }

  private askNow(): void {
    const { rangeNs, judgement } = this;
    if (!rangeNs) return;
    const number = ++this.asked;
    // An answer may come after a newer one, and is of no use then.
    const isWanted = (): boolean => same(rangeNs, this.rangeNs) && number > this.shown;
    const settle = (figures: RangeFigures): void => {
      this.shown = number;
      this.shownJudgement = judgement;
      this.become(figures);
    };
    this.ask(rangeNs[0], rangeNs[1]).then((budget) => {
      if (isWanted()) settle({ kind: "known", rangeNs, budget, isOld: false });
    }, (reason: Error) => {
      if (!isWanted()) return;
      if (!(reason instanceof GivenUp)) settle({ kind: "missing", why: reason.message });
      else if (this.isOpen) this.askSoon();
    });
  }

  /** Nobody is there to be asked. */
  private rest(rangeNs: Span): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { figures } = this;
    const isMine = figures.kind === "known" && same(figures.rangeNs, rangeNs);
    this.become(isMine ? { ...figures, isOld: this.shownJudgement !== this.judgement } : { kind: "missing", why: "there is no connection to ask over" });
  }
}

function same(one: Span | null, other: Span | null): boolean {
  return one === other || (one !== null && other !== null && one[0] === other[0] && one[1] === other[1]);
}
