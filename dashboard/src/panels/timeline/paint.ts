// Draws the timeline: bars and axes on one canvas, cursor and selection on another that changes with every frame.

import type { Annotation } from "../../feed/annotations";
import { type Bins, highest } from "../../state/bins";
import type { Span } from "../../state/perspective";
import { nice } from "../../state/span";
import { axisCount, clock } from "../../words";
import { prepare, snap } from "../canvas";
import type { Colours } from "../colours";
import { paintAnnotations } from "./annotations";
import { LEFT, RULER, type Scale, ticksOf, xOf } from "./scale";

/** The middle of the ruler's labels; the cursor's handle is below them. */
const LABEL_Y = 9;
/** Between two labels of the axis of time. */
const AXIS_LINES = 3;
const GAP_FROM_PIXELS = 6;

export interface Picture {
  scale: Scale;
  bins: Bins | null;
  /** Counts are complete up to here. */
  edgeNs: number;
  /** The edge moves. */
  growing: boolean;
  hidden: ReadonlySet<number>;
  functionColours: ReadonlyMap<number, string>;
  /** The text where no bar is; empty when there are bars. */
  nothing: string;
}

export function paintBars(canvas: HTMLCanvasElement, picture: Picture, colour: Colours): void {
  const ready = prepare(canvas);
  if (!ready) return;
  const { context, width, height, ratio } = ready;
  const { scale, bins, hidden } = picture;
  const bottom = height - 2;
  const plotHeight = bottom - RULER - 4;
  timeAxis(context, scale, width, bottom, colour);
  const most = bins ? highest(bins, scale.span, hidden) : 0;
  const step = most > 0 ? Math.max(1, nice(most / AXIS_LINES)) : 1;
  const top = Math.max(step, Math.ceil(most / step) * step);
  countAxis(context, { bottom, plotHeight, width }, most > 0 ? step : 0, top, colour);
  if (!bins || most === 0) {
    const y = RULER + plotHeight / 2;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = colour.ground;
    context.fillRect(LEFT + 4, y - 10, context.measureText(picture.nothing).width + 8, 20);
    context.fillStyle = colour.soft;
    context.fillText(picture.nothing, LEFT + 8, y);
    return;
  }
  context.save();
  context.beginPath();
  context.rect(LEFT, RULER, scale.width, bottom - RULER);
  context.clip();
  paintStacks(context, picture, bins, { bottom, plotHeight, top, ratio });
  if (picture.growing) paintIncomplete(context, picture, bins, { bottom, ratio }, colour);
  context.restore();
}

interface Plot { bottom: number; plotHeight: number; top: number; ratio: number }

function paintStacks(context: CanvasRenderingContext2D, { scale, hidden, functionColours }: Picture, bins: Bins, plot: Plot): void {
  const first = Math.max(0, Math.floor((scale.span[0] - bins.fromNs) / bins.binNs));
  const end = Math.min(bins.bins, Math.ceil((scale.span[1] - bins.fromNs) / bins.binNs));
  const base = new Float64Array(Math.max(0, end - first));
  // A gap of one pixel keeps wide bars apart; between narrow ones it would be a pattern of its own.
  const gap = (bins.binNs / (scale.span[1] - scale.span[0])) * scale.width >= GAP_FROM_PIXELS ? 1 / plot.ratio : 0;
  bins.ids.forEach((id, row) => {
    if (hidden.has(id)) return;
    context.fillStyle = functionColours.get(id) ?? "#808080";
    context.beginPath();
    for (let bin = first; bin < end; bin++) {
      const calls = bins.counts[row * bins.bins + bin] ?? 0;
      if (calls === 0) continue;
      const below = base[bin - first] ?? 0;
      base[bin - first] = below + calls;
      const left = snap(xOf(scale, bins.fromNs + bin * bins.binNs), plot.ratio);
      const right = snap(xOf(scale, bins.fromNs + (bin + 1) * bins.binNs), plot.ratio);
      const low = snap(plot.bottom - (below / plot.top) * plot.plotHeight, plot.ratio);
      const high = snap(plot.bottom - ((below + calls) / plot.top) * plot.plotHeight, plot.ratio);
      context.rect(left, high, Math.max(1 / plot.ratio, right - left - gap), low - high);
    }
    context.fill();
  });
}

/** The bin that still fills up: hatched, or it would look like a drop. */
function paintIncomplete(context: CanvasRenderingContext2D, { scale, edgeNs }: Picture, bins: Bins, plot: { bottom: number; ratio: number }, colour: Colours): void {
  const bin = Math.floor((edgeNs - bins.fromNs) / bins.binNs);
  const left = snap(xOf(scale, bins.fromNs + bin * bins.binNs), plot.ratio);
  const right = snap(xOf(scale, Math.max(edgeNs, bins.fromNs + (bin + 1) * bins.binNs)), plot.ratio);
  if (right > left) {
    context.save();
    context.beginPath();
    context.rect(left, RULER, right - left, plot.bottom - RULER);
    context.clip();
    context.strokeStyle = colour.ground;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = left - (plot.bottom - RULER); x < right; x += 4) {
      context.moveTo(x, plot.bottom);
      context.lineTo(x + plot.bottom - RULER, RULER);
    }
    context.stroke();
    context.restore();
  }
  context.fillStyle = colour.good;
  context.fillRect(snap(xOf(scale, edgeNs), plot.ratio), RULER, 1, plot.bottom - RULER);
}

