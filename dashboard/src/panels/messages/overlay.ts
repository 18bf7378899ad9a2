// What lies over the picture of the rows and changes without a new one: time, heads of rows, selected range, cursor, calls
// that still run, what is pointed at. Canvases of the page; all in pixels of the page.

import type { InFlight } from "../../feed/calls";
import type { RegionMark } from "../../palette/regions";
import type { Span } from "../../state/perspective";
import { nice } from "../../state/span";
import { clock } from "../../words";
import type { Colours } from "../colours";
import { LEFT, RIGHT, ticksOf } from "../timeline/scale";
import { type ArrowFrame, xOfTime } from "./arrows";
import type { Rows } from "./fold";
import { laneLines } from "./raster";
import { NAME_FROM, rowsInSight, yOfRow } from "./rows";

type Context = CanvasRenderingContext2D;

/** Of the words of time above the rows. */
export const TOP = 22;
/** Between two labels of the axis of time. */
/** Between two names of rows. */
const NAME_PIXELS = 15;
const MARK = { left: 4, width: 8 };
const THUMB_LEAST = 24;

/** A colour at the head of a row, with a second mark where it is repeated; null where there is nothing to mark. */
export interface HeadMark { colour: string; mark: RegionMark }

export function paintTime(context: Context, { span, width, height }: ArrowFrame, colour: Colours): void {
  const { atNs, digits } = ticksOf({ span, width });
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const ns of atNs) {
    const x = Math.round(LEFT + xOfTime({ span, width }, ns));
    const text = clock(ns + 0.5, digits);
    context.fillStyle = colour.edge;
    context.fillRect(x, TOP - 6, 1, 6);
    if (x + 4 + context.measureText(text).width > LEFT + width + RIGHT) continue;
    context.fillStyle = colour.soft;
    context.fillText(text, x + 4, TOP / 2);
  }
  context.fillStyle = colour.line;
  context.fillRect(0, TOP - 1, LEFT + width + RIGHT, 1);
  context.fillRect(LEFT - 1, TOP, 1, height);
}

/** Lines of time behind the bars, from the upper left corner of the rows. */
export function paintGrid(context: Context, { span, width, height }: ArrowFrame, colour: Colours): void {
  context.fillStyle = colour.line;
  for (const ns of ticksOf({ span, width }).atNs) context.fillRect(Math.round(xOfTime({ span, width }, ns)), 0, 1, height);
}

export interface Heads {
  rows: Rows;
  nameOf(row: number): string;
  /** Whether a rank was searched for or selected. */
  isMarked(rank: number): boolean;
  markOf(rank: number): HeadMark | null;
  /** With the keyboard, under the pointer, and taken by it; -1: none. */
  focused: number;
  pointed: number;
  dragged: number;
}

export function paintHeads(context: Context, { camera, height }: ArrowFrame, { rows, nameOf, isMarked, markOf, focused, pointed, dragged }: Heads, colour: Colours): void {
  const { rowPixels } = camera;
  const [from, to] = rowsInSight(camera, { rows: rows.heads.length, height });
  context.font = context.font.replace(/^\d+px/, `${Math.min(12, Math.max(10, Math.floor(rowPixels) - 1))}px`);
  context.textAlign = "right";
  context.textBaseline = "middle";
  const every = rowPixels >= NAME_FROM ? 1 : Math.max(1, Math.round(nice(NAME_PIXELS / rowPixels)));
  let line = -1;
  for (let row = from; row < to; row++) {
    const rank = rows.heads[row] ?? 0;
    const isFound = hasMarked(rows, row, isMarked);
    const y = TOP + yOfRow(camera, row);
    // Of several in one line of pixels the first is marked.
    const mark = Math.floor(y) === line ? null : markOf(rank);
    line = Math.floor(y);
    if (mark) paintMark(context, mark, y, rowPixels, colour);
    const isMeant = isFound || rank === focused || rank === pointed || rank === dragged;
    if (isMeant) {
      context.fillStyle = isFound || rank === focused ? colour.accent : colour.edge;
      context.fillRect(0, y, 3, Math.max(2, rowPixels));
    }
    if (row % every !== 0 && !isFound) continue;
    context.fillStyle = isMeant ? colour.text : colour.soft;
    // Of lower rows the names of the first and the last stay whole.
    context.fillText(nameOf(row), LEFT - 8, rowPixels >= NAME_FROM ? y + rowPixels / 2 : Math.min(TOP + height - NAME_PIXELS / 2, Math.max(TOP + NAME_PIXELS / 2, y + rowPixels / 2)));
  }
}

function hasMarked({ ranks, from }: Rows, row: number, isMarked: (rank: number) => boolean): boolean {
  for (let at = from[row] ?? 0; at < (from[row + 1] ?? 0); at++) if (isMarked(ranks[at] ?? -1)) return true;
  return false;
}

/** Lines above and below rows that were searched for or selected, from the upper left corner of the rows. */
export function paintFound(context: Context, { camera, width, height }: ArrowFrame, rows: Rows, isMarked: (rank: number) => boolean, colour: Colours): void {
  const [from, to] = rowsInSight(camera, { rows: rows.heads.length, height });
  context.fillStyle = colour.accent;
  for (let row = from; row < to; row++) {
    if (!hasMarked(rows, row, isMarked)) continue;
    const y = yOfRow(camera, row);
    const isLast = row + 1 === rows.heads.length || !hasMarked(rows, row + 1, isMarked);
    if (row === 0 || !hasMarked(rows, row - 1, isMarked)) context.fillRect(0, Math.round(y) - 1, width, 1);
    if (isLast) context.fillRect(0, Math.round(y + Math.max(2, camera.rowPixels)), width, 1);
  }
}

