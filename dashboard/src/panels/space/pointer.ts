// The pointer on the points: dragging turns, with Shift or another button it moves, with Alt or the lasso it encloses.

import { listenGestures, wheelFactor } from "../gestures";
import type { Spot } from "./pick";
import type { SpaceState } from "./state";

interface Target {
  turn(right: number, up: number): void;
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
  fit(): void;
  rankAt(x: number, y: number): number | null;
  point(rank: number | null): void;
  select(rank: number | null): void;
  draws(line: Spot[] | null): void;
  enclose(line: readonly Spot[]): void;
}

type Press = { kind: "turn" } | { kind: "pan" } | { kind: "lasso"; line: Spot[] };

const TURN_OF_PIXEL = 0.007;

export function listenPointer(element: HTMLElement, view: Target, state: SpaceState): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  listenGestures<Press>(element, signal, {
    hover: (x, y) => view.point(view.rankAt(x, y)),
    leave: () => view.point(null),
    press: (x, y, event) => {
      if (event.button === 0 && (event.altKey || state.isLasso.peek())) return { kind: "lasso", line: [[x, y]] };
      if (event.button === 0 && !event.shiftKey) return { kind: "turn" };
      return event.button <= 2 ? { kind: "pan" } : null;
    },
    drag: (press, x, y, right, down) => {
      if (press.kind === "turn") view.turn(right * TURN_OF_PIXEL, down * TURN_OF_PIXEL);
      else if (press.kind === "pan") view.pan(right, down);
      else {
        press.line.push([x, y]);
        view.draws(press.line);
      }
    },
    drop: (press) => {
      if (press.kind === "lasso") view.enclose(press.line);
    },
    click: (_, x, y) => view.select(view.rankAt(x, y)),
    rest: () => view.draws(null),
    wheel: (event, x, y) => view.zoom(wheelFactor(event), x, y),
  });
  element.addEventListener("dblclick", () => view.fit(), { signal });
  element.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
  return () => stop.abort();
}
