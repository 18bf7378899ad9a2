// Calls as pixels. Where calls can be distinguished each is a bar, a pixel wide at least. Where they are thinner than pixels,
// each column of a row is filled as far as its time was spent in MPI, by function; rows that are too low for that, and
// pixels that several ranks share, have the colour of the function that took most of it, the fainter the less there was.
// Pure; runs in the worker, in steps.

import { type CallColumns, placesIn, type Tracks } from "./tracks";

/** What is drawn, in device pixels. */
export interface Plot {
  width: number;
  height: number;
  /** The time at the left edge. */
  fromNs: number;
  nsPerPixel: number;
  bands: readonly Band[];
  /** The rank in each row. */
  order: Uint32Array;
  /** By function: red, green, blue and opacity in this order of bytes; 0 is not drawn. Functions beyond have the last. */
  inks: Uint32Array;
  /** Calls shorter than this are here only in part. */
  allFromNs: number;
  /** That part. */
  share: number;
}

/** Rows from one to the other (without), on lines of pixels likewise. */
export interface Band { y0: number; y1: number; from: number; to: number }

/** Rows lower than this have no room for parts of their height. */
const STACK_FROM = 10;
/** Of a row in pixels, what stays free below it. */
const GAP_FROM = 6;
/** Calls in a column of a row that has any: with more they are not distinguished. */
const CROWD = 1.5;
/** What little is left of the colour of a function that took nearly no time. */
const FAINTEST = 0.3;
/** Steps are cut after this number of bands. */
const STEP_BANDS = 8;

/** Rows as lines of pixels: several rows where they are lower than one. Each row is in one band. */
export function bandsOf(rows: number, top: number, rowPixels: number, height: number): Band[] {
  const bands: Band[] = [];
  const toLine = rowPixels < 1 ? Math.floor : Math.round;
  const edge = (row: number): number => toLine((row - top) * rowPixels);
  let from = Math.max(0, Math.floor(top));
  for (let row = from; row < rows && edge(from) < height; row++) {
    if (edge(row + 1) <= edge(from)) continue;
    if (edge(row + 1) > 0) bands.push({ y0: Math.max(0, edge(from)), y1: Math.min(height, edge(row + 1)), from, to: row + 1 });
    from = row + 1;
  }
  const last = bands.at(-1);
  // The last ones may be too few for a line of their own.
  if (last && from < rows && edge(from) < height) last.to = rows;
  return bands;
}

export interface Density {
  /** Calls that are in the picture. */
  calls: number;
  /** Whether columns say how much time was spent, rather than bars which calls there were. */
  isTime: boolean;
}

export function densityOf(tracks: Tracks, calls: CallColumns, plot: Plot): Density {
  const toNs = plot.fromNs + plot.width * plot.nsPerPixel;
  let [all, narrow, columns] = [0, 0, 0];
  eachRank(plot, (rank) => {
    const [first, end] = placesIn(tracks, calls, rank, plot.fromNs, toNs);
    let before = -1;
    for (let place = first; place < end; place++) {
      const call = tracks.items[place] ?? 0;
      const [start, length] = [calls.startNs[call] ?? 0, calls.durationNs[call] ?? 0];
      if (start + length < plot.fromNs || inkOf(plot, calls, call) === 0) continue;
      all++;
      if (length >= plot.nsPerPixel) continue;
      const column = Math.floor((start - plot.fromNs) / plot.nsPerPixel);
      narrow += length < plot.allFromNs ? 1 / plot.share : 1;
      if (column !== before) columns++;
      before = column;
    }
  });
  const isLow = plot.bands.some(({ y0, y1, from, to }) => to - from > 1 || y1 - y0 < 2);
  return { calls: all, isTime: isLow || narrow > CROWD * columns };
}

function eachRank({ bands, order }: Plot, visit: (rank: number) => void): void {
  for (const { from, to } of bands) {
    for (let row = from; row < to; row++) visit(order[row] ?? 0);
  }
}

function inkOf({ inks }: Plot, calls: CallColumns, call: number): number {
  return inks[Math.min(inks.length - 1, calls.function[call] ?? 0)] ?? 0;
}

/** The lines of pixels that a lane of a band has. */
export function laneLines({ y0, y1 }: Band, lane: number, lanes: number): [from: number, to: number] {
  const height = y1 - y0 - (y1 - y0 >= GAP_FROM ? 1 : 0);
  const from = y0 + Math.round((lane * height) / lanes);
  return [from, Math.max(from + 1, y0 + Math.round(((lane + 1) * height) / lanes))];
}

