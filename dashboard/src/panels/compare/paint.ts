// Draws A above B on one axis of time and one scale, with where each ended.

import { nice } from "../../state/span";
import { axisCount, clock } from "../../words";
import { prepare, snap } from "../canvas";
import type { Colours } from "../colours";
import { LEFT, RIGHT, ticksOf } from "../timeline/scale";
import type { Stacks } from "./layout";

export const RULER = 20;
/** The rows of an aligned picture: how much longer B took, and turns or phases. */
const LOSSES = 40;
const MARKS = 18;
const MARK_PIXELS = 48;
const GAP = 12;
const LINES = 3;
const GAP_FROM_PIXELS = 6;

export interface Picture {
  stacks: Stacks;
  /** Where each ends on the axis. */
  endsNs: readonly [number, number];
  /** The same in the own time of each. */
  ownEndsNs: readonly [number, number];
  /** How much longer B took for each slot, in seconds; empty where runs are not aligned. */
  losses: Float64Array;
  /** Where turns or phases begin, and what they are. */
  marks: { ns: Float64Array; names: readonly string[]; kind: string };
  /** The slot that is pointed at. */
  slot: number | null;
  /** A value of the axis, in words. */
  axis: (value: number) => string;
  /** The text for a recording without anything. */
  nothing: readonly [string, string];
}

export function plotWidth(width: number): number {
  return Math.max(1, width - LEFT - RIGHT);
}

/** The time at a place. */
export function nsAt({ slots, widthNs }: Stacks, width: number, x: number): number {
  return ((x - LEFT) / plotWidth(width)) * slots * widthNs;
}

export function paint(canvas: HTMLCanvasElement, picture: Picture, colour: Colours): void {
  const ready = prepare(canvas);
  if (!ready) return;
  const { context, width, height, ratio } = ready;
  const { stacks } = picture;
  const wholeNs = Math.max(1, stacks.slots * stacks.widthNs);
  const wide = plotWidth(width);
  const xOf = (ns: number): number => LEFT + (ns / wholeNs) * wide;
  const isAligned = picture.losses.length > 0;
  const below = isAligned ? LOSSES + GAP + MARKS : 0;
  const plotHeight = (height - RULER - GAP - below) / 2;
  const step = stacks.most > 0 ? nice(stacks.most / LINES) : 1;
  const top = Math.max(step, Math.ceil(stacks.most / step - 1e-9) * step);
  timeAxis(context, { wholeNs, wide, height, width }, xOf, colour);
  (["a", "b"] as const).forEach((side, at) => {
    const bottom = plotHeight + at * (plotHeight + GAP);
    const yOf = (value: number): number => bottom - (value / top) * (plotHeight - 6);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let value = 0; value <= top * 1.0001 && stacks.most > 0; value += step) {
      const y = Math.round(yOf(value));
      context.fillStyle = value > 0 ? colour.line : colour.edge;
      context.fillRect(LEFT, y, wide, 1);
      context.fillStyle = colour.soft;
      // The letter of the recording stands at its ground.
      if (value > 0) context.fillText(picture.axis(value), LEFT - 8, Math.max(7, y));
    }
    context.fillStyle = colour.text;
    context.font = context.font.replace("12px", "600 13px");
    context.fillText(side.toUpperCase(), LEFT - 8, bottom - 8);
    context.font = context.font.replace("600 13px", "12px");
    paintStacks(context, stacks, side, { xOf, yOf, ratio, slotPixels: (stacks.widthNs / wholeNs) * wide, endNs: picture.endsNs[at] ?? wholeNs });
    const nothing = picture.nothing[at] ?? "";
    if (nothing) {
      context.textAlign = "left";
      context.fillStyle = colour.soft;
      context.fillText(nothing, LEFT + 8, bottom - plotHeight / 2);
    }
    ended(context, xOf(picture.endsNs[at] ?? 0), bottom, plotHeight, `${side.toUpperCase()} ends ${picture.ownEndsNs[at] === picture.endsNs[at] ? "" : "at its "}${clock(picture.ownEndsNs[at] ?? 0)}`, colour, LEFT + wide);
  });
  if (isAligned) {
    const top = 2 * plotHeight + 2 * GAP;
    paintLosses(context, picture, { xOf, top, wide }, colour);
    paintMarks(context, picture, { xOf, top: top + LOSSES, right: width }, colour);
  }
  if (picture.slot !== null) {
    const from = xOf(picture.slot * stacks.widthNs);
    context.strokeStyle = colour.text;
    context.lineWidth = 1;
    context.strokeRect(Math.round(from) - 0.5, 0.5, Math.max(2, Math.round(xOf((picture.slot + 1) * stacks.widthNs) - from) + 1), height - RULER - 1);
  }
}

