// The tab that says what happened between the processes: the dependency graph of the selected range, with a glyph for the
// state of each.

import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Dag } from "../../feed/dag";
import type { Frames } from "../../frames";
import { remembered } from "../../state/arrangement";
import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { type SharedTable, useTable } from "../share/tables";
import { Groups } from "./groups";
import { sentenceOf } from "../../words";
import { askedWords } from "./words";
import { Key, Legend } from "./legend";
import { Pane } from "./pane";
import { whatOf, type WhatState } from "./state";

/** Groups first; single states of a second or a range for who looks closer. */
const face = remembered("what.view", "groups", ["groups", "states"]);

export function WhatView({ store, frames }: { store: Store; frames: Frames }) {
  return (
    <div class="what-faces">
      <div class="what-switch" role="group" aria-label="Graph of">
        <button type="button" aria-pressed={face.value === "groups"} title="Groups of ranks by turns of the main loop, and the critical path" onClick={() => (face.value = "groups")}>Groups</button>
        <button type="button" aria-pressed={face.value === "states"} title="Every state of every rank of a range" onClick={() => (face.value = "states")}>Single states</button>
      </div>
      <div class="what-face">{face.value === "groups" ? <Groups store={store} /> : <States store={store} frames={frames} />}</div>
    </div>
  );
}

function States({ store, frames }: { store: Store; frames: Frames }) {
  const what = whatOf(store);
  useEffect(() => what.watch(), [what]);
  const { known, isAsking, why } = what.figures.value;
  const pinned = what.pinned.value;
  useTable("messages of the graph", () => messagesTable(what.figures.peek().known?.dag ?? null));
  return (
    <div class="what">
      <Bar store={store} what={what} />
      <div class={`panes ${pinned ? "two" : ""} ${what.isLegendOpen.value ? "explained" : ""}`}>
        {pinned && <Pane key="pinned" store={store} frames={frames} what={what} known={pinned} label="Graph that is kept" isPinned />}
        {known ? <Pane key="current" store={store} frames={frames} what={what} known={known} label="Dependency graph" isPinned={false} /> : (
          <section class="pane" aria-label="Dependency graph">
            <div class="message">
              <h2>{why ? "There is no graph of this" : isAsking ? "The graph is on its way" : "No message yet"}</h2>
              <p>{why ? `${sentenceOf(why)} Brush another range in the timeline, or come back when there is more.` : "The graph shows who waited for whose message in the selected range; while none is selected, in the last second."}</p>
            </div>
          </section>
        )}
        {what.isLegendOpen.value && <Legend what={what} />}
      </div>
      {known && known.dag.nodes.length > 0 && <Key store={store} dag={known.dag} />}
    </div>
  );
}

function Bar({ store, what }: { store: Store; what: WhatState }) {
  const { known, isAsking, why } = what.figures.value;
  const scope = what.scope.value;
  const pinned = what.pinned.value;
  const isSelected = store.perspective.value.rangeNs !== null;
  const isOver = useComputed(() => over(store.figures.value)).value;
  const mayGrow = known !== null && !isOver && (!known.dag.hasCriteria || isSelected);
  const folded = known ? what.folded(known.dag) : null;
  const state = isAsking && scope ? askedWords(scope) : known && why ? `The graph of what is selected now is missing: ${why.replace(/\.$/, "")}. This is the one before.` : "";
  return (
    <div class="what-bar">
      {isSelected
        ? <button type="button" title="Clear the selected range" onClick={() => store.select({ rangeNs: null })}>Last second</button>
        : <button type="button" title="The last whole second before the cursor" onClick={() => what.newest()}>Newest second</button>}
      {mayGrow && <button type="button" title="More may be known of it by now" onClick={() => what.again()}>Ask again</button>}
      {store.perspective.value.ranks && <button type="button" onClick={() => store.select({ ranks: null })}>All ranks</button>}
      <p class={why ? "warn" : "soft"} role="status" title={state}>{state || (isSelected ? "" : "Brush a range in the timeline for another.")}</p>
      <div class="buttons">
        {known && folded && folded.size > 0 && <button type="button" onClick={() => what.unfold(known.dag)}>Unfold all</button>}
        <button type="button" aria-pressed={pinned !== null} disabled={!known} title="Keeps this graph on the left; the right one follows the selection" onClick={() => what.compare()}>Compare</button>
        <button type="button" aria-pressed={what.isFlipped.value} title="Steps run from top to bottom instead of from left to right" onClick={() => (what.isFlipped.value = !what.isFlipped.peek())}>Flip</button>
        <button type="button" aria-pressed={what.isTable.value} title="The states as a list" onClick={() => (what.isTable.value = !what.isTable.peek())}>Table</button>
        <button type="button" aria-pressed={what.isLegendOpen.value} title="What a glyph says" onClick={() => what.explain(!what.isLegendOpen.peek())}>Explain</button>
      </div>
    </div>
  );
}

/** Each message once or twice: as its sender's state sees it, and as its receiver's. */
function messagesTable(dag: Dag | null): SharedTable {
  const columns = ["rank", "is_sent", "other_rank", "bytes", "t_msg_ns", "latency", "is_exact", "send_ns", "recv_ns"];
  if (!dag) return { columns, rows: [] };
  const { messages, nodes } = dag;
  const rows = [...messages.node.keys()].map((at) => [
    nodes.rank[messages.node[at] ?? 0] ?? 0, (messages.isSent[at] ?? 0) === 1, messages.other[at] ?? 0, messages.bytes[at] ?? 0, messages.tMsgNs[at] ?? 0,
    messages.latency[at] ?? null, (messages.isExact[at] ?? 0) === 1, messages.sendNs[at] ?? 0, messages.recvNs[at] ?? 0,
  ]);
  return { columns, rows };
}
