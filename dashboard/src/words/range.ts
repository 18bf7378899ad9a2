// Figures of the selected range and ranks, in words: which range they really are of, or why there are none. Pure.

import type { RangeBudget } from "../feed/found";
import type { Span } from "../state/perspective";
import type { BudgetScope, RangeFigures } from "../state/range-budgets";
import { over, type RunState } from "../state/run";
import { clock, duration, unbroken } from "./index";
import { ranksWords } from "./regions";

export interface RangeWords {
  title: string;
  /** Empty where there is nothing to add. */
  note: string;
}

/** Shorter ranges are shown to the microsecond. */
const SHORT_NS = 10e6;
const WHOLE_RUN = "What follows is of the whole run.";

/** The heading of what is selected; null when nothing is. */
export function rangeWords(figures: RangeFigures, run: RunState): RangeWords | null {
  if (figures.kind === "none") return null;
  const title = titleOf(figures.scope);
  switch (figures.kind) {
    case "asked":
      return { title, note: `Its figures are on their way. ${WHOLE_RUN}` };
    case "missing":
      return { title, note: `Its figures are missing: ${figures.why.replace(/\.$/, "")}. ${WHOLE_RUN}` };
    case "known": {
      const { scope, budget, isOld } = figures;
      if (!hasFigures(figures)) return { title, note: `It has no diagnosis${over(run) ? "" : " yet"}. ${WHOLE_RUN}` };
      return {
        title: titleOf(scope, [budget.fromNs, budget.toNs]),
        note: [isOld ? "As diagnosed while the job ran." : "", ...coverage(scope.rangeNs, budget, run)].filter(Boolean).join(" "),
      };
    }
  }
}

/** What is selected: of the range, that which figures are really of where that is known. */
function titleOf({ rangeNs, ranks }: BudgetScope, diagnosed: Span | null = null): string {
  const range = diagnosed ? ` ${spanWords(diagnosed)}` : "";
  const of = ranks ? ranksWords(ranks) : "";
  if (rangeNs) return `Selected range${range}${of && `, ${of}`}`;
  return `Selected ${of}${diagnosed ? ` in the whole run,${range}` : ""}`;
}

/** Whether there is anything to show of the range itself. */
export function hasFigures(figures: RangeFigures): figures is Extract<RangeFigures, { kind: "known" }> {
  return figures.kind === "known" && figures.budget.toNs > figures.budget.fromNs;
}

/** A range of time with its length. */
export function spanWords([fromNs, toNs]: Span): string {
  const digits = toNs - fromNs < SHORT_NS ? 6 : 3;
  return unbroken(`${clock(fromNs, digits)} to ${clock(toNs, digits)}, ${duration(toNs - fromNs)}`);
}

const inWindows = (windowNs: number): string => `Counted in windows of ${unbroken(duration(windowNs))}`;

/** What figures of less than a window are; empty for those of more. */
export function coarseness({ fromNs, toNs, windowNs }: RangeBudget): string {
  return toNs - fromNs < windowNs ? `${inWindows(windowNs)}: this is the average of the one around the selection.` : "";
}

function afterwards(run: RunState): string {
  // What is final goes to the last call.
  if (run.found?.isFinal) return "After it there is nothing to diagnose.";
  return `What comes after has no diagnosis${over(run) ? "" : " yet"}.`;
}

/** How finely it is known, and what of the selection is not. Ends are asked for in whole nanoseconds. */
function coverage(rangeNs: Span | null, { fromNs, toNs, windowNs }: RangeBudget, run: RunState): string[] {
  if (!rangeNs) return [];
  return [
    windowNs > 0 ? `${inWindows(windowNs)}: of one that is cut, a part counts.` : "",
    fromNs - rangeNs[0] >= 1 ? "What comes before has no diagnosis." : "",
    rangeNs[1] - toNs >= 1 ? afterwards(run) : "",
  ];
}