/** Each call a bar; those that began later, and so those within others, lie on top. */
export function* rasterBars(pixels: Uint32Array, tracks: Tracks, calls: CallColumns, plot: Plot): Generator<void> {
  const toNs = plot.fromNs + plot.width * plot.nsPerPixel;
  for (const [at, band] of plot.bands.entries()) {
    const rank = plot.order[band.from] ?? 0;
    const [first, end] = placesIn(tracks, calls, rank, plot.fromNs, toNs);
    for (let place = first; place < end; place++) {
      const call = tracks.items[place] ?? 0;
      const start = calls.startNs[call] ?? 0;
      const ink = inkOf(plot, calls, call);
      const endNs = start + (calls.durationNs[call] ?? 0);
      if (ink === 0 || endNs < plot.fromNs) continue;
      const left = Math.max(0, Math.round((start - plot.fromNs) / plot.nsPerPixel));
      const right = Math.min(plot.width, Math.max(left + 1, Math.round((endNs - plot.fromNs) / plot.nsPerPixel)));
      const [from, to] = laneLines(band, tracks.lane[place] ?? 0, tracks.lanes[rank] ?? 1);
      for (let y = from; y < Math.min(to, plot.height); y++) pixels.fill(ink, y * plot.width + left, y * plot.width + right);
    }
    if (at % STEP_BANDS === STEP_BANDS - 1) yield;
  }
}

/** Time in MPI by function and column of pixels. Functions differ by their colour, and lie upon each other in the same order everywhere. */
export class Sums {
  readonly inks: readonly number[];
  private readonly slots: ReadonlyMap<number, number>;
  private readonly sums: Float64Array;

  constructor(readonly columns: number, inks: Iterable<number>) {
    this.inks = [...new Set(inks)].filter((ink) => ink !== 0);
    this.slots = new Map(this.inks.map((ink, slot) => [ink, slot]));
    this.sums = new Float64Array(this.inks.length * columns);
  }

  clear(): void {
    this.sums.fill(0);
  }

  at(slot: number, column: number): number {
    return this.sums[slot * this.columns + column] ?? 0;
  }

  /** From one place to another in columns; the weight is what each of it stands for. */
  add(ink: number, fromX: number, toX: number, weight: number): void {
    const row = (this.slots.get(ink) ?? 0) * this.columns;
    const [from, to] = [Math.max(0, fromX), Math.min(this.columns, toX)];
    for (let column = Math.floor(from); column < to; column++) {
      this.sums[row + column] = (this.sums[row + column] ?? 0) + weight * (Math.min(to, column + 1) - Math.max(from, column));
    }
  }
}

export function* rasterTime(pixels: Uint32Array, tracks: Tracks, calls: CallColumns, plot: Plot): Generator<void> {
  const sums = new Sums(plot.width, plot.inks);
  for (const [at, band] of plot.bands.entries()) {
    sums.clear();
    let lanes = 0;
    for (let row = band.from; row < band.to; row++) {
      const rank = plot.order[row] ?? 0;
      lanes += tracks.lanes[rank] ?? 1;
      addRank(sums, tracks, calls, plot, rank);
    }
    for (let column = 0; column < plot.width; column++) paintColumn(pixels, plot, band, sums, column, lanes);
    if (at % STEP_BANDS === STEP_BANDS - 1) yield;
  }
}

function addRank(sums: Sums, tracks: Tracks, calls: CallColumns, plot: Plot, rank: number): void {
  const [first, end] = placesIn(tracks, calls, rank, plot.fromNs, plot.fromNs + plot.width * plot.nsPerPixel);
  for (let place = first; place < end; place++) {
    const call = tracks.items[place] ?? 0;
    const ink = inkOf(plot, calls, call);
    if (ink === 0) continue;
    const [start, length] = [calls.startNs[call] ?? 0, calls.durationNs[call] ?? 0];
    const x = (start - plot.fromNs) / plot.nsPerPixel;
    sums.add(ink, x, x + length / plot.nsPerPixel, length < plot.allFromNs ? 1 / plot.share : 1);
  }
}

function paintColumn(pixels: Uint32Array, plot: Plot, band: Band, sums: Sums, column: number, lanes: number): void {
  let [all, most, mostSlot] = [0, 0, -1];
  for (let slot = 0; slot < sums.inks.length; slot++) {
    const sum = sums.at(slot, column);
    all += sum;
    if (sum > most) [most, mostSlot] = [sum, slot];
  }
  if (mostSlot < 0) return;
  const [top, bottom] = laneLines(band, 0, 1);
  const height = bottom - top;
  // What few calls stand for may come out as more than there is.
  const scale = 1 / Math.max(lanes, all);
  if (height < STACK_FROM) {
    const ink = faint(sums.inks[mostSlot] ?? 0, FAINTEST + (1 - FAINTEST) * all * scale);
    for (let y = top; y < bottom; y++) pixels[y * plot.width + column] = ink;
    return;
  }
  let [sum, y] = [0, bottom];
  for (let slot = 0; slot < sums.inks.length; slot++) {
    sum += sums.at(slot, column) * scale;
    for (const to = bottom - Math.round(sum * height); y > to; y--) pixels[(y - 1) * plot.width + column] = sums.inks[slot] ?? 0;
  }
  // However little it was, there was something.
  if (y === bottom) pixels[(bottom - 1) * plot.width + column] = sums.inks[mostSlot] ?? 0;
}

/** With some of its opacity. */
export function faint(ink: number, part: number): number {
  return ((ink & 0xffffff) | (Math.round((ink >>> 24) * Math.min(1, part)) << 24)) >>> 0;
}
