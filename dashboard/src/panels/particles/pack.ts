// Calls as a renderer wants them: 32-bit numbers near a base, longest first, and a fixed random order beside it.
import type { Calls, InFlight } from "../../feed/calls";
import { callHash, jitterOf } from "./layout";

/** Numbers of a call in `Packed.data`. */
export const STRIDE = 5;
export const START = 0;
export const END = 1;
export const DURATION = 2;
export const PLACE = 3;
export const FUNCTION = 4;

export interface Packed {
  /** The whole number that starts and ends are counted from; the difference to the time of the view is made in 64 bits. */
  baseNs: number;
  length: number;
  /** Start and end after the base, height in ns, rank + place in its slot, function; the longest call first. */
  data: Float32Array;
  /** Where each of them is in the Calls it was made from. */
  source: Uint32Array;
  /** Positions in `data` in an order that is random and always the same: any beginning of it is a fair sample. */
  shuffled: Uint32Array;
  lastEndNs: number;
}

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** The order of ascending keys, by counting the given number of 11-bit digits from bit `shift` on. */
export function orderOf(keys: Uint32Array, shift: number, digits: number): Uint32Array {
  let order = Uint32Array.from(keys, (_, at) => at);
  let next = new Uint32Array(keys.length);
  for (let digit = 0; digit < digits; digit++) {
    const from = shift + digit * DIGIT_BITS;
    const places = new Uint32Array(DIGITS + 1);
    for (const key of keys) places[((key >>> from) & (DIGITS - 1)) + 1]!++;
    for (let at = 1; at < DIGITS; at++) places[at]! += places[at - 1]!;
    for (const at of order) next[places[(keys[at]! >>> from) & (DIGITS - 1)]!++] = at;
    [order, next] = [next, order];
  }
  return order;
}

/** What one call of a row took: a row of folded polls stands at the length of one of them, as the history counts it. */
export function heightNs(durationNs: number, polls: number): number {
  return polls > 1 ? durationNs / polls : durationNs;
}

/** Calls that are packed at once: a few milliseconds of work, and a tile may have many times as many. */
export const PACK_CALLS = 16_384;

/** Packs the calls from one number to before another. */
export function pack(calls: Calls, first = 0, end = calls.length): Packed {
  const length = end - first;
  const heights = new Float32Array(length);
  const hashes = new Uint32Array(length);
  for (let at = 0; at < length; at++) {
    heights[at] = heightNs(calls.durationNs[first + at]!, calls.count[first + at]!);
    hashes[at] = callHash(calls.rank[first + at]!, calls.thread[first + at]!, calls.startNs[first + at]!);
  }
  // Positive floats order like their bits; the complement puts the longest first.
  const source = orderOf(new Uint32Array(heights.buffer).map((bits) => ~bits), 0, 3);
  const baseNs = Math.floor(calls.fromNs);
  const data = new Float32Array(length * STRIDE);
  const sorted = new Uint32Array(length);
  let lastEndNs = Number.NEGATIVE_INFINITY;
  for (let to = 0; to < length; to++) {
    const at = source[to]! + first;
    const startNs = calls.startNs[at]!;
    const endNs = startNs + calls.durationNs[at]!;
    const hash = hashes[source[to]!]!;
    lastEndNs = Math.max(lastEndNs, endNs);
    data[to * STRIDE + START] = startNs - baseNs;
    data[to * STRIDE + END] = endNs - baseNs;
    data[to * STRIDE + DURATION] = heights[source[to]!]!;
    data[to * STRIDE + PLACE] = calls.rank[at]! + jitterOf(hash);
    data[to * STRIDE + FUNCTION] = calls.function[at]!;
    source[to] = at;
    sorted[to] = hash;
  }
  return { baseNs, length, data, source, shuffled: orderOf(sorted, 32 - 2 * DIGIT_BITS, 2), lastEndNs };
}

/** Later than any time of a run, and still a 32-bit float. */
export const NEVER = 3e38;

/** Calls inside MPI: they have no end yet, and rise with their age. */
export function packInFlight(inFlight: InFlight): Packed {
  const { length } = inFlight;
  let baseNs = 0;
  for (let at = 0; at < length; at++) baseNs = Math.max(baseNs, Math.floor(inFlight.sinceNs[at]!));
  const data = new Float32Array(length * STRIDE);
  for (let at = 0; at < length; at++) {
    const sinceNs = inFlight.sinceNs[at]!;
    const hash = callHash(inFlight.rank[at]!, inFlight.thread[at]!, sinceNs);
    data[at * STRIDE + START] = sinceNs - baseNs;
    data[at * STRIDE + END] = NEVER;
    data[at * STRIDE + DURATION] = NEVER;
    data[at * STRIDE + PLACE] = inFlight.rank[at]! + jitterOf(hash);
    data[at * STRIDE + FUNCTION] = inFlight.function[at]!;
  }
  const source = Uint32Array.from({ length }, (_, at) => at);
  return { baseNs, length, data, source, shuffled: source, lastEndNs: Number.POSITIVE_INFINITY };
}
