// Figures of the selected range, in words: which range they really are of, or why there are none. Pure.

import type { RangeBudget } from "../feed/found";
import type { Span } from "../state/perspective";
import type { RangeFigures } from "../state/range-budgets";
import { over, type RunState } from "../state/run";
import { clock, duration, unbroken } from "./index";

export interface RangeWords {
  title: string;
  /** Empty where there is nothing to add. */
  note: string;
}

/** Shorter ranges are told to the microsecond. */
const SHORT_NS = 10e6;
const WHOLE_RUN = "What follows is of the whole run.";

/** The heading of the selected range; null when there is none. */
export function rangeWords(figures: RangeFigures, run: RunState): RangeWords | null {
  switch (figures.kind) {
    case "none":
      return null;
    case "asked":
      return { title: "Selected range", note: `Its figures are on their way. ${WHOLE_RUN}` };
    case "missing":
      return { title: "Selected range", note: `Its figures are missing: ${figures.why.replace(/\.$/, "")}. ${WHOLE_RUN}` };
    case "known": {
      const { rangeNs, budget, isOld } = figures;
      if (!hasFigures(figures)) return { title: "Selected range", note: `Nothing of it ${over(run) ? "was judged" : "is judged yet"}. ${WHOLE_RUN}` };
      return { title: `Selected range ${spanWords([budget.fromNs, budget.toNs])}`, note: [isOld ? "As judged while the job ran." : "", ...coverage(rangeNs, budget, run)].filter(Boolean).join(" ") };
    }
  }
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

function afterwards(run: RunState): string {
  // What is final goes to the last call.
  if (run.found?.isFinal) return "After it there is nothing to judge.";
  return `What is after ${over(run) ? "was not judged" : "is not judged yet"}.`;
}

/** Why it is not to the nanosecond what was selected. */
function coverage(rangeNs: Span, { fromNs, toNs }: RangeBudget, run: RunState): string[] {
  if (rangeNs[0] === fromNs && rangeNs[1] === toNs) return [];
  return [
    `Judged in whole windows of time; selected are ${unbroken(`${clock(rangeNs[0], 6)} to ${clock(rangeNs[1], 6)}`)}.`,
    rangeNs[0] < fromNs ? "What is before was not judged." : "",
    rangeNs[1] > toNs ? afterwards(run) : "",
  ];
}
