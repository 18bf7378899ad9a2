// Figures over ranks: their order, how many have which value, how two of them go together. Pure.

import type { Scale } from "./scale";

/** Ranks by value, the greatest first; those whose value is not known are left out. */
export function ordered(values: ArrayLike<number>): Uint32Array {
  const ranks = Uint32Array.from({ length: values.length }, (_, rank) => rank).filter((rank) => Number.isFinite(values[rank]));
  return ranks.sort((one, other) => (values[other] ?? 0) - (values[one] ?? 0) || one - other);
}

export interface Bins { counts: Uint32Array; from: number; width: number }

/** All bins have one width; where all values are equal there is one bin. */
export function binned(values: ArrayLike<number>, { least, most }: Scale, bins: number): Bins {
  const used = most > least ? Math.max(1, bins) : 1;
  const width = most > least ? (most - least) / used : 0;
  const counts = new Uint32Array(used);
  for (let rank = 0; rank < values.length; rank++) {
    const bin = binOf(values[rank] ?? NaN, least, width, used);
    if (bin >= 0) counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { counts, from: least, width };
}

export function binOf(value: number, from: number, width: number, bins: number): number {
  if (!Number.isFinite(value)) return -1;
  return width > 0 ? Math.min(bins - 1, Math.floor((value - from) / width)) : 0;
}

const ALONE = { pixels: 3, opacity: 0.9 };
/** From this number of others in its cell, a dot is one of a crowd. */
const CROWD = 8;
const CELL_PIXELS = 8;

/**
 * How a dot is drawn: the more ranks there are, the smaller and fainter, to tell many in one place from few. A dot that
 * stands alone is drawn larger. `others`: how many dots are in its cell.
 */
export function dotsOf(ranks: number, others: number): { pixels: number; opacity: number } {
  const pixels = Math.min(7, Math.max(1.5, 12 / Math.max(1, ranks) ** 0.2));
  const opacity = Math.min(ALONE.opacity, Math.max(0.25, 6 / Math.max(1, ranks) ** 0.3));
  const alone = Math.max(0, 1 - (others - 1) / CROWD);
  return { pixels: pixels + Math.max(0, ALONE.pixels - pixels) * alone, opacity: opacity + (ALONE.opacity - opacity) * alone };
}

/** Of each rank, how many dots lie in its cell of the picture. */
export function crowdsOf(x: ArrayLike<number>, y: ArrayLike<number>, acrossOf: (value: number) => number, upOf: (value: number) => number): Uint32Array {
  const cells = new Map<number, number>();
  const cellOf = (rank: number): number => Math.floor(acrossOf(x[rank] ?? NaN) / CELL_PIXELS) * 65_536 + Math.floor(upOf(y[rank] ?? NaN) / CELL_PIXELS);
  const found = Uint32Array.from({ length: x.length }, (_, rank) => rank);
  for (const rank of found) cells.set(cellOf(rank), (cells.get(cellOf(rank)) ?? 0) + 1);
  return found.map((rank) => cells.get(cellOf(rank)) ?? 0);
}

export interface Fit { slope: number; offset: number; correlation: number; ranks: number }

/** The line of least squares, and Pearson's coefficient; null where one of the two does not differ. */
export function fitOf(x: ArrayLike<number>, y: ArrayLike<number>): Fit | null {
  let [ranks, sumX, sumY] = [0, 0, 0];
  const isKnown = (at: number): boolean => Number.isFinite(x[at]) && Number.isFinite(y[at]);
  const length = Math.min(x.length, y.length);
  for (let at = 0; at < length; at++) {
    if (!isKnown(at)) continue;
    ranks++;
    sumX += x[at] ?? 0;
    sumY += y[at] ?? 0;
  }
  const [meanX, meanY] = [sumX / ranks, sumY / ranks];
  let [xx, yy, xy] = [0, 0, 0];
  for (let at = 0; at < length; at++) {
    if (!isKnown(at)) continue;
    const [dx, dy] = [(x[at] ?? 0) - meanX, (y[at] ?? 0) - meanY];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  // Below this two values differ only by how they were rounded.
  const tiny = (squares: number, mean: number): boolean => !(squares > ranks * (1e-12 * Math.max(Math.abs(mean), 1e-300)) ** 2);
  if (ranks < 3 || tiny(xx, meanX) || tiny(yy, meanY)) return null;
  const slope = xy / xx;
  return { slope, offset: meanY - slope * meanX, correlation: xy / Math.sqrt(xx * yy), ranks };
}

/** Of each rank the mean of its node; what is not known does not count. Ranks whose node is not known keep their own. */
export function nodeMeans(values: Float64Array, host: ArrayLike<number>): Float64Array {
  const sums = new Map<number, { sum: number; known: number }>();
  for (let rank = 0; rank < values.length; rank++) {
    const [node, value] = [host[rank] ?? NaN, values[rank] ?? NaN];
    if (!Number.isFinite(node) || !Number.isFinite(value)) continue;
    const of = sums.get(node) ?? { sum: 0, known: 0 };
    sums.set(node, { sum: of.sum + value, known: of.known + 1 });
  }
  return values.map((value, rank) => {
    const of = sums.get(host[rank] ?? NaN);
    return of ? of.sum / of.known : value;
  });
}

/** Ranks whose points lie in all slices; `axes` by point, `places` and `cuts` by axis. An axis that is not cut is null. Near is within a half of the least step. */
export function sliced(axes: readonly ArrayLike<number>[], places: readonly (readonly number[])[], cuts: readonly (number | null)[], pointsPerRank: number): Uint8Array | null {
  if (cuts.every((cut) => cut === null)) return null;
  const points = axes[0]?.length ?? 0;
  const found = new Uint8Array(pointsPerRank > 0 ? points / pointsPerRank : 0);
  const reach = axes.map((_, at) => stepOf(places[at] ?? []) / 2);
  for (let point = 0; point < points; point++) {
    const isIn = cuts.every((cut, at) => cut === null || Math.abs((axes[at]?.[point] ?? NaN) - cut) <= (reach[at] ?? 0));
    if (isIn) found[Math.floor(point / pointsPerRank)] = 1;
  }
  return found;
}

/** Places along an axis where there is something: each where they are few, else even steps. */
export const PLACES_MAX = 256;

export function placesOf(axis: ArrayLike<number>): number[] {
  const distinct = new Set<number>();
  let [least, most] = [Infinity, -Infinity];
  for (let point = 0; point < axis.length; point++) {
    const value = axis[point] ?? NaN;
    if (!Number.isFinite(value)) continue;
    if (distinct.size <= PLACES_MAX) distinct.add(value);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (distinct.size <= PLACES_MAX) return [...distinct].sort((one, other) => one - other);
  return Array.from({ length: PLACES_MAX / 4 }, (_, at) => least + ((most - least) * (at + 0.5)) / (PLACES_MAX / 4));
}

/** Of the places of an axis that nearest to a value; null where the axis has no two places, and cannot be cut. */
export function nearestPlace(places: readonly number[], value: number): number | null {
  if (places.length < 2) return null;
  return places.reduce((best, place) => (Math.abs(place - value) < Math.abs(best - value) ? place : best));
}

function stepOf(places: readonly number[]): number {
  let step = Infinity;
  for (let at = 1; at < places.length; at++) step = Math.min(step, (places[at] ?? 0) - (places[at - 1] ?? 0));
  return Number.isFinite(step) ? Math.max(step, 1e-12) : 1e-12;
}
