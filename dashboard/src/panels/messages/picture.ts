// A picture of the rows as the worker draws it: bars with their names on one canvas, arrows on another. The page
// can let all arrows fade but those that are meant. Goes on in small steps: whoever draws may stop in between.

import type { Span } from "../../state/perspective";
import type { Context } from "../canvas";
import { textOn } from "../what/glyph-paint";
import { type ArrowFrame, ARROWS_MOST, inSight, type MessageColumns, worst } from "./arrows";
import { type ArrowLook, paintArrows } from "./paint-arrows";
import type { Shares } from "../../feed/shares";
import { rowByRank, type Rows } from "./fold";
import { bandsOf, densityOf, laneLines, type Plot, rasterBars, rasterTime } from "./raster";
import { rasterShares } from "./raster-shares";
import { type RowCamera, yOfRow } from "./rows";
import { kindInks } from "./share-kinds";
import { type CallColumns, placesIn, type Tracks, tracksOf } from "./tracks";

/** A function that is drawn. */
export interface Ink { function: number; name: string; colour: string }

export interface Picture {
  /** Of the view, without what is drawn around it. */
  span: Span;
  width: number;
  height: number;
  camera: RowCamera;
  /** What is drawn beyond the view on each side, in pixels. */
  margin: { x: number; y: number };
  rows: Rows;
  inks: readonly Ink[];
  /** Functions that are not drawn. */
  hidden: readonly number[];
  /** Whether arrows are drawn at all; those that are meant are the page's. */
  hasArrows: boolean;
  /** Whether causes are shown where calls are too dense, rather than functions. */
  hasShares: boolean;
  look: ArrowLook & { line: string; font: string };
}

/** Figures of a picture: of the view, without what is drawn around it. */
export interface PictureSummary {
  /** Columns say how much time was spent, rather than bars which calls there were. */
  isTime: boolean;
  /** Columns say what time was spent on, by sums over all calls. */
  isShares: boolean;
  calls: number;
  /** The messages that are drawn. */
  arrows: Uint32Array;
  /** How many of these are in the view, and how many there are in it. */
  drawn: number;
  messages: number;
}

/** What is known, as the worker keeps it. */
export class Traffic {
  readonly tracks: Tracks;

  constructor(readonly calls: CallColumns, readonly messages: MessageColumns, readonly shares: Shares | null, readonly allFromNs: number, readonly share: number) {
    this.tracks = tracksOf(calls);
  }
}

/** Functions with higher numbers than this look like unknown ones. */
const FUNCTIONS_MAX = 4096;
const UNKNOWN_INK = 0xff808080;
/** Names are written in rows of at least this height. */
const LABEL_FROM = 14;
const LABEL_INSET = 4;
/** Hairlines between rows from here on. */
const LINES_FROM = 8;
/** Windows of sums that are wider than this show less than the calls, where all of these are known. */
const WINDOW_PIXELS = 16;

export function sizeOf({ width, height, margin }: Picture, ratio: number): { width: number; height: number } {
  return { width: Math.max(1, Math.round((width + 2 * margin.x) * ratio)), height: Math.max(1, Math.round((height + 2 * margin.y) * ratio)) };
}

