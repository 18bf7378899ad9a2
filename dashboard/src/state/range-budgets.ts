// The delay budget of the selected range and ranks, out of the figures of the selection. Pure.

import type { RangeBudget } from "../feed/found";
import type { RankRanges, Span } from "./perspective";
import { isSameChoice, type SelectedFigures, type SelectedScope } from "./selected";

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
  /** `isOld`: there is more of the same by now, and no answer that has it. */
  | { kind: "known"; scope: BudgetScope; budget: RangeBudget; isOld: boolean };

/** Functions have no budget of their own: hiding some changes nothing here. */
export function rangeFigures(wanted: SelectedScope | null, { known, isOther, isAsking, why }: SelectedFigures): RangeFigures {
  if (!wanted || (!wanted.rangeNs && !wanted.ranks)) return { kind: "none" };
  const scopeOf = ({ rangeNs, ranks }: SelectedScope): BudgetScope => ({ rangeNs, ranks });
  const isMine = known !== null && isSameChoice(known.scope, wanted);
  // Figures of the choice before stay while one brushes: they say themselves what they are of.
  if (known && (isMine || isAsking) && (known.scope.rangeNs || known.scope.ranks)) {
    const { budget, budgetMissing } = known.answer;
    if (!budget) return { kind: "missing", scope: scopeOf(wanted), why: budgetMissing };
    return { kind: "known", scope: scopeOf(known.scope), budget, isOld: isMine && isOther && !isAsking };
  }
  return why ? { kind: "missing", scope: scopeOf(wanted), why } : { kind: "asked", scope: scopeOf(wanted) };
}
