// A histogram of durations: bars on a logarithmic axis, and where they are in a picture. Pure.

import type { CallDurations } from "../../feed/durations";
import { axisCount, share } from "../../words";
import type { Area } from "../chart/chart-canvas";
import { ticks } from "../chart/ticks";

/** Calls that took from `lowNs`, to less than `highNs`. */
export interface Bar { bin: number; lowNs: number; highNs: number; selected: number; run: number }

export interface Histogram {
  /** From the first to the last bin with calls, those without among them. */
  bars: readonly Bar[];
  binsPerOctave: number;
  /** Of all bars. */
  selected: number;
  run: number;
}

/** A whole number of nanoseconds: the least in a bin. */
function leastNs(bin: number, binsPerOctave: number): number {
  return Math.ceil(2 ** (bin / binsPerOctave) - 1);
}

export function histogramOf({ bin, binsPerOctave, length, selected, run }: CallDurations): Histogram {
  const first = bin[0] ?? 0;
  const bars: Bar[] = Array.from({ length: length > 0 ? (bin[length - 1] ?? 0) - first + 1 : 0 }, (_, at) => (
    { bin: first + at, lowNs: leastNs(first + at, binsPerOctave), highNs: leastNs(first + at + 1, binsPerOctave), selected: 0, run: 0 }
  ));
  for (let at = 0; at < length; at++) {
    const bar = bars[(bin[at] ?? 0) - first];
    if (bar) [bar.selected, bar.run] = [selected[at] ?? 0, run[at] ?? 0];
  }
  const sum = (counts: Float64Array): number => counts.reduce((all, some) => all + some, 0);
  return { bars, binsPerOctave, selected: sum(selected), run: sum(run) };
}

/** Few bars would be as wide as the picture. */
const BARS_LEAST = 12;

/** Where in a picture bars begin, and durations are. */
export class Axis {
  readonly step: number;
  private readonly first: number;

  constructor(private readonly histogram: Histogram, private readonly area: Area) {
    this.first = histogram.bars[0]?.bin ?? 0;
    this.step = area.width / Math.max(BARS_LEAST, histogram.bars.length);
  }

  leftOf(at: number): number {
    return this.area.left + at * this.step;
  }

  placeOf(ns: number): number {
    return this.leftOf(this.histogram.binsPerOctave * Math.log2(1 + ns) - this.first);
  }

  /** The bar under a place; -1 where there is none. */
  at(x: number): number {
    const at = Math.floor((x - this.area.left) / this.step);
    return at >= 0 && at < this.histogram.bars.length ? at : -1;
  }
}

/** Powers of ten between the ends of the axis; with few of them, twice and five times these as well. */
export function ticksOf({ bars }: Histogram): number[] {
  const [low, high] = [bars[0]?.lowNs ?? 0, bars.at(-1)?.highNs ?? 0];
  const among = (factors: readonly number[]): number[] => {
    const found: number[] = [];
    for (let ten = 1; ten <= high; ten *= 10) found.push(...factors.map((factor) => factor * ten).filter((ns) => ns >= low && ns <= high));
    return found;
  };
  const tens = among([1]);
  return tens.length >= 3 ? tens : among([1, 2, 5]);
}

/** How high bars are, from 0 to 1, and the values that the axis names. */
export interface Heights {
  of(calls: number, all: number): number;
  /** Values and where they are. */
  ticks: readonly { label: string; part: number }[];
}

/** Shares of the selected calls, and of all in the run: their shapes can be compared. */
export function shareHeights({ bars, selected, run }: Histogram): Heights {
  const most = bars.reduce((found, bar) => Math.max(found, selected > 0 ? bar.selected / selected : 0, run > 0 ? bar.run / run : 0), 0);
  return {
    of: (calls, all) => (all > 0 && most > 0 ? calls / all / most : 0),
    ticks: most > 0 ? ticks(0, most, 5).filter((part) => part <= most).map((part) => ({ label: share(part, 1), part: part / most })) : [],
  };
}

/** Numbers of calls on a logarithmic axis: single ones are seen, too. */
export function countHeights({ bars }: Histogram): Heights {
  const most = bars.reduce((found, bar) => Math.max(found, bar.selected, bar.run), 0);
  const part = (calls: number): number => (most > 0 ? Math.log2(1 + calls) / Math.log2(1 + most) : 0);
  const tens = [0, ...Array.from({ length: most > 0 ? Math.floor(Math.log10(most)) + 1 : 0 }, (_, power) => 10 ** power)];
  return { of: part, ticks: tens.map((calls) => ({ label: axisCount(calls), part: part(calls) })) };
}

/** The next bar with calls on this side of one; from the outside the first or the last. */
export function nextBar({ bars }: Histogram, at: number, direction: 1 | -1): number {
  const start = at < 0 ? (direction > 0 ? -1 : bars.length) : at;
  for (let next = start + direction; next >= 0 && next < bars.length; next += direction) {
    if ((bars[next]?.selected ?? 0) > 0) return next;
  }
  return at;
}