/** Red, green, blue and opacity, in this order of bytes. */
function packed(hex: string): number {
  const value = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

function inksOf({ inks, hidden }: Picture): Uint32Array {
  const found = new Uint32Array(FUNCTIONS_MAX).fill(UNKNOWN_INK);
  for (const { function: id, colour } of inks) if (id < FUNCTIONS_MAX - 1) found[id] = packed(colour);
  for (const id of hidden) if (id < FUNCTIONS_MAX - 1) found[id] = 0;
  return found;
}

export function plotOf(picture: Picture, traffic: Traffic, ratio: number): Plot {
  const { span, width, camera, margin, rows } = picture;
  const size = sizeOf(picture, ratio);
  const nsPerPixel = (span[1] - span[0]) / (width * ratio);
  return {
    ...size, fromNs: span[0] - margin.x * ratio * nsPerPixel, nsPerPixel, order: rows.ranks,
    bands: bandsOf(rows.heads.length, camera.top - margin.y / camera.rowPixels, camera.rowPixels * ratio, size.height)
      .map((band) => ({ ...band, from: rows.from[band.from] ?? 0, to: rows.from[band.to] ?? 0 })),
    inks: inksOf(picture), allFromNs: traffic.allFromNs, share: traffic.share,
  };
}

export function frameOf({ span, width, height, camera, rows }: Pick<Picture, "span" | "width" | "height" | "camera" | "rows">): ArrowFrame {
  return { span, width, height, camera, rowOf: rowByRank(rows) };
}

/** The sums that are drawn instead of calls; null where calls show more. */
export function sharesFor({ shares, share }: Traffic, { span, width, hasShares }: Picture, isTime: boolean): Shares | null {
  if (!shares || !hasShares || !isTime || shares.rows === 0) return null;
  const isFine = (shares.widthNs / (span[1] - span[0])) * width <= WINDOW_PIXELS;
  return isFine || share < 1 ? shares : null;
}

/** Both canvases are as large as the picture, and their units are pixels of the page. */
export function* paint(bars: Context, arrows: Context, picture: Picture, traffic: Traffic, ratio: number): Generator<void, PictureSummary> {
  const plot = plotOf(picture, traffic, ratio);
  const { isTime, calls } = densityOf(traffic.tracks, traffic.calls, plotOf({ ...picture, margin: { x: 0, y: 0 } }, traffic, ratio));
  const image = bars.createImageData(plot.width, plot.height);
  const pixels = new Uint32Array(image.data.buffer);
  const shares = sharesFor(traffic, picture, isTime);
  if (shares) yield* rasterShares(pixels, shares, { ...plot, inks: kindInks(picture.look.theme) });
  else yield* (isTime ? rasterTime : rasterBars)(pixels, traffic.tracks, traffic.calls, plot);
  bars.putImageData(image, 0, 0);
  yield;
  bars.setTransform(ratio, 0, 0, ratio, picture.margin.x * ratio, picture.margin.y * ratio);
  paintLines(bars, picture);
  if (!isTime) yield* paintNames(bars, picture, traffic);
  const drawn = shares ? { arrows: new Uint32Array(0), drawn: 0, messages: 0 } : yield* paintMessages(arrows, picture, traffic, ratio, isTime);
  return { isTime, isShares: shares !== null, calls, ...drawn };
}

/** The same as rectangles, names and arrows, for a picture that leaves the page; false where columns say how much time was spent. */
export function* paintMarks(bars: Context, arrows: Context, picture: Picture, traffic: Traffic): Generator<void, boolean> {
  const { calls, tracks } = traffic;
  const plot = plotOf(picture, traffic, 1);
  if (densityOf(tracks, calls, plotOf({ ...picture, margin: { x: 0, y: 0 } }, traffic, 1)).isTime) return false;
  const colours = new Map(picture.inks.filter(({ function: id }) => !picture.hidden.includes(id)).map(({ function: id, colour }) => [id, colour]));
  const toNs = plot.fromNs + plot.width * plot.nsPerPixel;
  for (const band of plot.bands) {
    const rank = plot.order[band.from] ?? 0;
    const [first, end] = placesIn(tracks, calls, rank, plot.fromNs, toNs);
    for (let place = first; place < end; place++) {
      const call = tracks.items[place] ?? 0;
      const colour = colours.get(calls.function[call] ?? -1);
      const left = Math.max(0, ((calls.startNs[call] ?? 0) - plot.fromNs) / plot.nsPerPixel);
      const right = Math.min(plot.width, ((calls.startNs[call] ?? 0) + (calls.durationNs[call] ?? 0) - plot.fromNs) / plot.nsPerPixel);
      if (colour === undefined || right < 0) continue;
      const [from, to] = laneLines(band, tracks.lane[place] ?? 0, tracks.lanes[rank] ?? 1);
      bars.fillStyle = colour;
      bars.fillRect(left, from, Math.max(0.5, right - left), to - from);
    }
    yield;
  }
  bars.setTransform(1, 0, 0, 1, picture.margin.x, picture.margin.y);
  paintLines(bars, picture);
  yield* paintNames(bars, picture, traffic);
  yield* paintMessages(arrows, picture, traffic, 1, false);
  return true;
}

type DrawnArrows = Pick<PictureSummary, "arrows" | "drawn" | "messages">;

function* paintMessages(context: Context, picture: Picture, { messages }: Traffic, ratio: number, isTime: boolean): Generator<void, DrawnArrows> {
  if (!picture.hasArrows) return { arrows: new Uint32Array(0), drawn: 0, messages: 0 };
  const frame = frameOf(picture);
  const candidates = inSight(messages, frame, Math.max(picture.margin.x, picture.margin.y));
  yield;
  const arrows = worst(messages, candidates, ARROWS_MOST);
  yield;
  const inView = inSight(messages, frame, 0);
  const isDrawn = new Set(arrows);
  context.setTransform(ratio, 0, 0, ratio, picture.margin.x * ratio, picture.margin.y * ratio);
  yield* paintArrows(context, messages, arrows, frame, picture.look, isTime);
  return { arrows, drawn: inView.reduce((sum, at) => sum + (isDrawn.has(at) ? 1 : 0), 0), messages: inView.length };
}

function paintLines(context: Context, { camera, rows, width, height, margin, look }: Picture): void {
  if (camera.rowPixels < LINES_FROM) return;
  context.fillStyle = look.line;
  for (let row = 0; row <= rows.heads.length; row++) {
    const y = Math.round(yOfRow(camera, row));
    if (y >= -margin.y && y <= height + margin.y) context.fillRect(-margin.x, y - 1, width + 2 * margin.x, 1);
  }
}

/** Names within bars, as far as they fit into what is in the view. */
function* paintNames(context: Context, picture: Picture, { calls, tracks }: Traffic): Generator<void> {
  const { camera, rows, span, width, height, look } = picture;
  if (camera.rowPixels < LABEL_FROM) return;
  const inks = new Map(picture.inks.filter(({ function: id }) => !picture.hidden.includes(id)).map((ink) => [ink.function, { ...ink, text: textOn(ink.colour) }]));
  const widths = new Map<string, number>();
  context.font = `11px ${look.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const widthOf = (text: string): number => {
    const known = widths.get(text) ?? context.measureText(text).width;
    widths.set(text, known);
    return known;
  };
  const xOf = (ns: number): number => ((ns - span[0]) / (span[1] - span[0])) * width;
  for (let row = Math.max(0, Math.floor(camera.top)); row < rows.heads.length && yOfRow(camera, row) < height; row++) {
    const rank = rows.heads[row] ?? 0;
    const lanes = tracks.lanes[rank] ?? 1;
    if (camera.rowPixels / lanes < LABEL_FROM) continue;
    const [first, end] = placesIn(tracks, calls, rank, span[0], span[1]);
    for (let place = first; place < end; place++) {
      const call = tracks.items[place] ?? 0;
      const ink = inks.get(calls.function[call] ?? -1);
      if (!ink) continue;
      const start = calls.startNs[call] ?? 0;
      const [left, right] = [Math.max(0, xOf(start)), Math.min(width, xOf(start + (calls.durationNs[call] ?? 0)))];
      const text = [ink.name, ink.name.replace(/^P?MPI_/, "")].find((each) => widthOf(each) + 2 * LABEL_INSET <= right - left);
      if (text === undefined) continue;
      context.fillStyle = ink.text;
      context.fillText(text, left + LABEL_INSET, yOfRow(camera, row) + ((tracks.lane[place] ?? 0) + 0.5) * (camera.rowPixels / lanes));
    }
    if (row % 16 === 15) yield;
  }
}
