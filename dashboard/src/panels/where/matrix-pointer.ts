// Gestures on the matrix: the wheel zooms, dragging selects ranks, with Shift (or the middle button) it pans; a click
// selects a pair, or looks into a cell of many ranks.

import type { Cell, MatrixView } from "./matrix-view";

const CLICK_PIXELS = 4;
const WHEEL = 0.0016;

const around = (one: Cell, other: Cell): Cell => ({
  fromRow: Math.min(one.fromRow, other.fromRow), toRow: Math.max(one.toRow, other.toRow),
  fromColumn: Math.min(one.fromColumn, other.fromColumn), toColumn: Math.max(one.toColumn, other.toColumn),
});

export function listenMatrix(canvas: HTMLCanvasElement, view: MatrixView): () => void {
  const over = new AbortController();
  const { signal } = over;
  let gesture: "select" | "pan" | null = null;
  let start: Cell | null = null;
  let [startX, startY, lastX, lastY, moved] = [0, 0, 0, 0, false];

  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 && event.button !== 1) return;
    const [x, y] = place(event);
    start = view.cellAt(x, y);
    if (!start) return;
    canvas.setPointerCapture(event.pointerId);
    [startX, startY, lastX, lastY, moved] = [x, y, x, y, false];
    gesture = event.shiftKey || event.button === 1 ? "pan" : "select";
  }, { signal });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!gesture) {
      const cell = view.cellAt(x, y);
      canvas.style.cursor = cell ? "crosshair" : "default";
      view.pointed.value = cell;
      return;
    }
    if (!moved && Math.hypot(x - startX, y - startY) < CLICK_PIXELS) return;
    moved = true;
    view.pointed.value = null;
    const to = view.cellAt(x, y, true);
    if (gesture === "pan") view.pan(x - lastX, y - lastY);
    else if (start && to) view.drags(around(start, to));
    [lastX, lastY] = [x, y];
  }, { signal });

  const end = (event: PointerEvent): void => {
    const ended = gesture;
    gesture = null;
    view.drags(null);
    const [x, y] = place(event);
    const to = view.cellAt(x, y, true);
    if (ended !== "select" || event.type !== "pointerup" || !start || !to) return;
    if (moved) view.choose(around(start, to));
    else view.click(x, y);
  };
  canvas.addEventListener("pointerup", end, { signal });
  canvas.addEventListener("pointercancel", end, { signal });
  canvas.addEventListener("pointerleave", () => (view.pointed.value = null), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const by = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
    view.zoom(Math.exp(-by * WHEEL), place(event));
  }, { signal, passive: false });
  return () => over.abort();
}
