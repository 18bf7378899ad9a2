// Values of ranks on a scale: how far from the least to the most, with the ends where most values are (one outlier
// must not flatten the rest); and which values are shown. Pure.

export interface Scale {
  /** The least and the most of all values. */
  least: number;
  most: number;
  /** Where the scale begins and ends. */
  low: number;
  high: number;
  isLog: boolean;
  mean: number;
  deviation: number;
  /** Values that are known. */
  known: number;
}

/** The part of the values that a clipped scale leaves out at each end. */
export const CLIPPED = 0.05;

/** Values that differ from each other by this part are nearly the same. */
const ALIKE = 0.01;

/** Of values in order, by linear interpolation. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return NaN;
  const at = share * (sorted.length - 1);
  const first = Math.floor(at);
  const one = sorted[first] ?? NaN;
  const other = sorted[Math.min(sorted.length - 1, first + 1)] ?? NaN;
  return one + (other - one) * (at - first);
}

export function scaleOf(values: ArrayLike<number>, isClipped: boolean, isLog: boolean): Scale | null {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const known = sorted.length;
  if (known === 0) return null;
  const [least, most] = [sorted[0] ?? 0, sorted[known - 1] ?? 0];
  let sum = 0;
  for (const value of sorted) sum += value;
  const mean = sum / known;
  let squares = 0;
  for (const value of sorted) squares += (value - mean) ** 2;
  let [low, high] = [least, most];
  if (isClipped) {
    const [from, to] = [quantile(sorted, CLIPPED), quantile(sorted, 1 - CLIPPED)];
    // Where most values are equal, what differs is what there is to see.
    if (to > from) [low, high] = [from, to];
  }
  // Ranks that are alike look alike: a scale never shows less than this part of its middle.
  const middle = low + (high - low) / 2;
  const half = Math.max((high - low) / 2, ALIKE * Math.abs(middle));
  if (!isLog) [low, high] = [middle - half, middle + half];
  if (isLog) {
    // Zeros have no logarithm: they lie at the low end.
    const positive = sorted.find((value) => value > 0);
    if (positive === undefined) return { least, most, low, high, isLog: false, mean, deviation: Math.sqrt(squares / known), known };
    low = Math.max(low, positive);
    high = Math.max(high, low);
  }
  return { least, most, low, high, isLog, mean, deviation: Math.sqrt(squares / known), known };
}

/** From 0 to 1; not a number where the value is not known. Where all are equal, the middle. */
export function partOf({ low, high, isLog }: Scale, value: number): number {
  if (!Number.isFinite(value)) return NaN;
  if (!(high > low)) return value < low ? 0 : value > high ? 1 : 0.5;
  const part = isLog ? (value > 0 ? Math.log(value / low) / Math.log(high / low) : 0) : (value - low) / (high - low);
  return Math.min(1, Math.max(0, part));
}

/** The value at a part of the scale. */
export function valueAt({ low, high, isLog }: Scale, part: number): number {
  return isLog ? low * (high / low) ** part : low + (high - low) * part;
}

/** Percent of the way from the least value to the most. */
export interface Filter { from: number; to: number; isInverse: boolean }

export const ALL: Filter = { from: 0, to: 100, isInverse: false };

export function isFiltering({ from, to, isInverse }: Filter): boolean {
  return from > 0 || to < 100 || isInverse;
}

/** The values at the ends of a filter. */
export function filterEnds({ from, to }: Filter, { least, most }: Scale): [number, number] {
  return [least + ((most - least) * from) / 100, least + ((most - least) * to) / 100];
}

/** 1 where a value is shown. What is not known is shown only where nothing is filtered. */
export function filtered(values: ArrayLike<number>, filter: Filter, scale: Scale | null): Uint8Array {
  const shown = new Uint8Array(values.length);
  if (!isFiltering(filter) || !scale) return shown.fill(1);
  const [from, to] = filterEnds(filter, scale);
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? NaN;
    const isInside = value >= from && value <= to;
    // The inverse leaves out the middle: its ends stay.
    const isKept = filter.isInverse ? value <= from || value >= to : isInside;
    shown[at] = Number.isFinite(value) && isKept ? 1 : 0;
  }
  return shown;
}
