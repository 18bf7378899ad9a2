// Shares of time as pixels: each column of a row is filled with what its time was spent on, from the bottom; rows too low
// for that have the mean of the colours. Pure; runs in the worker, in steps.

import { KINDS, SHARE_KINDS, type Shares } from "../../feed/shares";
import { type Band, laneLines } from "./raster";
import { STACKED } from "./share-kinds";

export interface SharePlot {
  width: number;
  height: number;
  fromNs: number;
  nsPerPixel: number;
  /** Rows from one to the other (without) of `order`. */
  bands: readonly Band[];
  /** The rank in each place. */
  order: Uint32Array;
  /** Red, green, blue and opacity of each kind, 0 to 255. */
  inks: readonly (readonly [number, number, number, number])[];
}

/** Rows lower than this have no left for parts of their height. */
const STACK_FROM = 10;
const STEP_BANDS = 8;
const STACK = STACKED.map((kind) => SHARE_KINDS.indexOf(kind));

/** What ranks spent the windows of the shares on: kind by kind, window by window, in nanoseconds; never below zero. */
export function summed(shares: Shares, ranks: Iterable<number>, [first, last] = [0, shares.windows - 1]): Float64Array {
  const { windows, rows, firstRank, ranksPerRow, units, unitNs } = shares;
  const cells = rows * windows;
  const sums = new Float64Array(KINDS * windows);
  const ranksOf = new Map<number, number>();
  for (const rank of ranks) {
    const row = Math.floor((rank - firstRank) / ranksPerRow);
    if (row >= 0 && row < rows) ranksOf.set(row, (ranksOf.get(row) ?? 0) + 1);
  }
  for (const [row, count] of ranksOf) {
    const part = (count / ranksPerRow) * unitNs;
    for (let kind = 0; kind < KINDS; kind++) {
      const from = kind * cells + row * windows;
      for (let window = first; window <= last; window++) sums[kind * windows + window] = (sums[kind * windows + window] ?? 0) + part * (units[from + window] ?? 0);
    }
  }
  for (let at = 0; at < sums.length; at++) sums[at] = Math.max(0, sums[at] ?? 0);
  return sums;
}

/** The first and the last window that a stretch of time touches. */
export function windowsOf({ fromNs, widthNs, windows }: Pick<Shares, "fromNs" | "widthNs" | "windows">, startNs: number, endNs: number): [first: number, last: number] {
  return [Math.max(0, Math.floor((startNs - fromNs) / widthNs)), Math.min(windows - 1, Math.ceil((endNs - fromNs) / widthNs) - 1)];
}

/** What falls on a stretch of time, as parts of what it could hold: windows that reach beyond it count as far as they lie in it. */
export function partsOf({ fromNs, widthNs, windows }: Shares, sums: Float64Array, ranks: number, startNs: number, endNs: number, parts: Float64Array): void {
  parts.fill(0);
  const [first, last] = windowsOf({ fromNs, widthNs, windows }, startNs, endNs);
  let all = 0;
  for (let window = first; window <= last; window++) {
    const begin = fromNs + window * widthNs;
    const inside = (Math.min(endNs, begin + widthNs) - Math.max(startNs, begin)) / widthNs;
    for (let kind = 0; kind < KINDS; kind++) {
      const ns = inside * (sums[kind * windows + window] ?? 0);
      parts[kind] = (parts[kind] ?? 0) + ns;
      all += ns;
    }
  }
  // Threads of one rank may have more time than the clock.
  const wholeNs = Math.max(all, (endNs - startNs) * ranks);
  for (let kind = 0; kind < KINDS; kind++) parts[kind] = wholeNs > 0 ? (parts[kind] ?? 0) / wholeNs : 0;
}

export function* rasterShares(pixels: Uint32Array, shares: Shares, plot: SharePlot): Generator<void> {
  const parts = new Float64Array(KINDS);
  const packed = plot.inks.map(([red, green, blue, opacity]) => ((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0);
  for (const [at, band] of plot.bands.entries()) {
    const sums = summed(shares, plot.order.subarray(band.from, band.to));
    const [top, bottom] = laneLines(band, 0, 1);
    for (let column = 0; column < plot.width; column++) {
      const startNs = plot.fromNs + column * plot.nsPerPixel;
      if (startNs + plot.nsPerPixel < 0 || startNs > shares.untilNs) continue;
      partsOf(shares, sums, band.to - band.from, startNs, startNs + plot.nsPerPixel, parts);
      if (bottom - top < STACK_FROM) {
        const ink = mixed(parts, plot.inks);
        for (let y = top; y < Math.min(bottom, plot.height); y++) pixels[y * plot.width + column] = ink;
      } else {
        stack(pixels, plot, column, top, bottom, parts, packed);
      }
    }
    if (at % STEP_BANDS === STEP_BANDS - 1) yield;
  }
}

function stack(pixels: Uint32Array, plot: SharePlot, column: number, top: number, bottom: number, parts: Float64Array, packed: readonly number[]): void {
  let [sum, y] = [0, bottom];
  for (const kind of STACK) {
    sum += parts[kind] ?? 0;
    for (const to = bottom - Math.round(sum * (bottom - top)); y > Math.max(0, to); y--) {
      if (y <= plot.height) pixels[(y - 1) * plot.width + column] = packed[kind] ?? 0;
    }
  }
}

/** The mean of the colours by their parts, as opaque as they are together. */
export function mixed(parts: Float64Array, inks: SharePlot["inks"]): number {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let kind = 0; kind < KINDS; kind++) {
    const [r, g, b, alpha] = inks[kind] ?? [0, 0, 0, 0];
    const weight = (parts[kind] ?? 0) * (alpha / 255);
    red += weight * r;
    green += weight * g;
    blue += weight * b;
    opacity += weight;
  }
  if (opacity <= 0) return 0;
  const byte = (value: number): number => Math.min(255, Math.round(value));
  return ((byte(255 * opacity) << 24) | (byte(blue / opacity) << 16) | (byte(green / opacity) << 8) | byte(red / opacity)) >>> 0;
}
