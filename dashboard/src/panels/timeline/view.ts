// Draws the timeline's canvases when something about them changed, and turns gestures into commands.

import { effect, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Annotation } from "../../feed/annotations";
import type { Frames } from "../../frames";
import { binCounts, fromSummary } from "../../state/bins";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { inside, lengthOf, panned, timeTicks, wholeRun, zoomed } from "../../state/span";
import { theme } from "../../state/theme";
import { clock, duration, roundDuration } from "../../words";
import { colours, functionColours } from "../colours";
import type { SharedTable } from "../share/tables";
import { watchSize } from "../size";
import { TimelineData } from "./data";
import { near } from "./annotations";
import { type Picture, paintBars, paintMarks, paintMinimap } from "./paint";
import { listen } from "./pointer";
import { LEFT, nsOf, RIGHT, type Scale, xOf, zoneAt } from "./scale";

export interface Hover {
  x: number;
  /** Annotations under the pointer. */
  annotations: readonly Annotation[];
  fromNs: number;
  binNs: number;
  digits: number;
  incomplete: boolean;
  rows: { name: string; calls: number; colour: string }[];
}

/** Seeking sends a command; more often than this nobody sees. */
const SEEK_EVERY_MS = 33;

export class TimelineView {
  private readonly data: TimelineData;
  private readonly functionColours: ReadonlySignal<ReadonlyMap<number, string>>;
  private readonly bars: HTMLCanvasElement | null;
  private readonly marks: HTMLCanvasElement | null;
  private readonly small: HTMLCanvasElement | null;
  private readonly stops: (() => void)[] = [];
  private dirty = true;
  private picture: Picture | null = null;
  private smallPicture: Picture | null = null;
  /** Here, not in another chart over time. */
  private isPointed = false;
  private hoverX = 0;
  private brushing: Span | null = null;
  private seekMs = 0;

  constructor(
    private readonly store: Store,
    private readonly frames: Frames,
    private readonly plot: HTMLElement,
    private readonly minimap: HTMLElement,
    private readonly out: { hover: Signal<Hover | null>; words: Signal<string> },
  ) {
    this.data = new TimelineData(store, () => this.changed());
    this.functionColours = functionColours(store.run);
    [this.bars = null, this.marks = null] = plot.querySelectorAll("canvas");
    this.small = minimap.querySelector("canvas");
    this.stops.push(effect(() => {
      const { hidden, ranks } = store.perspective.value;
      void [store.run.value, store.zoom.value, hidden, ranks, theme.value, this.functionColours.value];
      this.changed();
    }));
    this.stops.push(effect(() => {
      void [store.pointedNs.value, store.shownAnnotations.value];
      frames.request();
    }));
    this.stops.push(frames.add(() => this.draw()));
    this.stops.push(watchSize(plot, () => this.changed()));
    this.listen();
  }

  dispose(): void {
    for (const stop of this.stops) stop();
  }

  private changed(): void {
    this.dirty = true;
    this.frames.request();
  }

  private edge(): number {
    return edgeNs(this.store.run.peek());
  }

  private scale(): Scale {
    return { span: this.store.zoom.peek() ?? wholeRun(this.edge()), width: Math.max(1, this.plot.clientWidth - LEFT - RIGHT) };
  }

  private draw(): void {
    if (!this.bars || !this.marks || !this.small) return;
    const scale = this.scale();
    const { rangeNs } = this.store.perspective.peek();
    const cursorNs = this.store.timeNs.peek();
    const range = this.brushing ?? rangeNs;
    // Now moves between messages, the picture of the whole run with them.
    const shownNs = this.store.zoom.peek() ? cursorNs : Math.min(cursorNs, scale.span[1]);
    if (this.dirty) {
      this.dirty = false;
      this.picture = this.makePicture(scale);
      this.smallPicture = this.makeSmall(scale.width);
      paintBars(this.bars, this.picture, colours.peek());
      this.say(scale);
      this.tell();
    }
    paintMarks(this.marks, { scale, cursorNs: shownNs, rangeNs: range, hoverNs: this.store.pointedNs.peek(), annotations: this.store.shownAnnotations.peek() }, colours.peek());
    if (this.smallPicture) paintMinimap(this.small, this.smallPicture, this.store.zoom.peek(), shownNs, range, colours.peek());
  }

  private makePicture(scale: Scale): Picture {
    const run = this.store.run.peek();
    const found = this.data.bins(scale.span, scale.width);
    return {
      scale,
      bins: found?.bins ?? null,
      edgeNs: found?.edgeNs ?? 0,
      growing: !over(run),
      hidden: this.store.perspective.peek().hidden,
      functionColours: this.functionColours.peek(),
      nothing: run.timeline.windows === 0 ? "No call has started yet." : "No call started in these moments.",
    };
  }

  private makeSmall(width: number): Picture {
    const run = this.store.run.peek();
    const span = wholeRun(this.edge());
    const bins = run.timeline.windowNs > 0 ? fromSummary(run.timeline, span, width) : null;
    return { ...this.makePictureBase(), scale: { span, width }, bins };
  }

  private makePictureBase(): Omit<Picture, "scale" | "bins"> {
    return {
      edgeNs: this.edge(), growing: false, hidden: this.store.perspective.peek().hidden,
      functionColours: this.functionColours.peek(), nothing: "",
    };
  }

