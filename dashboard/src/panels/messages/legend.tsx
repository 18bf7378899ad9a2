// What colours mean: functions, which can be hidden here, and latency where arrows have it.

import { useComputed } from "@preact/signals";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { functionColours } from "../colours";
import { LatencyLegend } from "../where/legend";
import { ReplayNote } from "../replay-note";
import { kindColour, kindOpacity, kindText, STACKED } from "./share-kinds";
import type { MessagesState } from "./state";

export function Legend({ store, state, isShares }: { store: Store; state: MessagesState; isShares: boolean }) {
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const { hidden } = store.perspective.value;
  const functions = [...store.figures.value.functions.values()].filter(({ calls, polls }) => calls + polls > 0).sort((one, other) => other.timeNs - one.timeNs);
  const toggle = (id: number): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    store.select({ hidden: next });
  };
  if (isShares) {
    return (
      <div class="messages-key">
        <ul class="kinds" aria-label="What time was spent on">
          {STACKED.map((kind) => <li key={kind} title={kindText(kind).meaning}><span class="swatch" style={{ backgroundColor: kindColour(kind, theme.value), opacity: kindOpacity(kind) }} />{kindText(kind).label}</li>)}
          <li title="After its last MPI call a rank has finished; elsewhere records are missing"><span class="swatch empty" />Finished, or not recorded</li>
        </ul>
        <ReplayNote store={store} />
      </div>
    );
  }
  return (
    <div class="messages-key">
      {state.isLatency.value && state.arrows.value !== "none" && <span class="group latency"><LatencyLegend /></span>}
      <div class="functions" role="group" aria-label="Functions that are drawn">
        {functions.map(({ id, name }) => (
          <button type="button" key={id} aria-pressed={!hidden.has(id)} title={hidden.has(id) ? `Draw ${name}` : `Hide ${name} in all views`} onClick={() => toggle(id)}>
            <span class="swatch" style={{ backgroundColor: colours.get(id) ?? "" }} />{name.replace(/^MPI_/, "")}
          </button>
        ))}
      </div>
    </div>
  );
}
