// Who talks to whom, as the feed tells it: regions of ranks with their latency, and traffic by pairs of ranks. Checked and
// bounded.

import { bounded, f64Column, FeedError, type Fields, fields, isNatural, list, natural, number, sameLength, truth, u32Column } from "./columns";
import type * as Wire from "./types";

export type RankRange = readonly [from: number, to: number];

export interface Region {
  /** The same from one version to the next as long as most of the ranks are. */
  id: number;
  /** Both ends included, in order. */
  ranks: readonly RankRange[];
  /** The mean L of the exact messages inside; null while there are none, or no criteria. */
  latency: number | null;
  /** Of the messages inside, from 0 to 1. */
  exactShare: number;
  messages: number;
  delayed: number;
  /** Exact messages with L above 1. */
  aboveExpected: number;
}

/** The messages between two regions, both ways. */
export interface Between { a: number; b: number; latency: number | null; exactShare: number; messages: number; delayed: number; aboveExpected: number }

export interface Regions {
  version: number;
  /** How many there are; those after the first few hundred are not listed. */
  count: number;
  /** Collectives count as traffic as well. */
  withCollectives: boolean;
  regions: readonly Region[];
  between: readonly Between[];
}

/** One row for each pair of ranks where the first sent to the second. */
export interface Pairs {
  /** The range in which the messages arrived. */
  fromNs: number;
  toNs: number;
  src: Uint32Array;
  dst: Uint32Array;
  messages: Float64Array;
  bytes: Float64Array;
  /** The messages with an exact transfer time. */
  exact: Float64Array;
  /** The mean L of the exact messages; not a number where it is not known. */
  latency: Float64Array;
  /** Messages of pairs that are not here. */
  leftOut: number;
}

/** More than these no daemon sends, and no page could draw. */
const RANKS_MAX = 1 << 22;
const REGIONS_MAX = 1 << 14;
const RANGES_MAX = 1 << 18;
const BETWEEN_MAX = 1 << 18;
const PAIRS_MAX = 1 << 23;

export function regions(from: Fields<Wire.Regions>): Regions {
  const rows = bounded("regions", list(from, "regions"), REGIONS_MAX).map((each) => region(fields(each, "A region")));
  const ids = new Set(rows.map(({ id }) => id));
  if (ids.size < rows.length) throw new FeedError("Two regions have the same number.");
  if (rows.reduce((sum, { ranks }) => sum + ranks.length, 0) > RANGES_MAX) throw new FeedError("The regions have too many ranges of ranks.");
  alone(rows);
  const between = bounded("between", list(from, "between"), BETWEEN_MAX).map((each) => {
    const row = betweenRow(fields(each, "A pair of regions"));
    if (!ids.has(row.a) || !ids.has(row.b) || row.a === row.b) throw new FeedError("A pair of regions names one that is not there.");
    return row;
  });
  return {
    version: natural(from, "version"),
    count: natural(from, "count"),
    withCollectives: truth(from, "with_collectives"),
    regions: rows,
    between,
  };
}

export function pairs(from: Fields<Wire.Pairs>): Pairs {
  const columns = {
    src: u32Column(from, "src"),
    dst: u32Column(from, "dst"),
    messages: f64Column(from, "messages"),
    bytes: f64Column(from, "bytes"),
    exact: f64Column(from, "exact"),
    latency: f64Column(from, "latency"),
  };
  if (sameLength("pairs", columns) > PAIRS_MAX) throw new FeedError(`There are more than ${PAIRS_MAX} pairs.`);
  for (const column of [columns.src, columns.dst]) {
    if (column.some((rank) => rank >= RANKS_MAX)) throw new FeedError("A pair names a rank that no job has.");
  }
  for (const column of [columns.messages, columns.bytes, columns.exact]) {
    if (!column.every((value) => value >= 0 && value < Infinity)) throw new FeedError("A pair has traffic that is no amount.");
  }
  if (!columns.latency.every((value) => Number.isNaN(value) || (value >= 0 && value < Infinity))) throw new FeedError("A pair has a latency that is none.");
  const ends = { fromNs: number(from, "from_ns"), toNs: number(from, "to_ns") };
  return { ...ends, ...columns, leftOut: natural(from, "left_out") };
}

function region(from: Fields<Wire.Region>): Region {
  const exactShare = share(from);
  const ranks = ranges(from);
  if (ranks.length === 0) throw new FeedError("A region has no ranks.");
  return { id: natural(from, "id"), ranks, latency: latency(from), exactShare, ...counts(from) };
}

function share<T extends { exact: unknown }>(from: Fields<T>): number {
  const value = number(from, "exact" as keyof T & string);
  if (value < 0 || value > 1) throw new FeedError('The field "exact" is no share.');
  return value;
}

function betweenRow(from: Fields<Wire.Between>): Between {
  return { a: natural(from, "a"), b: natural(from, "b"), latency: latency(from), exactShare: share(from), ...counts(from) };
}

/** Ranges of ranks in order. */
export function ranges<T extends { ranks: unknown }>(from: Fields<T>): RankRange[] {
  let before = -1;
  return bounded("ranks", list(from, "ranks" as keyof T & string), RANGES_MAX).map((each): RankRange => {
    const [first, last] = Array.isArray(each) ? (each as unknown[]) : [];
    if (!isNatural(first) || !isNatural(last) || first <= before || last < first || last >= RANKS_MAX) {
      throw new FeedError('The list "ranks" holds something that is not a range of ranks in order.');
    }
    before = last;
    return [first, last];
  });
}

/** A rank is in one region. */
function alone(rows: readonly Region[]): void {
  const all = rows.flatMap(({ ranks }) => ranks).sort(([one], [other]) => one - other);
  all.forEach(([first], at) => {
    if (first <= (all[at - 1]?.[1] ?? -1)) throw new FeedError(`Rank ${first} is in two regions.`);
  });
}

export function latency<T extends { latency: unknown }>(from: Fields<T>): number | null {
  const value = from.latency;
  if (value === null || value === undefined) return null;
  if (typeof value !== "number" || !(value >= 0 && value < Infinity)) throw new FeedError('The field "latency" is neither a ratio nor null.');
  return value;
}

function counts<T extends { messages: unknown; delayed: unknown; above_expected: unknown }>(from: Fields<T>): { messages: number; delayed: number; aboveExpected: number } {
  const count = (name: "messages" | "delayed" | "above_expected"): number => natural(from, name as keyof T & string);
  return { messages: count("messages"), delayed: count("delayed"), aboveExpected: count("above_expected") };
}