  /** What the picture shows, in numbers. */
  table(): SharedTable {
    const bins = this.picture?.bins;
    const names = bins?.ids.map((id) => this.store.run.peek().functions.get(id)?.name ?? `function ${id}`) ?? [];
    const rows = Array.from({ length: bins?.bins ?? 0 }, (_, bin) => [
      ((bins?.fromNs ?? 0) + bin * (bins?.binNs ?? 0)) / 1e9, ...(bins?.ids.map((_, row) => bins.counts[row * bins.bins + bin] ?? 0) ?? []),
    ]);
    return { columns: ["time_s", ...names], rows };
  }

  /** What the picture shows, in words. */
  private say(scale: Scale): void {
    const [from, to] = scale.span;
    const { digits } = timeTicks(scale.span, 8);
    const bins = this.picture?.bins;
    const each = bins && bins.bins > 0 ? `calls started in each ${roundDuration(bins.binNs)}` : "calls started";
    const part = this.store.zoom.peek() ? `${clock(from, digits)} to ${clock(to, digits)}, ${duration(lengthOf(scale.span))}` : "whole run";
    const error = this.data.error.peek();
    const whose = this.store.perspective.peek().ranks ? "; of all ranks, not of the selected ones alone" : "";
    this.out.words.value = `${each}; ${part}${whose}${error ? `; finer counts are missing: ${error}` : ""}`;
  }

  /** The bin under the pointer, in numbers. */
  private tell(): void {
    const bins = this.picture?.bins;
    const ns = this.isPointed ? this.store.pointedNs.peek() : null;
    const bin = bins && ns !== null ? Math.floor((ns - bins.fromNs) / bins.binNs) : -1;
    if (!bins || bin < 0 || bin >= bins.bins) {
      this.out.hover.value = null;
      return;
    }
    const { functions } = this.store.run.peek();
    const fromNs = bins.fromNs + bin * bins.binNs;
    const scale = this.scale();
    this.out.hover.value = {
      x: this.hoverX,
      annotations: near(this.store.shownAnnotations.peek(), scale, xOf(scale, ns ?? 0)),
      fromNs,
      binNs: bins.binNs,
      digits: bins.binNs >= 1e9 ? 0 : bins.binNs >= 1e6 ? 3 : bins.binNs >= 1e3 ? 6 : 9,
      incomplete: (this.picture?.growing ?? false) && fromNs + bins.binNs > (this.picture?.edgeNs ?? 0),
      rows: binCounts(bins, bin, this.store.perspective.peek().hidden).map(({ id, calls }) => ({
        calls, name: functions.get(id)?.name ?? `function ${id}`, colour: this.functionColours.peek().get(id) ?? "#808080",
      })),
    };
  }

  private listen(): void {
    const { store } = this;
    const pan = (byNs: number): void => {
      if (store.zoom.peek()) store.zoom.value = panned(this.scale().span, byNs, this.edge());
    };
    listen(this.plot, {
      scale: () => this.scale(),
      zone: (x, y) => zoneAt(this.scale(), x, y, store.timeNs.peek()),
      pannable: () => store.zoom.peek() !== null,
      hover: (ns, x) => {
        this.isPointed = ns !== null && x >= LEFT;
        store.pointedNs.value = this.isPointed ? ns : null;
        this.hoverX = x;
        this.tell();
        this.frames.request();
      },
      seek: (ns, done) => this.seek(ns, done),
      pan,
      brush: (fromNs, toNs, done) => {
        const range: Span = [Math.max(0, fromNs), Math.min(this.edge(), toNs)];
        this.brushing = done ? null : range;
        if (done && range[1] > range[0]) store.select({ rangeNs: range });
        this.frames.request();
      },
      zoom: (factor, atNs) => (store.zoom.value = zoomed(this.scale().span, factor, atNs, this.edge())),
      whole: () => (store.zoom.value = null),
    });
    this.listenMinimap();
  }

  private seek(ns: number, done: boolean): void {
    const nowMs = performance.now();
    if (!done && nowMs - this.seekMs < SEEK_EVERY_MS) return;
    this.seekMs = nowMs;
    this.store.command({ do: "seek", time_ns: ns });
  }

  /** Dragging the frame moves what is visible; beside the frame, it jumps there first. */
  private listenMinimap(): void {
    let gripNs: number | null = null;
    const at = (event: PointerEvent): number => {
      const scale: Scale = { span: wholeRun(this.edge()), width: this.scale().width };
      return nsOf(scale, event.clientX - this.minimap.getBoundingClientRect().left);
    };
    const move = (event: PointerEvent): void => {
      const zoom = this.store.zoom.peek();
      if (gripNs === null || !zoom) return;
      const from = at(event) - gripNs;
      this.store.zoom.value = inside([from, from + lengthOf(zoom)], this.edge());
    };
    this.minimap.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const ns = at(event);
      const zoom = this.store.zoom.peek();
      if (!zoom) {
        this.seek(ns, true);
        return;
      }
      this.minimap.setPointerCapture(event.pointerId);
      const within = ns >= zoom[0] && ns <= zoom[1];
      gripNs = within ? ns - zoom[0] : lengthOf(zoom) / 2;
      move(event);
    });
    this.minimap.addEventListener("pointermove", move);
    this.minimap.addEventListener("pointerup", () => (gripNs = null));
    this.minimap.addEventListener("pointercancel", () => (gripNs = null));
    this.minimap.addEventListener("dblclick", () => (this.store.zoom.value = null));
  }
}
