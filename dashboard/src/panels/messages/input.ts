// What pointer, wheel and keys do to the rows. Only gestures; it reports what is chosen.

import type { Span } from "../../state/perspective";
import { listenGestures, placeIn } from "../gestures";
import { LEFT, RIGHT } from "../timeline/scale";
import { TOP } from "./overlay";
import type { Pointed } from "./pointing";
import { rowAt } from "./rows";
import type { MessagesView } from "./view";

export interface Chosen {
  select(pointed: Pointed | null): void;
  seek(ns: number): void;
  /** The time under the pointer; null where it is not over the time axis. */
  time(ns: number | null): void;
  range(span: Span): void;
  whole(): void;
  /** A row is taken to where another one is. */
  move(rank: number, to: number): void;
  /** Whether a key was meant for the rows. */
  key(event: KeyboardEvent): boolean;
}

type Zone = "heads" | "time" | "rows" | "thumb";
interface Press { zone: Zone; isBrush: boolean; ns: number; rank: number }

/** The wheel's step that doubles. */
const WHEEL_DOUBLE_PIXELS = 240;
const LINE_PIXELS = 40;

/** Listens until the returned function is called. */
export function listen(view: MessagesView, chosen: Chosen): () => void {
  const { element } = view;
  const stop = new AbortController();
  const { signal } = stop;
  const zoneAt = (x: number, y: number): Zone => (x > element.clientWidth - RIGHT ? "thumb" : x < LEFT ? "heads" : y < TOP ? "time" : "rows");
  listenGestures<Press>(element, signal, {
    hover: (x, y, event) => {
      const zone = zoneAt(x, y);
      element.dataset["zone"] = zone === "rows" && !event.shiftKey ? "time" : zone;
      view.point(zone === "thumb" ? null : view.at(x, y), x, y);
      chosen.time(zone === "rows" || zone === "time" ? view.nsAt(x) : null);
    },
    leave: () => {
      view.point(null);
      chosen.time(null);
    },
    press: (x, y, event) => {
      const zone = zoneAt(x, y);
      return event.button === 0 ? { zone, isBrush: zone === "time" || (zone === "rows" && isSelecting(event)), ns: view.nsAt(x), rank: rankAt(view, y) } : null;
    },
    drag: (press, x, _y, right, down) => {
      view.point(null);
      drag(view, press, x, right, down);
    },
    drop: (press, _x, y) => {
      if (press.zone === "heads") drop(view, chosen, press.rank, y);
      else if (press.isBrush && view.brushing) chosen.range(view.brushing);
    },
    click: (press, x, y) => click(view, chosen, press, x, y),
    rest: () => rest(view),
    wheel: (event, x, y) => {
      wheel(view, event, zoneAt(x, y), x, y);
      view.point(null);
    },
  });
  element.addEventListener("dblclick", (event) => {
    if (zoneAt(...placeIn(element, event)) === "rows") chosen.whole();
  }, { signal });
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || !chosen.key(event)) return;
    // The same keys mean other things to the page.
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  return () => {
    stop.abort();
    chosen.time(null);
  };
}

/** As on the timeline: dragging selects, with Shift or a finger it moves. */
function isSelecting({ shiftKey, pointerType }: PointerEvent): boolean {
  return !shiftKey && pointerType !== "touch";
}

function rankAt(view: MessagesView, y: number): number {
  const { rows: { heads: order } } = view.scene;
  return order[rowAt(view.camera, order.length, y - TOP)] ?? -1;
}

function rest(view: MessagesView): void {
  view.brushing = null;
  view.dragged = null;
  view.invalidate();
}

function wheel(view: MessagesView, event: WheelEvent, zone: Zone, x: number, y: number): void {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
  const [right, down] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey) view.zoomRows(2 ** (-down / WHEEL_DOUBLE_PIXELS), y - TOP);
  else if (zone === "heads" || zone === "thumb") view.pan(0, -down);
  else if (event.shiftKey || Math.abs(right) > Math.abs(down)) view.pan(-(event.shiftKey ? down || right : right), 0);
  else view.zoom(2 ** (down / WHEEL_DOUBLE_PIXELS), view.nsAt(x));
}

function drag(view: MessagesView, press: Press, x: number, right: number, down: number): void {
  if (press.zone === "thumb") {
    const { rows, height } = view.rowFrame;
    view.pan(0, -(down / height) * rows * view.camera.rowPixels);
  } else if (press.zone === "heads") {
    view.dragged = press.rank;
    view.invalidate();
  } else if (press.isBrush) {
    const ns = view.nsAt(x);
    view.brushing = [Math.max(0, Math.min(press.ns, ns)), Math.min(view.edge, Math.max(press.ns, ns))];
    view.invalidate();
  } else {
    view.pan(right, down);
  }
}

function click(view: MessagesView, chosen: Chosen, { zone }: Press, x: number, y: number): void {
  if (zone === "time") chosen.seek(Math.min(view.edge, Math.max(0, view.nsAt(x))));
  else if (zone !== "thumb") chosen.select(view.at(x, y));
}

/** Below the last row is its place. */
function drop(view: MessagesView, chosen: Chosen, rank: number, y: number): void {
  const { rows: { heads: order } } = view.scene;
  const row = Math.min(order.length - 1, Math.max(0, Math.floor(view.camera.top + (y - TOP) / view.camera.rowPixels)));
  const to = order[row] ?? -1;
  if (rank >= 0 && to >= 0) chosen.move(rank, to);
}
