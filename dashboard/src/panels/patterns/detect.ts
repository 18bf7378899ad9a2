// Patterns of the particle view, found: how long calls of a function take, seen across ranks. From exact counts by rank,
// function and duration, of stretches of time. Pure.

import type { History } from "../../feed/calls";

export const PATTERN_KINDS = ["horizontal", "slanted", "logarithmic", "noisy", "disparate"] as const;
export type PatternKind = (typeof PATTERN_KINDS)[number];

export interface Pattern {
  kind: PatternKind;
  function: number;
  /** The ranks that are meant: those that differ, of a disparate pattern; else all that called it. */
  ranks: readonly number[];
  fromNs: number;
  toNs: number;
  /** How clear it is, 0 to 1. */
  strength: number;
  /** Ranks and the duration in the middle of their calls, to draw it. */
  line: readonly (readonly [rank: number, durationNs: number])[];
}

/** Fewer rows or calls make no pattern. */
const LEAST_ROWS = 6;
const LEAST_CALLS = 3;
/** In octaves of duration. */
const TREND = { least: 1, fit: 0.8, better: 0.02 };
const APART = { least: 1, spreads: 5, mostRows: 0.3, others: 0.6 };
const NOISY = { within: 1, among: 1.2 };
const EVEN = { within: 0.6, among: 0.3 };
const LINE_MOST = 96;

interface Row { rank: number; middle: number; spread: number; calls: number }

/** Of one stretch of time, at most one pattern for each function. */
export function patternsIn(history: History): Pattern[] {
  const byFunction = new Map<number, Map<number, [bin: number, count: number][]>>();
  for (let at = 0; at < history.length; at++) {
    const [id, rank] = [history.function[at] ?? 0, history.row[at] ?? 0];
    const rows = byFunction.get(id) ?? new Map<number, [number, number][]>();
    byFunction.set(id, rows);
    const cells = rows.get(rank) ?? [];
    rows.set(rank, cells);
    cells.push([history.bin[at] ?? 0, history.count[at] ?? 0]);
  }
  return [...byFunction].flatMap(([id, cells]) => {
    const rows = [...cells].map(([rank, bins]) => rowOf(rank, bins, history.binsPerOctave)).filter(({ calls }) => calls >= LEAST_CALLS).sort((one, other) => one.rank - other.rank);
    const found = rows.length < LEAST_ROWS ? null : classify(rows);
    if (!found) return [];
    const step = Math.ceil(rows.length / LINE_MOST);
    const line = rows.filter((_, at) => at % step === 0).map(({ rank, middle }) => [rank, 2 ** middle - 1] as const);
    const ranks = found.rows.flatMap(({ rank }) => Array.from({ length: history.ranksPerRow }, (_, at) => rank + at));
    return [{ kind: found.kind, function: id, ranks, fromNs: history.fromNs, toNs: history.toNs, strength: Math.max(0, Math.min(1, found.strength)), line }];
  });
}

function rowOf(rank: number, bins: [bin: number, count: number][], binsPerOctave: number): Row {
  bins.sort(([one], [other]) => one - other);
  const calls = bins.reduce((sum, [, count]) => sum + count, 0);
  const at = (part: number): number => {
    let sum = 0;
    for (const [bin, count] of bins) {
      sum += count;
      if (sum >= part * calls) return (bin + 0.5) / binsPerOctave;
    }
    return 0;
  };
  return { rank, middle: at(0.5), spread: at(0.75) - at(0.25), calls };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

interface Fit { range: number; fit: number }

/** The line through the middles by least squares: how far it rises over all rows, and which part of the variation it explains. */
function fitted(xs: readonly number[], ys: readonly number[]): Fit {
  const mean = (of: readonly number[]): number => of.reduce((sum, value) => sum + value, 0) / of.length;
  const [mx, my] = [mean(xs), mean(ys)];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [at, x] of xs.entries()) {
    const y = ys[at] ?? 0;
    xy += (x - mx) * (y - my);
    xx += (x - mx) ** 2;
    yy += (y - my) ** 2;
  }
  if (xx === 0 || yy === 0) return { range: 0, fit: 0 };
  return { range: Math.abs(xy / xx) * (Math.max(...xs) - Math.min(...xs)), fit: (xy * xy) / (xx * yy) };
}

