// Gestures on the matrix: the wheel zooms, dragging selects ranks, with Shift (or the middle button) it pans; a click
// selects a pair, or looks into a cell of many ranks.

import { listenGestures, wheelFactor } from "../gestures";
import type { Cell, MatrixView } from "./matrix-view";

const around = (one: Cell, other: Cell): Cell => ({
  fromRow: Math.min(one.fromRow, other.fromRow), toRow: Math.max(one.toRow, other.toRow),
  fromColumn: Math.min(one.fromColumn, other.fromColumn), toColumn: Math.max(one.toColumn, other.toColumn),
});

type Gesture = { kind: "pan" } | { kind: "select"; start: Cell };

export function listenMatrix(canvas: HTMLCanvasElement, view: MatrixView): () => void {
  const over = new AbortController();
  listenGestures<Gesture>(canvas, over.signal, {
    hover: (x, y) => {
      const cell = view.cellAt(x, y);
      canvas.style.cursor = cell ? "crosshair" : "default";
      view.pointed.value = cell;
    },
    leave: () => (view.pointed.value = null),
    press: (x, y, event) => {
      const start = view.cellAt(x, y);
      if (!start || (event.button !== 0 && event.button !== 1)) return null;
      return event.shiftKey || event.button === 1 ? { kind: "pan" } : { kind: "select", start };
    },
    drag: (gesture, x, y, right, down) => {
      view.pointed.value = null;
      const to = view.cellAt(x, y, true);
      if (gesture.kind === "pan") view.pan(right, down);
      else if (to) view.drags(around(gesture.start, to));
    },
    drop: (gesture, x, y) => {
      const to = view.cellAt(x, y, true);
      if (gesture.kind === "select" && to) view.choose(around(gesture.start, to));
    },
    click: (gesture, x, y) => {
      if (gesture.kind === "select" && view.cellAt(x, y, true)) view.click(x, y);
    },
    rest: () => view.drags(null),
    wheel: (event, x, y) => view.zoom(wheelFactor(event), [x, y]),
  });
  return () => over.abort();
}
