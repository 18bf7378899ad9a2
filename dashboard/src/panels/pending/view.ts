// Draws the graph's canvas when something about it changed, and tells what is under the pointer.

import { effect } from "@preact/signals";
import type { Frames } from "../../frames";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { edgeLabel, groupLabel, keyLabel } from "../../words/pending";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { listenGestures } from "../gestures";
import { watchSize } from "../size";
import { hit, type Layout, layoutOf } from "./layout";
import { paint } from "./paint";
import type { PendingState, Pointed } from "./state";

export class PendingView {
  private readonly stop = new AbortController();
  private readonly stops: (() => void)[] = [];
  private dirty = true;
  private layout: Layout | null = null;

  constructor(
    private readonly store: Store,
    private readonly frames: Frames,
    private readonly canvas: HTMLCanvasElement,
    private readonly state: PendingState,
    pointedAt: (x: number, y: number) => void,
  ) {
    this.stops.push(effect(() => {
      void [state.known.value, state.pointed.value, state.cursor.value, state.measure.value, theme.value, store.figures.value.nodes.size];
      this.changed();
    }));
    this.stops.push(frames.add(() => this.draw()));
    this.stops.push(watchSize(canvas, () => this.changed()));
    listenGestures<true>(canvas, this.stop.signal, {
      hover: (x, y) => {
        state.pointed.value = this.at(x, y);
        canvas.style.cursor = state.pointed.peek() ? "pointer" : "default";
        pointedAt(x, y);
      },
      leave: () => (state.pointed.value = null),
      press: (_x, _y, event) => (event.button === 0 ? true : null),
      drag: () => undefined,
      click: (_, x, y) => this.choose(this.at(x, y)),
      wheel: () => undefined,
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.at(event.offsetX, event.offsetY);
      if (found?.kind === "group") state.openGroup(found.at);
    }, { signal: this.stop.signal });
  }

  dispose(): void {
    this.stop.abort();
    for (const stop of this.stops) stop();
    this.state.pointed.value = null;
  }

  private changed(): void {
    this.dirty = true;
    this.frames.request();
  }

  private at(x: number, y: number): Pointed {
    const edges = this.state.known.peek()?.pending.edges;
    if (!this.layout || !edges) return null;
    const ends = Array.from({ length: edges.length }, (_, edge) => [edges.from[edge] ?? 0, edges.to[edge] ?? 0] as const);
    return hit(this.layout, ends, x, y);
  }

  /** A click on a group or an edge selects its ranks for all views. */
  private choose(found: Pointed): void {
    const edges = this.state.known.peek()?.pending.edges;
    if (!found || !edges) return;
    this.state.choose(found.kind === "group" ? [found.at] : [edges.from[found.at] ?? 0, edges.to[found.at] ?? 0]);
  }

  private draw(): void {
    if (!this.dirty) return;
    const sheet = prepare(this.canvas);
    if (!sheet) return;
    this.dirty = false;
    const known = this.state.known.peek();
    if (!known) return;
    const { pending, scope } = known;
    const { context, width, height } = sheet;
    const run = this.store.run.peek();
    const names = Array.from({ length: pending.groups.length }, (_, at) => groupLabel(pending.groups, at, scope.by, run));
    const widths = (all: readonly string[]): number[] => all.map((name) => context.measureText(name).width);
    const nameOf = ({ first }: { first: number }): string => keyLabel(pending.groups, first, scope.by, run);
    const firstLayout = layoutOf(pending.groups, widths(names), 0, { width, height });
    const arcNames = firstLayout.arcs.map(nameOf);
    this.layout = layoutOf(pending.groups, widths(names), Math.max(0, ...widths(arcNames)), { width, height });
    paint(context, {
      layout: this.layout, pending, names, arcNames, measure: this.state.measure.peek(), theme: theme.peek(), colours: colours.peek(),
      pointed: this.state.pointed.peek(), cursor: document.activeElement === this.canvas ? this.state.cursor.peek() : -1,
      oldestLabel: pending.oldest < 0 ? "" : edgeLabel(pending, pending.oldest), size: { width, height },
    });
  }
}
