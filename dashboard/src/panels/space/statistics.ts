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

/** Values nearer to each other than this share are the same. */
const EVEN = 1e-12;

/** Round steps of an axis, so many at most; of bytes in powers of 1024. */
export function ticks(from: number, to: number, most: number, base = 10): number[] {
  // Values that differ by rounding alone have no steps between them.
  if (!(to - from > EVEN * Math.max(Math.abs(from), Math.abs(to)))) return [from];
  if (base === 1024) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(Math.abs(from), Math.abs(to), 1)) / 10));
    return ticks(from / unit, to / unit, most).map((value) => value * unit);
  }
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found: number[] = [];
  for (let at = Math.ceil(from / step); at * step <= to + step * 1e-9; at++) found.push(at * step);
  return found;
}
