// The keyboard on the rows: a cursor goes from row to row and from call to call; what it is on can be selected and moved.

import { inside } from "../../state/span";
import type { Store } from "../../state/store";
import { callText } from "../particles/describe";
import type { CallText } from "../view";
import type { Cursor, MessagesState } from "./state";
import { neighbourCall } from "./tracks";
import type { MessagesView } from "./view";

const ROWS_AT_ONCE = 10;
const KEY_ZOOM = 1.5;
const PAN_PIXELS = 80;

/** Whether the key was meant for the rows. */
export function pressed(store: Store, state: MessagesState, view: MessagesView, { key, shiftKey, altKey }: KeyboardEvent): boolean {
  const rows = shiftKey ? ROWS_AT_ONCE : 1;
  if (altKey) {
    if (key !== "ArrowUp" && key !== "ArrowDown") return false;
    moveRow(state, view, key === "ArrowUp" ? -1 : 1);
    return true;
  }
  const pixels = PAN_PIXELS * (shiftKey ? 4 : 1);
  const page = view.rowFrame.height * 0.9;
  const acts: Record<string, () => void> = {
    ArrowUp: () => goRow(state, view, -rows), ArrowDown: () => goRow(state, view, rows),
    ArrowLeft: () => goCall(state, view, -1), ArrowRight: () => goCall(state, view, 1),
    Enter: () => select(store, state),
    "+": () => view.zoom(1 / KEY_ZOOM, middle(state, view)), "=": () => view.zoom(1 / KEY_ZOOM, middle(state, view)), "-": () => view.zoom(KEY_ZOOM, middle(state, view)),
    a: () => view.pan(pixels, 0), d: () => view.pan(-pixels, 0),
    PageUp: () => view.pan(0, page), PageDown: () => view.pan(0, -page), f: () => view.fitRows(),
  };
  const act = acts[key.length === 1 ? key.toLowerCase() : key];
  act?.();
  return act !== undefined;
}

function goRow(state: MessagesState, view: MessagesView, by: number): void {
  const order = state.rows.peek().heads;
  const before = state.cursor.peek();
  const row = before ? view.frame.rowOf[before.rank] ?? -1 : -1;
  const next = row < 0 ? Math.max(0, Math.ceil(view.camera.top)) : Math.min(order.length - 1, Math.max(0, row + by));
  const rank = order[next];
  if (rank === undefined) return;
  state.cursor.value = { rank, call: -1 };
  view.bring(rank);
}

function moveRow(state: MessagesState, view: MessagesView, by: 1 | -1): void {
  const order = state.order.peek();
  const { rank } = state.cursor.peek() ?? { rank: -1 };
  const to = order[order.indexOf(rank) + by];
  if (rank < 0 || to === undefined) return;
  state.move(rank, to);
  view.bring(rank);
}

/** From the edge of what is in sight while no call was gone to. */
function goCall(state: MessagesState, view: MessagesView, by: 1 | -1): void {
  if (!state.cursor.peek()) goRow(state, view, 1);
  const cursor = state.cursor.peek();
  const { calls, tracks, hidden } = view.scene;
  if (!cursor || !calls || !tracks) return;
  const call = neighbourCall(tracks, calls, hidden, cursor.rank, cursor.call >= 0 ? { call: cursor.call } : { ns: view.span[by > 0 ? 0 : 1] }, by);
  if (call < 0) return;
  state.cursor.value = { ...cursor, call };
  view.bring(cursor.rank);
  const [from, to] = view.span;
  const [start, length] = [calls.startNs[call] ?? 0, calls.durationNs[call] ?? 0];
  if (start >= from && start + Math.min(length, (to - from) / 2) <= to) return;
  const left = start - (to - from) / 4;
  state.zoomTo(inside([left, left + to - from], Math.max(view.edge, left + to - from)));
}

/** What zooming keeps in its place. */
function middle(state: MessagesState, view: MessagesView): number {
  const [from, to] = view.span;
  const { calls } = view.scene;
  const call = state.cursor.peek()?.call ?? -1;
  const ns = calls && call >= 0 ? (calls.startNs[call] ?? 0) + (calls.durationNs[call] ?? 0) / 2 : (from + to) / 2;
  return ns >= from && ns <= to ? ns : (from + to) / 2;
}

function select(store: Store, state: MessagesState): void {
  const cursor = state.cursor.peek();
  if (!cursor) return;
  const call = callOf(store, state, cursor);
  store.selection.value = call ? { kind: "call", call } : { kind: "rank", rank: cursor.rank };
}

/** The call that the keyboard is on; null while it is on a row. */
export function callOf(store: Store, state: MessagesState, { call }: Cursor): CallText | null {
  const calls = state.figures.peek().known?.calls;
  if (!calls || call < 0 || call >= calls.length) return null;
  const id = calls.function[call] ?? 0;
  return callText(calls, call, store.run.peek().functions.get(id)?.name ?? `function ${id}`);
}