function classify(rows: readonly Row[]): { kind: PatternKind; strength: number; rows: readonly Row[] } | null {
  const ys = rows.map(({ middle }) => middle);
  const first = rows[0]?.rank ?? 0;
  const within = quantile(rows.map(({ spread }) => spread), 0.5);
  const among = quantile(ys, 0.75) - quantile(ys, 0.25);
  const slanted = fitted(rows.map(({ rank }) => rank - first), ys);
  const curved = fitted(rows.map(({ rank }) => Math.log2(1 + rank - first)), ys);
  const trend = Math.max(slanted.fit, curved.fit);
  // The first ranks of a curve lie apart as well: a trend comes first, unless a few rows alone make it.
  if (trend >= TREND.fit && Math.max(slanted.range, curved.range) >= TREND.least && within < NOISY.within) {
    const isCurved = curved.fit > slanted.fit + TREND.better;
    return { kind: isCurved ? "logarithmic" : "slanted", strength: (trend - 0.5) * 2, rows };
  }
  const middle = quantile(ys, 0.5);
  const least = Math.max(APART.least, APART.spreads * quantile(ys.map((y) => Math.abs(y - middle)), 0.5), within);
  const apart = rows.filter((row) => Math.abs(row.middle - middle) > least);
  const others = ys.filter((y) => Math.abs(y - middle) <= least);
  if (apart.length > 0 && apart.length <= APART.mostRows * rows.length && quantile(others, 0.9) - quantile(others, 0.1) <= 2 * APART.others && within < NOISY.within) {
    const far = apart.reduce((sum, row) => sum + Math.abs(row.middle - middle), 0) / apart.length;
    return { kind: "disparate", strength: 1 - 1 / (1 + far / 2), rows: apart };
  }
  if (within >= NOISY.within || among >= NOISY.among) return { kind: "noisy", strength: 1 - 1 / (1 + Math.max(within, among) / 1.5), rows };
  if (among <= EVEN.among && within <= EVEN.within) return { kind: "horizontal", strength: 1 - (among / EVEN.among + within / EVEN.within) / 4, rows };
  return null;
}

/** Patterns of stretches that follow each other: of one kind, function and the same ranks they are one. */
export function joined(stretches: readonly (readonly Pattern[])[]): Pattern[] {
  const open = new Map<string, Pattern>();
  const done: Pattern[] = [];
  for (const patterns of stretches) {
    const keys = new Set<string>();
    for (const pattern of patterns) {
      const key = `${pattern.function}/${pattern.kind}`;
      keys.add(key);
      const before = open.get(key);
      if (before && (pattern.kind !== "disparate" || areAlike(before.ranks, pattern.ranks))) {
        const [one, other] = [before.toNs - before.fromNs, pattern.toNs - pattern.fromNs];
        open.set(key, { ...before, toNs: pattern.toNs, ranks: pattern.kind === "disparate" ? before.ranks : pattern.ranks, strength: (before.strength * one + pattern.strength * other) / (one + other) });
      } else {
        if (before) done.push(before);
        open.set(key, pattern);
      }
    }
    for (const [key, pattern] of open) {
      if (keys.has(key)) continue;
      done.push(pattern);
      open.delete(key);
    }
  }
  return [...done, ...open.values()].sort((one, other) => RANKING.indexOf(one.kind) - RANKING.indexOf(other.kind) || other.strength - one.strength || one.fromNs - other.fromNs);
}

/** What is worth a look first. */
const RANKING: readonly PatternKind[] = ["disparate", "slanted", "logarithmic", "noisy", "horizontal"];

/** At least half of all are in both. */
function areAlike(one: readonly number[], other: readonly number[]): boolean {
  const all = new Set(one);
  const shared = other.filter((rank) => all.has(rank)).length;
  return 2 * shared >= new Set([...one, ...other]).size;
}
