// Parts of the tab Causes that one can be led to.

import type { Cause } from "../../feed/found";
import type { Store } from "../../state/store";

export const CAUSES_PART = "why-causes";
export const WHAT_IF = "why-what-if";
export const ADVICE = "why-advice";
export const SOURCES = "why-sources";
export const BUDGET = "why-budget";
export const OVER_TIME = "why-over-time";
export const VIEWS = "why-views";
export const CRITERIA = "why-criteria";
export const SITES = "why-sites";
export const PLACEMENT = "why-placement";
export const WAITS = "why-waits";

/** In the order in which they are below each other. */
export const PARTS: readonly { id: string; label: string; learn: string }[] = [
  { id: CAUSES_PART, label: "Causes", learn: "Avoidable time, and what to do about it" },
  { id: WHAT_IF, label: "What if", learn: "What the run would take without its causes" },
  { id: SOURCES, label: "Which ranks", learn: "From which ranks it comes" },
  { id: WAITS, label: "Waits", learn: "In which calls ranks wait, and who waited for whom" },
  { id: SITES, label: "Call sites", learn: "The call sites where ranks wait" },
  { id: BUDGET, label: "Budget", learn: "Where time in MPI went, and what was waited for" },
  { id: OVER_TIME, label: "Over time", learn: "When it could have been avoided" },
  { id: VIEWS, label: "Three views", learn: "Where messages go, how evenly, and how steadily" },
  { id: CRITERIA, label: "Criteria", learn: "Expected transfer times, by size" },
  { id: PLACEMENT, label: "Placement", learn: "A better placement of the ranks, with the files for it" },
];

/** The part that is at the top, of parts with where they begin, in their order; at the end of the view the last one. */
export function reachedPart(parts: readonly { id: string; y: number }[], top: number, isEnd: boolean, asked: string | null): string {
  // A part near the end cannot come to the top: whoever asked for it is there nevertheless.
  if (asked !== null && parts.some(({ id }) => id === asked)) return asked;
  const reached = isEnd ? parts.at(-1) : parts.filter(({ y }) => y <= top).at(-1);
  return reached?.id ?? PARTS[0]?.id ?? "";
}

/** What a verdict of this cause rests on first of all. */
export function evidenceOf(cause: Cause): string {
  switch (cause) {
    case "pattern":
    case "cpu": return SOURCES;
    case "mapping": return PLACEMENT;
    case "background": return OVER_TIME;
    default: return BUDGET;
  }
}

/** Goes there; the keyboard goes on from there as well. */
export function show(store: Store, place: string): void {
  store.tab.value = "why";
  requestAnimationFrame(() => {
    const part = document.getElementById(place);
    part?.focus({ preventScroll: true });
    part?.scrollIntoView({ block: "start" });
  });
}