function timeAxis(context: CanvasRenderingContext2D, scale: Scale, width: number, bottom: number, colour: Colours): void {
  const { atNs, digits } = ticksOf(scale);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const ns of atNs) {
    const x = Math.round(xOf(scale, ns));
    context.fillStyle = colour.line;
    context.fillRect(x, RULER, 1, bottom - RULER);
    context.fillStyle = colour.edge;
    context.fillRect(x, 4, 1, RULER - 4);
    const text = clock(ns + 0.5, digits);
    if (x + 4 + context.measureText(text).width > width) continue;
    context.fillStyle = colour.soft;
    context.fillText(text, x + 4, LABEL_Y);
  }
  context.fillStyle = colour.edge;
  context.fillRect(LEFT, bottom, scale.width, 1);
}

function countAxis(context: CanvasRenderingContext2D, plot: { bottom: number; plotHeight: number; width: number }, step: number, top: number, colour: Colours): void {
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let calls = 0; calls <= top && step > 0; calls += step) {
    const y = Math.round(plot.bottom - (calls / top) * plot.plotHeight);
    if (calls > 0) {
      context.fillStyle = colour.line;
      context.fillRect(LEFT, y, plot.width - LEFT, 1);
    }
    context.fillStyle = colour.soft;
    context.fillText(axisCount(calls), LEFT - 8, Math.min(y, plot.bottom - 5));
  }
}

export interface Marks {
  scale: Scale;
  cursorNs: number;
  rangeNs: Span | null;
  hoverNs: number | null;
  annotations: readonly Annotation[];
}

export function paintMarks(canvas: HTMLCanvasElement, marks: Marks, colour: Colours): void {
  const ready = prepare(canvas);
  if (!ready) return;
  const { context, height } = ready;
  const { scale } = marks;
  const right = LEFT + scale.width;
  if (marks.rangeNs) {
    const from = Math.max(LEFT, xOf(scale, marks.rangeNs[0]));
    const to = Math.min(right, xOf(scale, marks.rangeNs[1]));
    if (to >= LEFT && from <= right) {
      context.globalAlpha = 0.18;
      context.fillStyle = colour.accent;
      context.fillRect(from, 0, Math.max(1, to - from), height);
      context.globalAlpha = 1;
      for (const ns of marks.rangeNs) {
        const x = xOf(scale, ns);
        if (x >= LEFT && x <= right) context.fillRect(Math.round(x), 0, 1, height);
      }
    }
  }
  paintAnnotations(context, marks.annotations, scale, height);
  if (marks.hoverNs !== null) {
    context.fillStyle = colour.edge;
    context.fillRect(Math.round(xOf(scale, marks.hoverNs)), RULER, 1, height - RULER);
  }
  const x = Math.round(xOf(scale, marks.cursorNs));
  context.fillStyle = colour.text;
  if (x < LEFT - 1 || x > right + 1) {
    pointAside(context, x < LEFT ? LEFT : right, x < LEFT ? 1 : -1);
    return;
  }
  context.fillRect(x - 1, LABEL_Y + 7, 2, height);
  context.beginPath();
  context.moveTo(x - 6, LABEL_Y + 6);
  context.lineTo(x + 6, LABEL_Y + 6);
  context.lineTo(x + 6, LABEL_Y + 10);
  context.lineTo(x, LABEL_Y + 16);
  context.lineTo(x - 6, LABEL_Y + 10);
  context.fill();
}

/** Where the cursor is when it is out of sight. */
function pointAside(context: CanvasRenderingContext2D, x: number, inward: 1 | -1): void {
  context.beginPath();
  context.moveTo(x, LABEL_Y + 11);
  context.lineTo(x + inward * 8, LABEL_Y + 5);
  context.lineTo(x + inward * 8, LABEL_Y + 17);
  context.fill();
}

/** The whole run in small, with what is visible framed. */
export function paintMinimap(canvas: HTMLCanvasElement, picture: Picture, visible: Span | null, cursorNs: number, rangeNs: Span | null, colour: Colours): void {
  const ready = prepare(canvas);
  if (!ready) return;
  const { context, height, ratio } = ready;
  const { scale, bins, hidden } = picture;
  const bottom = height - 3;
  context.fillStyle = colour.raised;
  context.fillRect(LEFT, 2, scale.width, bottom - 2);
  const most = bins ? highest(bins, scale.span, hidden) : 0;
  if (bins && most > 0) {
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, scale.width, height);
    context.clip();
    paintStacks(context, picture, bins, { bottom, plotHeight: bottom - 4, top: most, ratio });
    context.restore();
  }
  if (rangeNs) {
    const from = Math.max(LEFT, xOf(scale, rangeNs[0]));
    context.fillStyle = colour.accent;
    context.fillRect(from, bottom, Math.max(2, Math.min(LEFT + scale.width, xOf(scale, rangeNs[1])) - from), 3);
  }
  if (visible) frame(context, scale, visible, height, colour);
  context.fillStyle = colour.text;
  context.fillRect(Math.round(xOf(scale, cursorNs)), 0, 1, height);
}

function frame(context: CanvasRenderingContext2D, scale: Scale, visible: Span, height: number, colour: Colours): void {
  const from = Math.round(xOf(scale, visible[0]));
  const to = Math.max(from + 3, Math.round(xOf(scale, visible[1])));
  context.globalAlpha = 0.6;
  context.fillStyle = colour.ground;
  context.fillRect(LEFT, 0, from - LEFT, height);
  context.fillRect(to, 0, LEFT + scale.width - to, height);
  context.globalAlpha = 1;
  context.strokeStyle = colour.text;
  context.lineWidth = 1;
  context.strokeRect(from + 0.5, 0.5, to - from - 1, height - 1);
}
