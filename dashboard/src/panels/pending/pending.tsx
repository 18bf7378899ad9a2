// The tab that shows what is in flight at the moment of the clock: ranks, or groups of them, as nodes; what they sent and
// was not received yet as edges. Beside it the same as a table.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import type { Store } from "../../state/store";
import { capital, clock, count, unbroken } from "../../words";
import { edgeLabel, edgeTitle, emptyAdvice, type Grouping, groupWords, oldestWords, pendingWords } from "../../words/pending";
import type { TipText } from "../../words/regions";
import { useTable } from "../share/tables";
import { Tip } from "../where/tip";
import { Bar, Legend } from "./bar";
import { type KnownPending, pendingOf, type PendingState } from "./state";
import { EdgeTable, edgesTable } from "./table";
import { PendingView } from "./view";

export function Pending({ store, frames }: { store: Store; frames: Frames }) {
  const state = pendingOf(store);
  useEffect(() => state.watch(), [state]);
  useTable("messages in flight", () => edgesTable(state.known.peek()?.pending ?? null));
  // Names of hosts come once; figures several times a second.
  void useComputed(() => store.figures.value.nodes.size).value;
  const known = state.known.value;
  const why = state.why.value;
  const run = store.run.peek();
  const words = known && pendingWords(known.pending, run, known.scope.ranks !== null);
  return (
    <div class="pending">
      <Bar store={store} state={state} />
      <div class="pending-head" data-at-ns={known?.pending.atNs}>
        <h2>{words?.title ?? "Messages in flight"}</h2>
        <p class={why ? "warn status" : "soft status"} role="status" title={why || words?.missing}>{why ? `This moment is missing: ${why.replace(/\.$/, "")}.` : words?.missing ?? "Asking for the messages of this moment."}</p>
        <p class="soft facts" title={words?.facts}>{words?.facts}</p>
        {why && <button type="button" onClick={() => state.again()}>Ask again</button>}
      </div>
      <div class="pending-body">
        <Picture store={store} frames={frames} state={state} known={known} />
        {known && <div class="side"><EdgeTable store={store} state={state} known={known} /></div>}
      </div>
      <Legend measure={state.measure.value} />
    </div>
  );
}

interface PictureProps { store: Store; frames: Frames; state: PendingState; known: KnownPending | null }

function Picture({ store, frames, state, known }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointer = useSignal<{ x: number; y: number }>({ x: 0, y: 0 });
  const isFocused = useSignal(false);
  useEffect(() => {
    if (!canvas.current) return undefined;
    const view = new PendingView(store, frames, canvas.current, state, (x, y) => (pointer.value = { x, y }));
    return () => view.dispose();
  }, [store, frames, state]);
  const pointed = state.pointed.value;
  const isHovered = pointed !== null && canvas.current?.matches(":hover");
  const tip = isHovered && known ? tell(store, state, known) : null;
  const isEmpty = known !== null && known.pending.messages === 0;
  const redraw = (focused: boolean): void => {
    isFocused.value = focused;
    // The cursor shows only where keys go to it.
    const { cursor } = state;
    const at = cursor.peek();
    cursor.value = -1;
    cursor.value = at;
  };
  return (
    <div class="picture">
      <canvas ref={canvas} tabIndex={0} role="application" onFocus={() => redraw(true)} onBlur={() => redraw(false)} onKeyDown={(event) => { if (key(state, event.key)) { event.preventDefault(); event.stopPropagation(); } }}
        aria-label="Graph of messages in flight: left and right go from group to group, Enter selects its ranks, o opens it, Backspace closes; the table beside it has the same figures" />
      {isEmpty && <div class="message"><h2>{pendingWords(known.pending, store.run.peek(), known.scope.ranks !== null).title}.</h2><p>{emptyAdvice(store.run.peek(), known.scope.ranks !== null)}</p></div>}
      {tip && <Tip text={tip} {...pointer.value} />}
      <p class="unseen" aria-live="polite">{isFocused.value && known ? spoken(store, state, known) : ""}</p>
    </div>
  );
}

/** Whether the key was meant for the graph. */
function key(state: PendingState, name: string): boolean {
  const groups = state.known.peek()?.pending.groups.length ?? 0;
  if (groups === 0) return false;
  const cursor = state.cursor.peek();
  const go = (to: number): void => void (state.cursor.value = (to + groups) % groups);
  const acts: Record<string, () => void> = {
    ArrowRight: () => go(cursor + 1), ArrowDown: () => go(cursor + 1), ArrowLeft: () => go(Math.max(0, cursor) - 1), ArrowUp: () => go(Math.max(0, cursor) - 1),
    Enter: () => { if (cursor >= 0) state.choose([cursor]); },
    o: () => { if (cursor >= 0) state.openGroup(cursor); },
    Backspace: () => state.closeTo(state.opened.peek().length - 1),
  };
  const act = acts[name];
  act?.();
  return act !== undefined;
}

function tell(store: Store, state: PendingState, { pending, scope }: KnownPending): TipText | null {
  const pointed = state.pointed.peek();
  if (!pointed) return null;
  const { edges } = pending;
  const run = store.run.peek();
  if (pointed.kind === "group") return groupTip(pending, pointed.at, scope.by, run);
  const edge = pointed.at;
  return {
    title: edgeTitle(pending, edge, scope.by, run),
    rows: [["In flight", edgeLabel(pending, edge), ""], ["Oldest", oldestWords(edges, edge), ""]],
  };
}

function groupTip(pending: KnownPending["pending"], at: number, by: Grouping, run: Parameters<typeof groupWords>[3]): TipText {
  const { groups } = pending;
  const title = groupWords(groups, at, by, run);
  const within = Array.from(pending.edges.from).findIndex((from, edge) => from === at && pending.edges.to[edge] === at);
  return {
    title: capital(title),
    rows: [
      ["In flight from", count(groups.sent[at] ?? 0), ""], ["In flight to", count(groups.received[at] ?? 0), ""],
      ...(within < 0 ? [] : [["Within", edgeLabel(pending, within), ""] as const]),
      ["Click", "selects for all views", (groups.ranks[at] ?? 0) > 1 ? "double click opens" : ""],
    ],
  };
}

/** Where the keyboard is. */
function spoken(store: Store, state: PendingState, { pending, scope }: KnownPending): string {
  const at = state.cursor.value;
  if (at < 0 || at >= pending.groups.length) return "";
  const { sent, received } = pending.groups;
  return `${groupWords(pending.groups, at, scope.by, store.run.peek())}, at ${unbroken(clock(pending.atNs, 6))}: ${count(sent[at] ?? 0)} in flight from it, ${count(received[at] ?? 0)} to it`;
}
