// What can be set of the rows: their order and which, their height, which arrows, and whether it is a table.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { same } from "../../same";
import { parseRanks, rangesText } from "../../state/ranks";
import type { Store } from "../../state/store";
import { Icon } from "../icons";
import type { OrderKind } from "../where/matrix";
import type { Fold } from "./fold";
import type { ArrowMode, MessagesState } from "./state";

const ARROWS: readonly { id: ArrowMode; label: string; title: string }[] = [
  { id: "all", label: "All", title: "Arrows of all messages, or of the worst where there are very many" },
  { id: "selection", label: "Selected", title: "Arrows of the call or message that is pointed at or selected" },
  { id: "none", label: "None", title: "No arrows" },
];
const ORDERS: readonly { id: OrderKind; label: string }[] = [{ id: "rank", label: "rank" }, { id: "node", label: "node" }, { id: "region", label: "region" }];

const FOLDS: readonly { id: Fold; label: string }[] = [{ id: "none", label: "no rows" }, { id: "node", label: "by node" }, { id: "region", label: "by region" }, { id: "similar", label: "alike" }];

export interface Heights { zoom(factor: number): void; fit(): void }

export function Bar({ store, state, heights }: { store: Store; state: MessagesState; heights: Heights | null }) {
  const hasRegions = state.regionOf.value.length > 0;
  return (
    <div class="messages-bar">
      <label>Rows by
        <select value={state.sort.value} onChange={(event) => state.sortBy(event.currentTarget.value as OrderKind)}>
          {ORDERS.map(({ id, label }) => <option key={id} value={id} disabled={id === "region" && !hasRegions}>{label}</option>)}
        </select>
      </label>
      <label>Fold
        <select value={state.fold.value} title="Rows that stand for several ranks; a click at the head of a row opens it" onChange={(event) => state.foldBy(event.currentTarget.value as Fold)}>
          {FOLDS.map(({ id, label }) => <option key={id} value={id} disabled={id === "region" && !hasRegions}>{label}</option>)}
        </select>
      </label>
      {state.isByHand.value && <button type="button" title="Sort rows again that were moved" onClick={() => state.sortBy(state.sort.peek())}>Put back</button>}
      <RanksField store={store} />
      <div class="group" role="group" aria-label="Height of rows">
        <button type="button" class="icon" title="Lower rows (Ctrl and wheel)" aria-label="Lower rows" disabled={!heights} onClick={() => heights?.zoom(0.5)}><Icon name="minus" /></button>
        <button type="button" class="icon" title="Higher rows (Ctrl and wheel)" aria-label="Higher rows" disabled={!heights} onClick={() => heights?.zoom(2)}><Icon name="plus" /></button>
        <button type="button" title="All rows in sight (f)" disabled={!heights} onClick={() => heights?.fit()}>Fit</button>
      </div>
      <div class="group end" role="group" aria-label="Arrows">
        <span class="soft wide">Arrows</span>
        {ARROWS.map(({ id, label, title }) => <button type="button" key={id} title={title} aria-pressed={state.arrows.value === id} onClick={() => (state.arrows.value = id)}>{label}</button>)}
      </div>
      <button type="button" aria-pressed={state.isLatency.value} disabled={state.arrows.value === "none"} title="Colour arrows by transfer time relative to the expected" onClick={() => (state.isLatency.value = !state.isLatency.peek())}>Latency</button>
      <button type="button" aria-pressed={state.frozen.value !== null} title="Hold these rows where they are while other views are zoomed" onClick={() => state.hold(state.frozen.peek() === null)}>Hold</button>
      <button type="button" aria-pressed={state.bars.value === "causes"} title="Where calls are too dense: show what time was spent on and waited for, rather than functions" onClick={() => (state.bars.value = state.bars.peek() === "causes" ? "functions" : "causes")}>Causes</button>
      <button type="button" aria-pressed={state.isTable.value} title="The calls of a rank as a list" onClick={() => (state.isTable.value = !state.isTable.peek())}>Table</button>
    </div>
  );
}

/** Which ranks are selected for all views, as text. */
function RanksField({ store }: { store: Store }) {
  const text = useSignal("");
  const wrong = useSignal("");
  // Of the perspective only the ranks: what is being typed outlives a move of the clock.
  const selected = useComputed(() => rangesText(store.perspective.value.ranks ?? [], ", "));
  useSignalEffect(() => {
    text.value = selected.value;
    wrong.value = "";
  });
  const commit = (): void => {
    const run = store.run.peek();
    const parsed = parseRanks(text.peek(), Math.max(run.job.ranks, run.ranks.length));
    wrong.value = typeof parsed === "string" ? parsed : "";
    if (typeof parsed !== "string" && !same(parsed, store.perspective.peek().ranks)) store.select({ ranks: parsed });
  };
  return (
    <>
      <label>Ranks
        <input type="text" class="ranks" placeholder="all, or 0-31, 40" value={text.value} aria-invalid={wrong.value !== ""} title={wrong.value || "Ranks that are shown in all views, such as 0-31, 40; empty: all"}
          onInput={(event) => (text.value = event.currentTarget.value)} onChange={commit} onKeyDown={(event) => { if (event.key === "Enter") commit(); }} />
      </label>
      {wrong.value ? <span class="warn" role="alert">{wrong.value}</span> : store.perspective.value.ranks && <button type="button" onClick={() => store.select({ ranks: null })}>All ranks</button>}
    </>
  );
}
