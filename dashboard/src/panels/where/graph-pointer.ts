// Gestures on the graph: drag the ground to pan, with Shift to turn, with Alt (or the lasso chosen) to select ranks; drag a
// rank, or with Ctrl a region; the wheel zooms; a click selects.

import type { Target } from "../../words/regions";
import type { Point } from "./camera";
import type { GraphView } from "./graph-view";
import type { Memory } from "./memory";

const CLICK_PIXELS = 4;
const WHEEL = 0.0016;
const TURN_PIXELS = 220;

type Gesture =
  | { kind: "pan" }
  | { kind: "turn" }
  | { kind: "move"; target: Target }
  | { kind: "lasso"; line: Point[] };

export function listenGraph(canvas: HTMLCanvasElement, view: GraphView, memory: Memory): () => void {
  const over = new AbortController();
  const { signal } = over;
  let gesture: Gesture | null = null;
  let [startX, startY, lastX, lastY, moved] = [0, 0, 0, 0, false];

  const place = (event: MouseEvent): Point => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 && event.button !== 1) return;
    const [x, y] = place(event);
    [startX, startY, lastX, lastY, moved] = [x, y, x, y, false];
    canvas.setPointerCapture(event.pointerId);
    const target = view.at(x, y);
    if (event.shiftKey) gesture = { kind: "turn" };
    else if (event.altKey || memory.lasso.peek()) gesture = { kind: "lasso", line: [[x, y]] };
    else if (target?.kind === "rank" || (target?.kind === "region" && event.ctrlKey)) gesture = { kind: "move", target };
    else gesture = { kind: "pan" };
  }, { signal });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!gesture) {
      memory.pointed.value = view.at(x, y);
      canvas.style.cursor = memory.lasso.peek() ? "crosshair" : memory.pointed.peek() ? "pointer" : "grab";
      return;
    }
    if (!moved && Math.hypot(x - startX, y - startY) < CLICK_PIXELS) return;
    moved = true;
    memory.pointed.value = null;
    const [dx, dy] = [x - lastX, y - lastY];
    [lastX, lastY] = [x, y];
    if (gesture.kind === "pan") view.pan(dx, dy);
    else if (gesture.kind === "turn") view.turn(dx / TURN_PIXELS);
    else if (gesture.kind === "move") view.drag(gesture.target, dx, dy);
    else {
      gesture.line.push([x, y]);
      view.draws(gesture.line);
    }
  }, { signal });

  const end = (event: PointerEvent): void => {
    if (!gesture) return;
    const ended = gesture;
    gesture = null;
    view.draws(null);
    if (!moved) {
      const [x, y] = place(event);
      if (event.type === "pointerup") view.select(view.at(x, y));
    } else if (ended.kind === "lasso") view.choose(ended.line);
  };
  canvas.addEventListener("pointerup", end, { signal });
  canvas.addEventListener("pointercancel", end, { signal });
  canvas.addEventListener("pointerleave", () => (memory.pointed.value = null), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const by = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
    view.zoom(Math.exp(-by * WHEEL), place(event));
  }, { signal, passive: false });
  return () => over.abort();
}