/** Above the middle where B took longer, below it where B took less. */
function paintLosses(context: CanvasRenderingContext2D, { losses, stacks }: Picture, { xOf, top, wide }: { xOf: (ns: number) => number; top: number; wide: number }, colour: Colours): void {
  const most = losses.reduce((most, loss) => Math.max(most, Math.abs(loss)), 0);
  const middle = Math.round(top + LOSSES / 2);
  context.fillStyle = colour.edge;
  context.fillRect(LEFT, middle, wide, 1);
  context.fillStyle = colour.text;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("B\u2212A", LEFT - 8, middle);
  if (most <= 0) return;
  losses.forEach((loss, slot) => {
    const size = Math.round((Math.abs(loss) / most) * (LOSSES / 2 - 1));
    if (size === 0) return;
    const left = xOf(slot * stacks.widthNs);
    context.fillStyle = loss > 0 ? colour.bad : colour.good;
    context.fillRect(left, loss > 0 ? middle - size : middle + 1, Math.max(1, xOf((slot + 1) * stacks.widthNs) - left), size);
  });
}

/** As many turns or phases as there is room for. */
function paintMarks(context: CanvasRenderingContext2D, { marks: { ns, names, kind } }: Picture, { xOf, top, right }: { xOf: (ns: number) => number; top: number; right: number }, colour: Colours): void {
  context.textAlign = "left";
  context.textBaseline = "middle";
  let free = LEFT;
  ns.forEach((atNs, at) => {
    const x = Math.round(xOf(atNs));
    const words = kind === "turn" && at === 0 ? `turn ${names[at] ?? ""}` : names[at] ?? "";
    const end = x + 4 + context.measureText(words).width;
    // Of phases, those that have room for their name are shown; of turns, some.
    const until = kind === "phase" && at + 1 < ns.length ? xOf(ns[at + 1] ?? 0) : right;
    if (x < free || end > until) return;
    context.fillStyle = colour.soft;
    context.fillRect(x, top + 2, 1, MARKS - 4);
    context.fillText(words, x + 4, top + MARKS / 2);
    free = Math.max(end + 8, x + MARK_PIXELS);
  });
}

interface Place { xOf: (ns: number) => number; yOf: (value: number) => number; ratio: number; slotPixels: number; endNs: number }

function paintStacks(context: CanvasRenderingContext2D, { rows, slots, widthNs }: Stacks, side: "a" | "b", { xOf, yOf, ratio, slotPixels, endNs }: Place): void {
  const base = new Float64Array(slots);
  // A gap of one pixel keeps wide bars apart; between narrow ones it would be a pattern of its own.
  const gap = slotPixels >= GAP_FROM_PIXELS ? 1 / ratio : 0;
  for (const row of rows) {
    context.fillStyle = row.colour;
    context.beginPath();
    row[side].forEach((value, slot) => {
      if (!(value > 0)) return;
      const below = base[slot] ?? 0;
      base[slot] = below + value;
      const left = snap(xOf(slot * widthNs), ratio);
      // The last one ends where the run does.
      const right = snap(xOf(Math.max(slot * widthNs, Math.min((slot + 1) * widthNs, endNs))), ratio);
      const low = snap(yOf(below), ratio);
      context.rect(left, snap(yOf(below + value), ratio), Math.max(1 / ratio, right - left - gap), low - snap(yOf(below + value), ratio));
    });
    context.fill();
  }
}

/** The mark of the end, with its words on the side where there is room. */
function ended(context: CanvasRenderingContext2D, x: number, bottom: number, height: number, words: string, colour: Colours, right: number): void {
  context.fillStyle = colour.text;
  context.fillRect(Math.round(x) - 1, bottom - height + 2, 2, height - 2);
  context.textBaseline = "middle";
  const wide = context.measureText(words).width;
  const fits = x + 8 + wide < right;
  const left = fits ? x + 8 : x - 8 - wide;
  context.fillStyle = colour.ground;
  context.globalAlpha = 0.85;
  context.fillRect(left - 4, bottom - height + 2, wide + 8, 18);
  context.globalAlpha = 1;
  context.fillStyle = colour.text;
  context.textAlign = "left";
  context.fillText(words, left, bottom - height + 11);
}

function timeAxis(context: CanvasRenderingContext2D, { wholeNs, wide, height, width }: { wholeNs: number; wide: number; height: number; width: number }, xOf: (ns: number) => number, colour: Colours): void {
  const { atNs, digits } = ticksOf({ span: [0, wholeNs], width: wide });
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const ns of atNs) {
    const x = Math.round(xOf(ns));
    context.fillStyle = colour.line;
    context.fillRect(x, 0, 1, height - 4);
    const words = clock(ns + 0.5, digits);
    if (x + 4 + context.measureText(words).width > width) continue;
    context.fillStyle = colour.soft;
    context.fillText(words, x + 4, height - 8);
  }
}

/** The axes of counts and of seconds. */
export const AXES = {
  calls: axisCount,
  seconds: (value: number): string => `${Number(value.toPrecision(3))}\u2009s`,
} as const;
