// What is asked for what is in sight: a little more time and some more ranks than that, on a grid. Small moves
// need no new question. Pure.

import type { Calls } from "../../feed/calls";
import type { MessageRows } from "../../feed/messages";
import type { Shares } from "../../feed/shares";
import type { RankRanges, Span } from "../../state/perspective";
import { rangesOf } from "../../state/ranks";
import { lengthOf } from "../../state/span";

export interface TrafficScope {
  rangeNs: Span;
  /** Null: all. */
  ranks: RankRanges | null;
  mostCalls: number;
  /** 0: messages are not asked for. */
  mostMessages: number;
  /** Consecutive ranks that share a line of pixels, a power of two. */
  ranksPerRow: number;
}

export interface KnownTraffic {
  scope: TrafficScope;
  calls: Calls;
  messages: MessageRows | null;
  /** What time was spent on; null where that is not known. */
  shares: Shares | null;
  /** Why there are no messages, in words; else empty. */
  messagesWhy: string;
  /** Calls were complete up to here when it was asked. */
  edgeNs: number;
  tookMs: number;
}

export interface InSight {
  span: Span;
  /** The rank in each row, and which rows are in sight. */
  order: Uint32Array;
  rows: readonly [from: number, to: number];
  /** Only these ranks have rows; null: all have. */
  only: RankRanges | null;
  hasArrows: boolean;
  /** Consecutive ranks that share a line of pixels. */
  ranksPerRow: number;
  /** More comes by itself: less is asked, and more often. */
  grows: boolean;
}

/** Of a moment that stands all that can be drawn; of a run that goes on what can be sent again and again. */
const MOST = { still: { calls: 200_000, messages: 100_000 }, growing: { calls: 60_000, messages: 20_000 } };
/** Time before and after what is in sight, in its length. */
const ASIDE = 0.25;
/** Steps of the grid in what is in sight. */
const STEPS = 4;
/** With more than this part of the rows all are asked for. */
const NEARLY_ALL = 0.6;
/** Windows of sums, on both sides of what is in sight too. */
export const WINDOWS_MOST = 2048;
/** More ranges than this make a question longer than its answer is worth. */
const RANGES_MAX = 256;

export function scopeOf(seen: InSight): TrafficScope {
  const length = lengthOf(seen.span);
  const step = 2 ** Math.floor(Math.log2(Math.max(STEPS, length) / STEPS));
  const from = Math.max(0, Math.floor((seen.span[0] - ASIDE * length) / step) * step);
  const to = Math.ceil((seen.span[1] + ASIDE * length) / step) * step;
  const most = MOST[seen.grows ? "growing" : "still"];
  return { rangeNs: [from, to], ranks: ranksAround(seen), mostCalls: most.calls, mostMessages: seen.hasArrows ? most.messages : 0, ranksPerRow: 2 ** Math.floor(Math.log2(Math.max(1, seen.ranksPerRow))) };
}

/** Those in sight and as many above and below. */
function ranksAround({ order, rows: [from, to], only }: InSight): RankRanges | null {
  const count = to - from;
  const step = 2 ** Math.floor(Math.log2(Math.max(1, count)));
  const first = Math.max(0, Math.floor((from - count / 2) / step) * step);
  const end = Math.min(order.length, Math.ceil((to + count / 2) / step) * step);
  if (end - first > NEARLY_ALL * order.length) return only;
  const ranges = rangesOf(order.subarray(first, end));
  return ranges.length > RANGES_MAX ? only : ranges;
}

/** Whether an answer has all there is of another scope. */
export function answers({ scope, calls, messages, edgeNs }: KnownTraffic, wanted: TrafficScope, overNs: number | null): boolean {
  const [from, to] = wanted.rangeNs;
  // Of a run that goes on only what was over then.
  if (overNs === null ? edgeNs < to : edgeNs < Math.min(to, overNs)) return false;
  // Sums of ranks cannot be split again.
  if (scope.ranksPerRow > wanted.ranksPerRow) return false;
  if (scope.rangeNs[0] > from || scope.rangeNs[1] < to || calls.length < calls.total) return false;
  if (wanted.mostMessages > 0 && (!messages || messages.length < messages.total)) return false;
  return scope.ranks === null || (wanted.ranks !== null && isWithin(wanted.ranks, scope.ranks));
}

function isWithin(inner: RankRanges, outer: RankRanges): boolean {
  return inner.every(([first, last]) => outer.some(([from, to]) => first >= from && last <= to));
}