function paintMark(context: Context, { colour: mine, mark }: HeadMark, y: number, rowPixels: number, colour: Colours): void {
  const [top, height] = [rowPixels > 6 ? y + 1 : y, rowPixels > 6 ? rowPixels - 3 : Math.max(1, rowPixels)];
  context.fillStyle = mine;
  context.fillRect(MARK.left, top, MARK.width, height);
  if (mark === "full" || height < 8) return;
  context.fillStyle = colour.ground;
  const [x, middle] = [MARK.left + MARK.width / 2, top + height / 2];
  if (mark === "ring") context.fillRect(MARK.left + 2, top + 2, MARK.width - 4, height - 4);
  else if (mark === "bar") context.fillRect(MARK.left, middle - 1, MARK.width, 2);
  else context.fillRect(x - 1.5, middle - 1.5, 3, 3);
}

/** How much of the rows is in sight, at the right edge; null where all are. */
export function thumbOf({ camera, height }: ArrowFrame, rows: number): { y: number; height: number } | null {
  const fits = height / camera.rowPixels;
  if (fits >= rows - 1e-6) return null;
  const length = Math.max(THUMB_LEAST, (fits / rows) * height);
  return { y: (camera.top / (rows - fits)) * (height - length), height: length };
}

export function paintThumb(context: Context, frame: ArrowFrame, rows: number, colour: Colours): void {
  const thumb = thumbOf(frame, rows);
  if (!thumb) return;
  context.fillStyle = colour.edge;
  context.beginPath();
  context.roundRect(LEFT + frame.width + 3, TOP + thumb.y, RIGHT - 5, thumb.height, 3);
  context.fill();
}

export interface Marks {
  rangeNs: Span | null;
  cursorNs: number;
  /** What is known reaches from one to the other; the run goes on to a third. */
  knownNs: Span | null;
  edgeNs: number;
  /** Nothing will come after the edge. */
  isOver: boolean;
}

/** From the upper left corner of the rows. */
export function paintMarks(context: Context, frame: ArrowFrame, { rangeNs, cursorNs, knownNs, edgeNs, isOver }: Marks, colour: Colours): void {
  const { span, width, height } = frame;
  if (knownNs) {
    hatch(context, xOfTime(frame, Math.max(0, span[0])), xOfTime(frame, knownNs[0]), frame, colour);
    hatch(context, xOfTime(frame, knownNs[1]), xOfTime(frame, edgeNs), frame, colour);
  }
  if (!isOver && edgeNs < span[1]) {
    context.fillStyle = colour.good;
    context.fillRect(Math.round(xOfTime(frame, edgeNs)), 0, 1, height);
  }
  if (rangeNs) {
    const [from, to] = [Math.max(0, xOfTime(frame, rangeNs[0])), Math.min(width, xOfTime(frame, rangeNs[1]))];
    context.fillStyle = colour.accent;
    context.globalAlpha = 0.14;
    if (to > 0 && from < width) context.fillRect(from, -TOP, Math.max(1, to - from), height + TOP);
    context.globalAlpha = 1;
    for (const ns of rangeNs) {
      const x = xOfTime(frame, ns);
      if (x >= 0 && x <= width) context.fillRect(Math.round(x), -TOP, 1, height + TOP);
    }
  }
  const x = xOfTime(frame, cursorNs);
  if (x < 0 || x > width + 1) return;
  context.fillStyle = colour.text;
  context.fillRect(Math.round(x) - 1, -6, 2, height + 6);
}

/** Where nothing is known yet. */
function hatch(context: Context, fromX: number, toX: number, { width, height }: ArrowFrame, colour: Colours): void {
  const [from, to] = [Math.max(0, fromX), Math.min(width, toX)];
  if (to - from < 1) return;
  context.save();
  context.beginPath();
  context.rect(from, 0, to - from, height);
  context.clip();
  context.strokeStyle = colour.line;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let x = from - height; x < to; x += 8) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

/** Calls that have not returned reach up to where the run is; their end is open, so they are half as strong. */
export function paintRunning(context: Context, frame: ArrowFrame, inFlight: InFlight, toNs: number, hidden: ReadonlySet<number>, colourOf: (id: number) => string): void {
  context.globalAlpha = 0.55;
  for (let at = 0; at < inFlight.length; at++) {
    const row = frame.rowOf[inFlight.rank[at] ?? 0] ?? -1;
    const id = inFlight.function[at] ?? 0;
    const sinceNs = inFlight.sinceNs[at] ?? 0;
    if (row < 0 || hidden.has(id) || sinceNs > frame.span[1] || toNs < frame.span[0]) continue;
    const y = yOfRow(frame.camera, row);
    if (y > frame.height || y + frame.camera.rowPixels < 0) continue;
    const [from, to] = [Math.max(0, xOfTime(frame, sinceNs)), Math.min(frame.width, xOfTime(frame, toNs))];
    context.fillStyle = colourOf(id);
    context.fillRect(from, y, Math.max(1, to - from), Math.max(1, frame.camera.rowPixels - 1));
  }
  context.globalAlpha = 1;
}

/** Around a bar. */
export function paintRing(context: Context, frame: ArrowFrame, at: { row: number; lane: number; lanes: number; startNs: number; endNs: number }, colour: string, width: number): void {
  const y = yOfRow(frame.camera, at.row);
  const [top, bottom] = laneLines({ y0: y, y1: y + frame.camera.rowPixels, from: 0, to: 1 }, at.lane, at.lanes);
  const [from, to] = [Math.max(-4, xOfTime(frame, at.startNs)), Math.min(frame.width + 4, xOfTime(frame, at.endNs))];
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(from - width / 2, top - width / 2, Math.max(1, to - from) + width, Math.max(2, bottom - top) + width);
}
