// What is known of the selected range and ranks: asks once a choice stays, and again at once when more of the run was
// judged. No socket.

import { GivenUp } from "../asks";
import type { RangeBudget } from "../feed/found";
import type { RankRanges, Span } from "./perspective";

/** Brushing changes the range with every move. */
const REST_MS = 150;

/** What figures are wanted of; not both of them null. */
export interface BudgetScope {
  /** Null: the whole run. */
  rangeNs: Span | null;
  /** Null: all. */
  ranks: RankRanges | null;
}

export type RangeFigures =
  | { kind: "none" }
  | { kind: "asked"; scope: BudgetScope }
  /** Why there are none, in words. */
  | { kind: "missing"; scope: BudgetScope; why: string }
  /** `isOld`: more was judged since, and nobody is there to be asked. */
  | { kind: "known"; scope: BudgetScope; budget: RangeBudget; isOld: boolean };

export class RangeBudgets {
  private scope: BudgetScope | null = null;
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
    private readonly ask: (scope: BudgetScope) => Promise<RangeBudget>,
    private readonly show: (figures: RangeFigures) => void,
  ) {}

  /** What is selected, what was judged last (another object says that more was), and whether there is anyone to ask. */
  want(scope: BudgetScope | null, judgement: unknown, isOpen: boolean): void {
    const isSame = same(scope, this.scope);
    if (isSame && judgement === this.judgement && isOpen === this.isOpen) return;
    Object.assign(this, { scope, judgement, isOpen });
    if (!isSame) {
      clearTimeout(this.timer);
      this.timer = undefined;
      // Answers on their way are about another choice. Figures of the one before stay while one brushes: they say
      // themselves what they are of.
      this.shown = this.asked;
      if (scope && this.figures.kind !== "known") this.become({ kind: "asked", scope });
    }
    if (!scope) this.become({ kind: "none" });
    else if (!isOpen) this.rest(scope);
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
    const { scope, judgement } = this;
    if (!scope) return;
    const number = ++this.asked;
    // An answer may come after a newer one, and is of no use then.
    const isWanted = (): boolean => same(scope, this.scope) && number > this.shown;
    const settle = (figures: RangeFigures): void => {
      this.shown = number;
      this.shownJudgement = judgement;
      this.become(figures);
    };
    this.ask(scope).then((budget) => {
      if (isWanted()) settle({ kind: "known", scope, budget, isOld: false });
    }, (reason: Error) => {
      if (!isWanted()) return;
      if (!(reason instanceof GivenUp)) settle({ kind: "missing", scope, why: reason.message });
      else if (this.isOpen) this.askSoon();
    });
  }

  /** Nobody is there to be asked. */
  private rest(scope: BudgetScope): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { figures } = this;
    const isMine = figures.kind === "known" && same(figures.scope, scope);
    this.become(isMine ? { ...figures, isOld: this.shownJudgement !== this.judgement } : { kind: "missing", scope, why: "there is no connection to ask over" });
  }
}

function same(one: BudgetScope | null, other: BudgetScope | null): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
