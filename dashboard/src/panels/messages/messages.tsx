// The tab that shows messages: rows of ranks over time, bars of their calls, arrows of what they sent each other; from the
// whole run to single calls.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { messageText } from "../../feed/messages";
import { edgeNs } from "../../state/run";
import { wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { clock, duration } from "../../words";
import { missingWords, shownWords } from "../../words/messages";
import { spanWords } from "../../words/range";
import { callText } from "../particles/describe";
import { NotesStrip } from "../notes/strip";
import { callsTable, messagesTable, overlaps } from "../share/rows";
import { useTable } from "../share/tables";
import { Tip } from "../where/tip";
import { Bar } from "./bar";
import { ranksOfRow } from "./fold";
import { listen } from "./input";
import { Legend } from "./legend";
import { callOf, pressed } from "./keys";
import type { Pointed } from "./pointing";
import { messagesOf, type MessagesState } from "./state";
import { CallTable } from "./table";
import { MessagesView } from "./view";
import { emptyWords, pictureOf, tellPointed } from "./words";

export function Messages({ store, frames }: { store: Store; frames: Frames }) {
  const state = messagesOf(store);
  useEffect(() => state.watch(), [state]);
  const view = useSignal<MessagesView | null>(null);
  const isTable = state.isTable.value;
  useTable("calls in view", () => {
    const [from, to] = view.peek()?.span ?? wholeRun(edgeNs(store.run.peek()));
    const ranks = view.peek()?.drawnRanks;
    const { hidden } = store.perspective.peek();
    const known = state.figures.peek().known;
    return callsTable(known ? [known.calls] : [], store.run.peek().functions, (calls, row) =>
      overlaps(calls, row, from, to) && !hidden.has(calls.function[row] ?? 0) && (ranks?.has(calls.rank[row] ?? 0) ?? true));
  });
  useTable("messages in view", () => {
    const messages = state.figures.peek().known?.messages;
    const [from, to] = view.peek()?.span ?? wholeRun(edgeNs(store.run.peek()));
    const places = [...(view.peek()?.drawnArrows ?? [])].filter((at) => messages && (messages.sendNs[at] ?? 0) <= to && (messages.recvNs[at] ?? 0) >= from);
    return messages ? messagesTable(messages, places) : { columns: [], rows: [] };
  });
  const heights = view.value && !isTable ? { zoom: (factor: number) => view.value?.zoomRows(factor), fit: () => view.value?.fitRows() } : null;
  return (
    <div class="messages">
      <Bar store={store} state={state} heights={heights} />
      <Heading store={store} state={state} view={view.value} />
      {!isTable && <NotesStrip store={store} />}
      {isTable ? <CallTable store={store} state={state} /> : <Rows store={store} frames={frames} state={state} made={(each) => (view.value = each)} />}
      <Legend store={store} state={state} isShares={!isTable && (view.value?.summary.value?.isShares ?? false)} />
    </div>
  );
}

function Heading({ store, state, view }: { store: Store; state: MessagesState; view: MessagesView | null }) {
  const { known, isAsking, why } = state.figures.value;
  const { span } = state;
  const summary = view?.summary.value ?? null;
  const shown = known && summary && view ? pictureOf(store, state, known, summary, view) : null;
  const facts = shown ? shownWords(shown) : "";
  const missing = [shown ? missingWords(shown) : "", known && why ? `What is in sight now is missing: ${why.replace(/\.$/, "")}.` : ""].filter(Boolean).join(" ");
  return (
    <div class="messages-head">
      <h2>{spanWords(span)}</h2>
      <p class="soft" title={facts}>{facts}</p>
      <p class={why ? "warn" : "soft"} role="status" title={missing}>{missing || (isAsking && known === null ? "Asking for the calls." : "")}</p>
      {!isAsking && (why || known?.messagesWhy) && <button type="button" onClick={() => state.again()}>Ask again</button>}
    </div>
  );
}

interface RowsProps { store: Store; frames: Frames; state: MessagesState; made: (view: MessagesView | null) => void }

function Rows({ store, frames, state, made }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal<MessagesView | null>(null);
  // Before the next key may come.
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const mine = new MessagesView(box.current, store, state, frames);
    view.value = mine;
    made(mine);
    const stop = listen(mine, {
      select: (pointed) => choose(store, state, pointed),
      seek: (ns) => store.command({ do: "seek", time_ns: ns }),
      time: (ns) => (store.pointedNs.value = ns),
      range: (rangeNs) => { if (rangeNs[1] > rangeNs[0]) store.select({ rangeNs }); },
      whole: () => state.zoomTo(null),
      move: (rank, to) => state.move(rank, to),
      key: (event) => pressed(store, state, mine, event),
    });
    return () => {
      stop();
      mine.dispose();
      view.value = null;
      made(null);
    };
  }, [store, frames, state]);
  const empty = emptyWords(store, state, view.value?.summary.value ?? null);
  return (
    <div class="messages-rows">
      <div class="picture" ref={box} tabIndex={0} role="application" aria-label="Message timeline: up and down go to a rank, left and right from call to call, Enter selects, Alt with up or down moves the row, plus and minus zoom" />
      {empty && <div class="message"><h2>{empty.title}</h2><p>{empty.text}</p></div>}
      {view.value && <PointedTip store={store} state={state} view={view.value} />}
      <p class="unseen" aria-live="polite">{spoken(store, state)}</p>
    </div>
  );
}

function PointedTip({ store, state, view }: { store: Store; state: MessagesState; view: MessagesView }) {
  const at = view.pointed.value;
  const text = at && tellPointed(store, state, at.pointed, view);
  return text ? <Tip text={text} x={at.x} y={at.y} /> : null;
}

/** Where the keyboard is. */
function spoken(store: Store, state: MessagesState): string {
  const cursor = state.cursor.value;
  if (!cursor) return "";
  const call = callOf(store, state, cursor);
  return call ? `Rank ${cursor.rank}, ${call.name} from ${clock(call.startNs, 9)}${call.endNs === null ? "" : `, ${duration(call.endNs - call.startNs)}`}${call.peer === null ? "" : `, peer ${call.peer}`}` : `Rank ${cursor.rank}`;
}

/** Whether the row of a rank stands for others as well. */
function isGroup(state: MessagesState, rank: number): boolean {
  const rows = state.rows.peek();
  return ranksOfRow(rows, rows.heads.indexOf(rank)).length > 1;
}

function choose(store: Store, state: MessagesState, pointed: Pointed | null): void {
  const known = state.figures.peek().known;
  const name = (id: number): string => store.run.peek().functions.get(id)?.name ?? `function ${id}`;
  if (pointed && pointed.kind !== "message") state.cursor.value = { rank: pointed.rank, call: pointed.kind === "call" ? pointed.call : -1 };
  if (pointed?.kind === "head" && (isGroup(state, pointed.rank) || state.isOpen(pointed.rank))) state.toggle(pointed.rank);
  else if (pointed?.kind === "share" && isGroup(state, pointed.rank)) store.selection.value = null;
  else if (pointed?.kind === "head" || pointed?.kind === "share") store.selection.value = { kind: "rank", rank: pointed.rank };
  else if (pointed?.kind === "message" && known?.messages) store.selection.value = { kind: "message", message: messageText(known.messages, pointed.message) };
  else if (pointed?.kind === "call" && known) store.selection.value = { kind: "call", call: callText(known.calls, pointed.call, name(known.calls.function[pointed.call] ?? 0)) };
  else if (!pointed) store.selection.value = null;
}
