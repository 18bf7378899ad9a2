// What ranks exchange, both ways together: the links of the graph. Pure; runs in the worker.

import type { Pairs, Region } from "../../feed/regions";

export interface Links {
  length: number;
  /** The lower rank, and the higher one. */
  a: Uint32Array;
  b: Uint32Array;
  messages: Float64Array;
  bytes: Float64Array;
  /** Of both ways by their messages; not a number where neither is known. */
  latency: Float64Array;
  /** Links with fewer messages that are not among these. */
  leftOut: number;
}

/** More links than these are a grey cloud. */
export const LINKS_MAX = 10_000;

export function emptyLinks(): Links {
  return take([], 0);
}

interface Row { a: number; b: number; messages: number; bytes: number; known: number; weighted: number }

/** The links with the most messages. */
export function linksOf(pairs: Pairs, most = LINKS_MAX): Links {
  const rows = new Map<number, Row>();
  for (let at = 0; at < pairs.src.length; at++) {
    const src = pairs.src[at] ?? 0;
    const dst = pairs.dst[at] ?? 0;
    if (src === dst) continue;
    const a = Math.min(src, dst);
    const b = Math.max(src, dst);
    const key = b * 2 ** 22 + a;
    let row = rows.get(key);
    if (!row) rows.set(key, (row = { a, b, messages: 0, bytes: 0, known: 0, weighted: 0 }));
    const messages = pairs.messages[at] ?? 0;
    const latency = pairs.latency[at] ?? Number.NaN;
    row.messages += messages;
    row.bytes += pairs.bytes[at] ?? 0;
    if (!Number.isNaN(latency)) {
      const exact = pairs.exact[at] ?? 0;
      row.known += exact;
      row.weighted += exact * latency;
    }
  }
  const sorted = [...rows.values()].sort((one, other) => other.messages - one.messages || one.a - other.a || one.b - other.b);
  // In the order of ranks: the same links look the same whatever they weigh.
  const kept = sorted.slice(0, most).sort((one, other) => one.a - other.a || one.b - other.b);
  return take(kept, sorted.length - kept.length);
}

function take(rows: readonly Row[], leftOut: number): Links {
  return {
    length: rows.length,
    a: Uint32Array.from(rows, ({ a }) => a),
    b: Uint32Array.from(rows, ({ b }) => b),
    messages: Float64Array.from(rows, ({ messages }) => messages),
    bytes: Float64Array.from(rows, ({ bytes }) => bytes),
    latency: Float64Array.from(rows, ({ known, weighted }) => (known > 0 ? weighted / known : Number.NaN)),
    leftOut,
  };
}

/** The place of each rank's region in the list; -1 for ranks in none. */
export function regionOfRanks(regions: readonly Region[]): Int32Array {
  const ranks = regions.reduce((most, { ranks: ranges }) => Math.max(most, (ranges.at(-1)?.[1] ?? -1) + 1), 0);
  const found = new Int32Array(ranks).fill(-1);
  regions.forEach((region, index) => {
    for (const [first, last] of region.ranks) found.fill(index, first, last + 1);
  });
  return found;
}

export function membersOf(region: Region): number[] {
  return region.ranks.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
}

/** Of fewer of a rank's messages than this, what is known says nothing of the rank. */
const KNOWN_LEAST = 0.1;

/** What each rank's messages took, both ways, by their number; not a number where too little is known. */
export function rankLatency(links: Links, ranks: number): Float64Array {
  const known = new Float64Array(ranks);
  const weighted = new Float64Array(ranks);
  const all = new Float64Array(ranks);
  for (let at = 0; at < links.length; at++) {
    const latency = links.latency[at] ?? Number.NaN;
    const messages = links.messages[at] ?? 0;
    for (const rank of [links.a[at] ?? 0, links.b[at] ?? 0]) {
      if (rank >= ranks) continue;
      all[rank] = (all[rank] ?? 0) + messages;
      if (Number.isNaN(latency)) continue;
      known[rank] = (known[rank] ?? 0) + messages;
      weighted[rank] = (weighted[rank] ?? 0) + messages * latency;
    }
  }
  return weighted.map((sum, rank) => {
    const part = known[rank] ?? 0;
    return part > 0 && part >= KNOWN_LEAST * (all[rank] ?? 0) ? sum / part : Number.NaN;
  });
}
