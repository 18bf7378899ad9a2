// Draws a glyph on a canvas, near enough for its bars to be seen. For the graph and for the legend.

import { channelsOf, contrast } from "../../palette/colour";
import { hostColour, isRepeated, type Theme } from "../../palette/hosts";
import { latencyColour } from "../../palette/ramps";
import type { Context } from "../canvas";
import { type Bar, BORDER, type Glyph, INSIDE_MAX, OUTSIDE_MAX, type Side } from "./glyph";

export interface GlyphLook {
  theme: Theme;
  /** Colours of the frame. */
  ground: string;
  text: string;
  edge: string;
  soft: string;
  font: string;
}

const QUARTER = Math.PI / 2;
const TURN = 2 * Math.PI;
/** Numbers of ranks can be read in ellipses from here on, and counts beside bars. */
const LABEL_FROM_CELL = 34;
const COUNT_FROM_CELL = 100;

export function paintGlyph(context: Context, glyph: Glyph, label: string, host: number, x: number, y: number, cell: number, look: GlyphLook): void {
  const isBold = glyph.received.isSqueezed || glyph.sent.isSqueezed;
  context.strokeStyle = isBold ? look.soft : look.edge;
  context.lineWidth = isBold ? 2 : 1;
  context.fillStyle = look.ground;
  context.beginPath();
  context.arc(x, y, BORDER * cell, 0, TURN);
  context.fill();
  context.stroke();
  const rim = Math.min(1.5, 0.01 * cell) + (isBold ? 0.75 : 0.25);
  paintSide(context, glyph.received, (bar) => [BORDER * cell - rim - bar * INSIDE_MAX * cell, BORDER * cell - rim], x, y, cell, look);
  paintSide(context, glyph.sent, (bar) => [BORDER * cell + rim, BORDER * cell + rim + bar * OUTSIDE_MAX * cell], x, y, cell, look);
  paintEllipse(context, glyph, host, x, y, cell, look);
  if (cell >= LABEL_FROM_CELL) paintLabel(context, label, glyph, host, x, y, cell, look);
}

function paintEllipse(context: Context, { radiusX, radiusY }: Glyph, host: number, x: number, y: number, cell: number, look: GlyphLook): void {
  context.fillStyle = hostColour(host, look.theme);
  context.beginPath();
  context.ellipse(x, y, radiusX * cell, Math.max(1, radiusY * cell), 0, 0, TURN);
  context.fill();
  if (!isRepeated(host)) return;
  // The second mark of hosts whose colour another one has.
  context.strokeStyle = look.text;
  context.lineWidth = Math.max(1, 0.02 * cell);
  context.setLineDash([0.05 * cell, 0.03 * cell]);
  context.stroke();
  context.setLineDash([]);
}

function paintLabel(context: Context, label: string, { radiusX, radiusY }: Glyph, host: number, x: number, y: number, cell: number, look: GlyphLook): void {
  const size = Math.min(18, Math.max(10, 0.16 * cell));
  context.font = `600 ${size}px ${look.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const fits = context.measureText(label).width < 1.7 * radiusX * cell && size < 1.8 * radiusY * cell;
  if (!fits) {
    context.strokeStyle = look.ground;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(label, x, y + 0.5);
  }
  context.fillStyle = fits ? textOn(hostColour(host, look.theme)) : look.text;
  context.fillText(label, x, y + 0.5);
}

/** Black or white, whichever is read better. */
export function textOn(hex: string): string {
  return contrast(hex, "#000000") >= contrast(hex, "#ffffff") ? "#000000" : "#ffffff";
}

function paintSide(context: Context, side: Side, radii: (height: number) => [inner: number, outer: number], x: number, y: number, cell: number, look: GlyphLook): void {
  for (const bar of side.bars) {
    const [inner, outer] = radii(bar.height);
    paintBar(context, bar, inner, outer, x, y, look);
    if (bar.message < 0 && cell >= COUNT_FROM_CELL) {
      const middle = (bar.from + bar.to) / 2 - QUARTER;
      const at = (inner + outer) / 2;
      paintCount(context, `${bar.count}`, x + Math.cos(middle) * at, y + Math.sin(middle) * at, look);
    }
  }
}

function paintCount(context: Context, text: string, x: number, y: number, look: GlyphLook): void {
  context.font = `600 10px ${look.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.strokeStyle = look.ground;
  context.lineWidth = 3;
  context.strokeText(text, x, y);
  context.fillStyle = look.text;
  context.fillText(text, x, y);
}

/** A full bar; of an upper bound only its lower and upper edge; hollow and grey where the latency is not known. */
function paintBar(context: Context, bar: Bar, inner: number, outer: number, x: number, y: number, look: GlyphLook): void {
  const colour = latencyColour(bar.latency, look.theme);
  if (Number.isNaN(bar.latency)) {
    const half = Math.min(0.5, (outer - inner) / 4);
    sector(context, bar.from, bar.to, inner + half, outer - half, x, y);
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.stroke();
    return;
  }
  context.fillStyle = colour;
  if (bar.isExact) {
    sector(context, bar.from, bar.to, inner, outer, x, y);
    context.fill();
    return;
  }
  const third = (outer - inner) / 3;
  sector(context, bar.from, bar.to, inner, inner + third, x, y);
  context.fill();
  sector(context, bar.from, bar.to, outer - third, outer, x, y);
  context.fill();
}

function sector(context: Context, from: number, to: number, inner: number, outer: number, x: number, y: number): void {
  context.beginPath();
  context.arc(x, y, outer, from - QUARTER, to - QUARTER);
  context.arc(x, y, inner, to - QUARTER, from - QUARTER, true);
  context.closePath();
}

/** A colour half seen. */
export function faded(hex: string, alpha: number): string {
  const [red, green, blue] = channelsOf(hex).map((channel) => Math.round(255 * channel));
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}
