// Gestures on the graph: drag the ground to pan, with Shift to turn, with Alt (or the lasso chosen) to select ranks; drag a
// rank, or with Ctrl a region; the wheel zooms; a click selects.

import type { Target } from "../../words/regions";
import { listenGestures, wheelFactor } from "../gestures";
import type { Point } from "./camera";
import type { GraphView } from "./graph-view";
import type { Memory } from "./memory";

const TURN_PIXELS = 220;

type Gesture =
  | { kind: "pan" }
  | { kind: "turn" }
  | { kind: "move"; target: Target }
  | { kind: "lasso"; line: Point[] };

export function listenGraph(canvas: HTMLCanvasElement, view: GraphView, memory: Memory): () => void {
  const over = new AbortController();
  listenGestures<Gesture>(canvas, over.signal, {
    hover: (x, y) => {
      memory.pointed.value = view.at(x, y);
      canvas.style.cursor = memory.lasso.peek() ? "crosshair" : memory.pointed.peek() ? "pointer" : "grab";
    },
    leave: () => (memory.pointed.value = null),
    press: (x, y, event) => {
      if (event.button !== 0 && event.button !== 1) return null;
      const target = view.at(x, y);
      if (event.shiftKey) return { kind: "turn" };
      if (event.altKey || memory.lasso.peek()) return { kind: "lasso", line: [[x, y]] };
      return target?.kind === "rank" || (target?.kind === "region" && event.ctrlKey) ? { kind: "move", target } : { kind: "pan" };
    },
    drag: (gesture, x, y, right, down) => {
      memory.pointed.value = null;
      if (gesture.kind === "pan") view.pan(right, down);
      else if (gesture.kind === "turn") view.turn(right / TURN_PIXELS);
      else if (gesture.kind === "move") view.drag(gesture.target, right, down);
      else {
        gesture.line.push([x, y]);
        view.draws(gesture.line);
      }
    },
    drop: (gesture) => {
      if (gesture.kind === "lasso") view.choose(gesture.line);
    },
    click: (_, x, y) => view.select(view.at(x, y)),
    rest: () => view.draws(null),
    wheel: (event, x, y) => view.zoom(wheelFactor(event), [x, y]),
  });
  return () => over.abort();
}
