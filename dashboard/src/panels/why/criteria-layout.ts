// Where criteria are on their chart: sizes and times both by their logarithms. Pure; no coordinate is ever not a number.

import type { Criteria, Criterion } from "../../feed/criteria";
import { amountTicks } from "../../palette/ramps";

export const CRITERIA_LEFT = 64;
export const CRITERIA_RIGHT = 16;
export const CRITERIA_TOP = 8;
/** Room for the numbers of samples, and for the sizes below them. */
export const SAMPLES_PIXELS = 28;
export const SIZES_PIXELS = 22;
/** Smaller sizes lie at the left end. */
const BYTES_MIN = 16;
/** Criteria of fewer samples are a line through their neighbours. */
export const SAMPLES_FEW = 30;
/** A time of nothing has no logarithm. */
const NS_MIN = 1;

export type Scope = "inter" | "intra";
export interface Point extends Criterion { scope: Scope; x: number; y: number; left: number; right: number }

export interface CriteriaChart {
  points: Point[];
  sizes: { bytes: number; x: number }[];
  times: { ns: number; y: number }[];
  samplesMost: number;
  bottom: number;
}

export function criteriaChart({ inter, intra }: Criteria, width: number, height: number): CriteriaChart {
  const bottom = height - SIZES_PIXELS - SAMPLES_PIXELS;
  const all = [...inter.map((bin) => ({ ...bin, scope: "inter" as const })), ...intra.map((bin) => ({ ...bin, scope: "intra" as const }))];
  const bytesMost = all.reduce((found, { toBytes }) => Math.max(found, toBytes), 2 * BYTES_MIN);
  const nsLeast = Math.max(NS_MIN, all.reduce((found, { medianNs }) => Math.min(found, Math.max(NS_MIN, medianNs)), Infinity));
  const [low, high] = decades(Number.isFinite(nsLeast) ? nsLeast : NS_MIN, all.reduce((found, { medianNs }) => Math.max(found, medianNs), NS_MIN));
  const xOf = (bytes: number): number => CRITERIA_LEFT + place(Math.max(BYTES_MIN, bytes), BYTES_MIN, bytesMost) * Math.max(1, width - CRITERIA_LEFT - CRITERIA_RIGHT);
  const yOf = (ns: number): number => bottom - place(Math.max(low, ns), low, high) * (bottom - CRITERIA_TOP);
  return {
    points: all.map((bin) => ({ ...bin, left: xOf(bin.fromBytes), right: xOf(bin.toBytes), x: xOf(middle(bin)), y: yOf(bin.medianNs) })),
    sizes: amountTicks(BYTES_MIN, bytesMost, 8, 4).map((bytes) => ({ bytes, x: xOf(bytes) })),
    times: amountTicks(low, high, 6).map((ns) => ({ ns, y: yOf(ns) })),
    samplesMost: all.reduce((found, { samples }) => Math.max(found, samples), 1),
    bottom,
  };
}

function place(value: number, least: number, most: number): number {
  return most > least ? Math.min(1, Math.max(0, Math.log(value / least) / Math.log(most / least))) : 0;
}

/** Whole powers of ten around what there is. */
function decades(least: number, most: number): [number, number] {
  const low = 10 ** Math.floor(Math.log10(least));
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(most, least)) - 1e-9))];
}

function middle({ fromBytes, toBytes }: Criterion): number {
  return Math.sqrt(Math.max(BYTES_MIN, fromBytes) * Math.max(BYTES_MIN, toBytes));
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** A step for each bin, with gaps where there are none. */
export function steps(points: readonly Point[]): string {
  return points.map(({ left, right, y }, at) => {
    const before = points[at - 1];
    const isNext = before !== undefined && Math.abs(before.toBytes - (points[at]?.fromBytes ?? 0)) < 0.5;
    return `${isNext ? "V" : `M${round(left)} `}${round(y)}H${round(Math.max(right, left + 0.5))}`;
  }).join("");
}

/** Discs at the middles of bins, as one path. */
export function discs(points: readonly Point[], radius: number): string {
  return points.map(({ x, y }) => `M${round(x - radius)} ${round(y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`).join("");
}

/** Thin bars of the numbers of samples, by their logarithm. */
export function sampleBars(points: readonly Point[], samplesMost: number, bottom: number): string {
  return points.map(({ x, samples }) => `M${round(x)} ${bottom}v${-round(sampleHeight(samples, samplesMost))}`).join("");
}

function sampleHeight(samples: number, most: number): number {
  return (Math.log1p(samples) / Math.log1p(Math.max(1, most))) * (SAMPLES_PIXELS - 6);
}

/** The bin that is nearest to the pointer, sizes first; -1 where there is none. */
export function nearestPoint(points: readonly Point[], x: number, y: number): number {
  let [found, best] = [-1, Infinity];
  points.forEach((point, at) => {
    const away = Math.max(0, point.left - x, x - point.right) * 4 + Math.abs(point.x - x) * 0.1 + Math.abs(point.y - y) * 0.5;
    if (away < best) [found, best] = [at, away];
  });
  return found;
}
