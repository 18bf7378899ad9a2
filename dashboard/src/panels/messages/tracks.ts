// Calls by the rank that made them and by when they began, to find those at a moment without a search through
// all; and side by side where threads of one rank were in MPI at the same time. Pure; made in the worker.

import type { Calls } from "../../feed/calls";

/** What is needed of each call. */
export type CallColumns = Pick<Calls, "length" | "rank" | "thread" | "function" | "startNs" | "durationNs">;

export interface Tracks {
  /** By rank, and one more: where its calls begin in `items`. */
  from: Uint32Array;
  /** Calls by rank, then by start. */
  items: Uint32Array;
  /** By place: the latest end of this call and of those before it of the same rank. */
  reachNs: Float64Array;
  /** By place: which of its rank's lanes it is in. */
  lane: Uint8Array;
  /** By rank: one for each of its threads, up to a few. */
  lanes: Uint8Array;
}

/** Threads beyond these share the last lane. */
export const LANES_MAX = 4;
/** More than any job has: a wrong number must not fill the memory. */
const RANKS_MAX = 1 << 22;

export function tracksOf(calls: CallColumns): Tracks {
  let ranks = 0;
  for (let call = 0; call < calls.length; call++) ranks = Math.max(ranks, Math.min(RANKS_MAX, (calls.rank[call] ?? 0) + 1));
  const from = new Uint32Array(ranks + 1);
  for (let call = 0; call < calls.length; call++) {
    const rank = calls.rank[call] ?? 0;
    if (rank < ranks) from[rank + 1] = (from[rank + 1] ?? 0) + 1;
  }
  for (let rank = 0; rank < ranks; rank++) from[rank + 1] = (from[rank + 1] ?? 0) + (from[rank] ?? 0);
  const items = new Uint32Array(from[ranks] ?? 0);
  const next = from.slice();
  for (let call = 0; call < calls.length; call++) {
    const rank = calls.rank[call] ?? 0;
    if (rank >= ranks) continue;
    const place = next[rank] ?? 0;
    items[place] = call;
    next[rank] = place + 1;
  }
  const tracks: Tracks = { from, items, reachNs: new Float64Array(items.length), lane: new Uint8Array(items.length), lanes: new Uint8Array(ranks) };
  for (let rank = 0; rank < ranks; rank++) layTrack(tracks, calls, rank);
  return tracks;
}

/** Outer calls before those within them that begin at the same time. */
function layTrack({ from, items, reachNs, lane, lanes }: Tracks, calls: CallColumns, rank: number): void {
  const [first, end] = [from[rank] ?? 0, from[rank + 1] ?? 0];
  const start = (call: number): number => calls.startNs[call] ?? 0;
  const length = (call: number): number => calls.durationNs[call] ?? 0;
  items.subarray(first, end).sort((one, other) => start(one) - start(other) || length(other) - length(one) || one - other);
  const threads = new Set<number>();
  let reach = -Infinity;
  for (let place = first; place < end; place++) {
    const call = items[place] ?? 0;
    reach = Math.max(reach, start(call) + length(call));
    reachNs[place] = reach;
    threads.add(calls.thread[call] ?? 0);
  }
  const sorted = [...threads].sort((one, other) => one - other);
  const laneOf = new Map(sorted.map((thread, at) => [thread, Math.min(at, LANES_MAX - 1)]));
  for (let place = first; place < end; place++) lane[place] = laneOf.get(calls.thread[items[place] ?? 0] ?? 0) ?? 0;
  lanes[rank] = Math.max(1, Math.min(LANES_MAX, sorted.length));
}

/** The first of the places in order that fulfils something that all after it fulfil as well. */
function firstPlace(from: number, to: number, fulfils: (place: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fulfils(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where calls of a rank may be that are in a range of time: the first place, and the last without. */
export function placesIn({ from, items, reachNs }: Tracks, calls: CallColumns, rank: number, fromNs: number, toNs: number): [from: number, to: number] {
  if (rank >= from.length - 1) return [0, 0];
  const [first, end] = [from[rank] ?? 0, from[rank + 1] ?? 0];
  const begin = firstPlace(first, end, (place) => (reachNs[place] ?? 0) >= fromNs);
  return [begin, firstPlace(begin, end, (place) => (calls.startNs[items[place] ?? 0] ?? 0) > toNs)];
}

export interface Under {
  /** -1: none. */
  call: number;
  /** How many calls are there. */
  count: number;
}

/** What a rank did in a range of time: the call that was longest in it. A lane of -1 is all of them. */
export function callUnder(tracks: Tracks, calls: CallColumns, hidden: ReadonlySet<number>, rank: number, lane: number, fromNs: number, toNs: number): Under {
  const [first, end] = placesIn(tracks, calls, rank, fromNs, toNs);
  const under = { call: -1, count: 0 };
  let [most, shortest] = [-1, Infinity];
  for (let place = first; place < end; place++) {
    const call = tracks.items[place] ?? 0;
    if ((lane >= 0 && tracks.lane[place] !== lane) || hidden.has(calls.function[call] ?? 0)) continue;
    const [start, length] = [calls.startNs[call] ?? 0, calls.durationNs[call] ?? 0];
    const inside = Math.min(toNs, start + length) - Math.max(fromNs, start);
    if (inside < 0) continue;
    under.count++;
    // Of two that fill it, the inner one.
    if (inside > most || (inside === most && length < shortest)) [under.call, most, shortest] = [call, inside, length];
  }
  return under;
}

/** The next call of a rank after a call or a moment, or the one before; -1 where there is none. */
export function neighbourCall(tracks: Tracks, calls: CallColumns, hidden: ReadonlySet<number>, rank: number, at: { call: number } | { ns: number }, by: 1 | -1): number {
  if (rank >= tracks.from.length - 1) return -1;
  const [first, end] = [tracks.from[rank] ?? 0, tracks.from[rank + 1] ?? 0];
  const start = (place: number): number => calls.startNs[tracks.items[place] ?? 0] ?? 0;
  let place: number;
  if ("call" in at) place = tracks.items.indexOf(at.call, first) + by;
  else {
    const after = firstPlace(first, end, (each) => start(each) >= at.ns);
    place = by > 0 ? after : after - 1;
  }
  for (; place >= first && place < end; place += by) {
    const call = tracks.items[place] ?? 0;
    if (!hidden.has(calls.function[call] ?? 0)) return call;
  }
  return -1;
}
