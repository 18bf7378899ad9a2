// What is known of the selected range and ranks: asks once a choice stays, and again at once when more of the run was
// judged.

import type { RangeBudget } from "../feed/found";
import { same } from "../same";
import { Asking, NOBODY, type Outcome, REST_MS } from "./asking";
import type { RankRanges, Span } from "./perspective";

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

interface Wanted { scope: BudgetScope; judgement: unknown }

export class RangeBudgets {
  private wanted: Wanted | null = null;
  private isOpen = false;
  private figures: RangeFigures = { kind: "none" };
  /** What was judged when those figures were asked for. */
  private shownJudgement: unknown = null;
  private readonly asking: Asking<Wanted, RangeBudget>;

  constructor(ask: (scope: BudgetScope) => Promise<RangeBudget>, private readonly show: (figures: RangeFigures) => void) {
    this.asking = new Asking(() => this.wanted, ({ scope }) => ask(scope), (outcome, asked) => this.take(outcome, asked));
  }

  /** What is selected, what was judged last (another object says that more was), and whether there is anyone to ask. */
  want(scope: BudgetScope | null, judgement: unknown, isOpen: boolean): void {
    const before = this.wanted;
    const isSame = same(scope, before?.scope ?? null);
    if (isSame && judgement === before?.judgement && isOpen === this.isOpen) return;
    this.wanted = scope && { scope, judgement };
    this.isOpen = isOpen;
    if (!isSame) {
      // Answers on their way are about another choice. Figures of the one before stay while one brushes: they say
      // themselves what they are of.
      this.asking.drop();
      if (scope && this.figures.kind !== "known") this.become({ kind: "asked", scope });
    }
    if (!scope) this.become({ kind: "none" });
    else if (!isOpen) this.rest(scope);
    else if (!isSame) this.asking.askIn(REST_MS);
    // What was judged last may be the last of all: there is no time to lose.
    else if (!this.asking.isWaiting) this.asking.askNow();
  }

  /** Nobody looks any more. */
  stop(): void {
    this.want(null, null, false);
  }

  private become(figures: RangeFigures): void {
    this.figures = figures;
    this.show(figures);
  }

  private take(outcome: Outcome<RangeBudget>, { scope, judgement }: Wanted): void {
    if (!outcome) {
      if (this.isOpen && !this.asking.isWaiting) this.asking.askIn(REST_MS);
      return;
    }
    this.shownJudgement = judgement;
    this.become("why" in outcome ? { kind: "missing", scope, why: outcome.why } : { kind: "known", scope, budget: outcome.answer, isOld: false });
  }

  /** Nobody is there to be asked. */
  private rest(scope: BudgetScope): void {
    this.asking.cancel();
    const { figures } = this;
    const isMine = figures.kind === "known" && same(figures.scope, scope);
    this.become(isMine ? { ...figures, isOld: this.shownJudgement !== this.wanted?.judgement } : { kind: "missing", scope, why: NOBODY });
  }
}
