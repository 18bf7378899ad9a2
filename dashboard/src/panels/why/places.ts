// Parts of the tab Why that one can be led to.

import type { Cause } from "../../feed/found";
import type { Store } from "../../state/store";

export const ADVICE = "why-advice";
export const BUDGET = "why-budget";
export const WAITS = "why-waits";

/** What a verdict of this cause rests on first of all. */
export function evidenceOf(cause: Cause): string {
  return cause === "pattern" ? WAITS : BUDGET;
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
