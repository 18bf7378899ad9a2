// What can be set of the graph: how ranks are grouped, what is open, what colours mean.

import type { Store } from "../../state/store";
import type { Grouping } from "../../words/pending";
import { theme } from "../../state/theme";
import { amountPart, amountRamp } from "../../palette/ramps";
import { bytes, count } from "../../words";
import { ENDS, type Measure } from "./scale";
import type { PendingState } from "./state";

const GROUPINGS: readonly { id: Grouping; label: string }[] = [{ id: "node", label: "node" }, { id: "region", label: "region" }, { id: "rank", label: "rank" }];
const MEASURES: readonly { id: Measure; label: string }[] = [{ id: "messages", label: "Messages" }, { id: "bytes", label: "Bytes" }];
const TICKS: Readonly<Record<Measure, readonly number[]>> = { messages: [1, 10, 100, 1000], bytes: [1, 2 ** 10, 2 ** 20, 2 ** 30] };

export function Bar({ store, state }: { store: Store; state: PendingState }) {
  const hasRegions = (store.figures.value.regions?.regions.length ?? 0) > 0;
  const opened = state.opened.value;
  return (
    <div class="pending-bar">
      <label>Group by
        <select value={state.by.value} onChange={(event) => state.groupBy(event.currentTarget.value as Grouping)}>
          {GROUPINGS.map(({ id, label }) => <option key={id} value={id} disabled={id === "region" && !hasRegions}>{label}</option>)}
        </select>
      </label>
      <div class="group" role="group" aria-label="Width and colour of edges">
        {MEASURES.map(({ id, label }) => <button type="button" key={id} aria-pressed={state.measure.value === id} title={`Edges are wide and coloured by ${id}`} onClick={() => (state.measure.value = id)}>{label}</button>)}
      </div>
      {opened.length > 0 && <div class="group" role="group" aria-label="Open groups">
        <button type="button" title="Closes all groups" onClick={() => state.closeTo(0)}>Close all</button>
        {opened.length > 1 && <button type="button" title="Closes the innermost group (Backspace)" onClick={() => state.closeTo(opened.length - 1)}>Close one</button>}
      </div>}
      {store.perspective.value.ranks && <button type="button" title="Messages of all ranks again" onClick={() => store.select({ ranks: null })}>All ranks</button>}
      <p class="soft end">A click selects ranks, a double click opens a group.</p>
    </div>
  );
}

export function Legend({ measure }: { measure: Measure }) {
  const [least, most] = ENDS[measure];
  const words = (value: number): string => `${measure === "bytes" ? bytes(value).replace(".00", "") : count(value)}${value === most ? "+" : ""}`;
  const ramp = amountRamp(theme.value).filter((_, step) => step % 8 === 0);
  return (
    <div class="pending-key">
      <span class="soft">{measure} in flight; discs: within a group</span>
      <span class="scale" role="img" aria-label={`From ${words(least)} to ${words(most)}, by the logarithm; wider is more`}>
        <i style={{ backgroundImage: `linear-gradient(to right, ${ramp.join(", ")})` }} />
        {TICKS[measure].map((value) => <span key={value} style={{ left: `${(amountPart(value, least, most) * 100).toFixed(1)}%` }}>{words(value)}</span>)}
      </span>
      <span class="key"><i class="rim" /><span class="soft">the oldest</span></span>
      <span class="key"><i class="busy" /><span class="soft">sends or receives</span></span>
      <span class="key"><i class="idle" /><span class="soft">nothing</span></span>
    </div>
  );
}
