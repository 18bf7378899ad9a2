// What pointer and keys do to a graph. Knows no state of the page; it reports what is chosen.

import { listenGestures, placeIn, wheelFactor } from "../gestures";
import { listed, neighbours } from "./graph";
import type { Shown } from "./view";
import { GraphView } from "./view";

export interface Chosen {
  select(node: number): void;
  /** Folds or unfolds what follows. */
  fold(node: number): void;
  /** -1: nothing is pointed at. */
  point(node: number, x: number, y: number): void;
}

const STEP_PIXELS = 80;
const KEY_ZOOM = 1.35;

/** Listens until the returned function is called. */
export function listen(view: GraphView, shown: () => Shown | null, chosen: Chosen): () => void {
  const { element } = view;
  const stop = new AbortController();
  const { signal } = stop;
  const point = (node: number, x = 0, y = 0): void => {
    view.point(node);
    element.classList.toggle("pointed", node >= 0);
    chosen.point(node, x, y);
  };
  listenGestures(element, signal, {
    hover: (x, y) => point(view.nodeAt(x, y), x, y),
    leave: () => point(-1),
    press: (_x, _y, event) => (event.button === 0 ? "pan" : null),
    drag: (_, _x, _y, right, down) => {
      point(-1);
      view.pan(right, down);
    },
    click: (_, x, y) => chosen.select(view.nodeAt(x, y)),
    wheel: (event, x, y) => {
      view.zoom(wheelFactor(event), x, y);
      point(-1);
    },
  });
  element.addEventListener("dblclick", (event) => {
    const node = view.nodeAt(...placeIn(element, event));
    if (node >= 0) chosen.fold(node);
  }, { signal });
  element.addEventListener("keydown", (event) => {
    const now = shown();
    if (!now || event.ctrlKey || event.altKey || event.metaKey || !key(view, now, chosen, event)) return;
    // The same keys mean other things to the page.
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  return () => stop.abort();
}

/** Whether the key was meant for the graph. */
function key(view: GraphView, shown: Shown, chosen: Chosen, { key: name, shiftKey }: KeyboardEvent): boolean {
  const step = STEP_PIXELS * (shiftKey ? 4 : 1);
  // What is selected stays where it is.
  const zoom = (factor: number): void => (shown.selected >= 0 ? view.zoom(factor, ...view.placeOf(shown.selected)) : view.zoom(factor));
  const acts: Record<string, () => void> = {
    w: () => view.pan(0, step), a: () => view.pan(step, 0), s: () => view.pan(0, -step), d: () => view.pan(-step, 0),
    "+": () => zoom(KEY_ZOOM), "=": () => zoom(KEY_ZOOM), "-": () => zoom(1 / KEY_ZOOM), f: () => view.fit(),
    Enter: () => { if (shown.selected >= 0) chosen.fold(shown.selected); },
  };
  const act = acts[name.length === 1 ? name.toLowerCase() : name];
  if (act) {
    act();
    return true;
  }
  const towards = DIRECTIONS[name];
  if (!towards) return false;
  const next = stepTo(view, shown, shown.isFlipped ? towards.flipped : towards.usual);
  if (next >= 0) {
    chosen.select(next);
    view.bring(next);
  }
  return true;
}

type Towards = "past" | "future" | "before" | "after";
const DIRECTIONS: Readonly<Record<string, { usual: Towards; flipped: Towards }>> = {
  ArrowLeft: { usual: "past", flipped: "before" }, ArrowRight: { usual: "future", flipped: "after" },
  ArrowUp: { usual: "before", flipped: "past" }, ArrowDown: { usual: "after", flipped: "future" },
};

/** The next node that is seen, along a link or within the layer; -1 where there is none. */
function stepTo(view: GraphView, { model: { graph }, selected }: Shown, towards: Towards): number {
  const { nodes } = graph.dag;
  if (selected < 0 || view.isHidden(selected)) return [...graph.inLayer.items].find((node) => !view.isHidden(node)) ?? -1;
  const row = graph.row[selected] ?? 0;
  if (towards === "past" || towards === "future") {
    const found = neighbours(graph, selected, towards).filter((node) => !view.isHidden(node));
    const far = (node: number): number => Math.abs((graph.row[node] ?? 0) - row);
    return found.sort((one, other) => far(one) - far(other))[0] ?? -1;
  }
  const members = [...listed(graph.inLayer, nodes.layer[selected] ?? 0)].filter((node) => !view.isHidden(node));
  return members[members.indexOf(selected) + (towards === "after" ? 1 : -1)] ?? -1;
}
