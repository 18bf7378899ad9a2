// The selected range and ranks in the tab Causes: their figures in place of the whole run's where there are any.

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { rangeFigures, type RangeFigures } from "../../state/range-budgets";
import type { Store } from "../../state/store";
import { rangeWords } from "../../words/range";

/** What is known of the selected range. */
export function useRangeFigures(store: Store): ReadonlySignal<RangeFigures> {
  return useComputed(() => rangeFigures(store.scope.value, store.selected.value));
}

export function RangeBar({ store, figures }: { store: Store; figures: RangeFigures }) {
  const words = rangeWords(figures, store.figures.value);
  if (!words) return null;
  const { rangeNs, ranks } = store.perspective.value;
  return (
    <section class="range" aria-label="Selected">
      <h2>{words.title}</h2>
      <p class="soft">{words.note}</p>
      <span class="buttons">
        {ranks && <button type="button" title="Show all ranks again, in all views" onClick={() => store.select({ ranks: null })}>All ranks</button>}
        {rangeNs && <button type="button" title="Clear the selected range" onClick={() => store.select({ rangeNs: null })}>Back to the whole run</button>}
      </span>
    </section>
  );
}
