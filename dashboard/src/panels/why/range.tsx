// The selected range in the tab Why: its figures in place of the whole run's where there are any.

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { RangeBudgets, type RangeFigures } from "../../state/range-budgets";
import type { Store } from "../../state/store";
import { rangeWords } from "../../words/range";

/** What is known of the selected range, as long as somebody looks. */
export function useRangeFigures(store: Store): ReadonlySignal<RangeFigures> {
  const figures = useSignal<RangeFigures>({ kind: "none" });
  const budgets = useMemo(() => new RangeBudgets((fromNs, toNs) => store.budget(fromNs, toNs), (next) => (figures.value = next)), [store, figures]);
  useSignalEffect(() => budgets.want(store.perspective.value.rangeNs, store.figures.value.found, store.link.value.phase === "open"));
  useEffect(() => () => budgets.stop(), [budgets]);
  return figures;
}

export function RangeBar({ store, figures }: { store: Store; figures: RangeFigures }) {
  const words = rangeWords(figures, store.figures.value);
  if (!words) return null;
  return (
    <section class="range" aria-label="Selected range">
      <h2>{words.title}</h2>
      <p class="soft">{words.note}</p>
      <button type="button" title="Clear the selected range" onClick={() => store.select({ rangeNs: null })}>Back to the whole run</button>
    </section>
  );
}
