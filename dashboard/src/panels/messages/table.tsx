// The calls of one rank that are in sight, as a list: what the rows say to who cannot see them.

import { useComputed, useSignalEffect } from "@preact/signals";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { bytes, clock, count, counted, duration } from "../../words";
import { NO_TAG, NONE } from "../../feed/calls";
import { type Column, Table } from "../tables/table";
import { callsOfRank } from "./listed";
import { callOf } from "./keys";
import type { MessagesState } from "./state";

export function CallTable({ store, state }: { store: Store; state: MessagesState }) {
  const order = state.order.value;
  const cursor = state.cursor.value;
  const rank = cursor && order.includes(cursor.rank) ? cursor.rank : order[0] ?? 0;
  useSignalEffect(() => {
    const all = state.order.value;
    const row = Math.max(0, all.indexOf(state.cursor.value?.rank ?? -1));
    const run = store.figures.value;
    const { span } = state;
    state.see({ span, order: all, rows: [row, Math.min(all.length, row + 1)], only: state.only.value, hasArrows: false, ranksPerRow: 1, grows: !over(run) && span[1] >= edgeNs(run) });
  });
  const found = useComputed(() => {
    const { known } = state.figures.value;
    const { span } = state;
    const all = state.order.value;
    const mine = state.cursor.value && all.includes(state.cursor.value.rank) ? state.cursor.value.rank : all[0] ?? 0;
    return known && { calls: known.calls, ...callsOfRank(known.calls, mine, span, store.perspective.value.hidden) };
  }).value;
  return (
    <section class="messages-table" aria-label="Calls of a rank">
      <div class="of">
        <label>Calls of rank <input type="number" min={0} value={rank} onChange={(event) => go(state, event.currentTarget.valueAsNumber)} /></label>
        <p class="soft">{found ? `${counted(found.total, "call", "calls")} in sight${found.rows.length < found.total ? `; the first ${count(found.rows.length)} are listed` : ""}${found.calls.share < 1 ? "; shorter calls are known only in part" : ""}.` : "The calls are on their way."}</p>
      </div>
      {found && <Listed store={store} state={state} rank={rank} rows={found.rows} />}
    </section>
  );
}

function go(state: MessagesState, rank: number): void {
  if (state.order.peek().includes(rank)) state.cursor.value = { rank, call: -1 };
}

function Listed({ store, state, rank, rows }: { store: Store; state: MessagesState; rank: number; rows: readonly number[] }) {
  const calls = state.figures.value.known?.calls;
  const { functions } = store.figures.value;
  if (!calls) return null;
  const name = (call: number): string => functions.get(calls.function[call] ?? 0)?.name ?? `function ${calls.function[call] ?? 0}`;
  const select = (call: number): void => {
    const cursor = { rank, call };
    const text = callOf(store, state, cursor);
    state.cursor.value = cursor;
    if (text) store.selection.value = { kind: "call", call: text };
  };
  const known = (value: number | undefined, none: number): string => (value === undefined || value === none ? "\u2013" : String(value));
  const columns: Column<number>[] = [
    {
      key: "call", label: "call", title: "Sort by the name of the function", sort: name, ascending: true,
      cell: (call) => <button type="button" class="rank" onClick={() => select(call)}>{name(call)}</button>,
    },
    { key: "start", label: "start", title: "When it began", sort: (call) => calls.startNs[call] ?? 0, ascending: true, cell: (call) => clock(calls.startNs[call] ?? 0, 9) },
    { key: "length", label: "duration", title: "How long it took", sort: (call) => calls.durationNs[call] ?? 0, cell: (call) => duration(calls.durationNs[call] ?? 0) },
    { key: "peer", label: "peer", title: "The other rank", sort: (call) => calls.peer[call] ?? 0, ascending: true, cell: (call) => known(calls.peer[call], NONE) },
    { key: "tag", label: "tag", title: "Its tag", sort: (call) => calls.tag[call] ?? 0, ascending: true, cell: (call) => known(calls.tag[call], NO_TAG) },
    { key: "bytes", label: "bytes", title: "What it sent, or received", sort: (call) => calls.bytes[call] ?? 0, cell: (call) => bytes(calls.bytes[call] ?? 0) },
    { key: "polls", label: "polls", title: "Polls that are one row", sort: (call) => calls.count[call] ?? 1, cell: (call) => ((calls.count[call] ?? 1) > 1 ? count(calls.count[call] ?? 1) : "\u2013") },
  ];
  return <Table label={`Calls of rank ${rank}`} name="Calls of a rank" columns={columns} rows={rows} rowKey={(call) => call} first={{ key: "start", descending: false }} selected={state.cursor.value?.call ?? null} act={select} />;
}
