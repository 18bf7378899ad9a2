// Messages as arrows: where they run, which of very many are drawn, which one is under the pointer, which belong to a
// call. Pure.

import type { MessageRows } from "../../feed/messages";
import type { Span } from "../../state/perspective";
import { type RowCamera, yOfRow } from "./rows";

/** What is needed of each message. */
export type MessageColumns = Pick<MessageRows, "length" | "src" | "dst" | "sendNs" | "recvNs" | "latency" | "lateSenderNs">;

/** Where times and ranks are, in pixels from the upper left corner of the rows. */
export interface ArrowFrame {
  span: Span;
  width: number;
  height: number;
  camera: RowCamera;
  /** By rank its row; -1 where it has none. */
  rowOf: Int32Array;
}

/** More arrows than this can be neither distinguished nor drawn in time. */
export const ARROWS_MOST = 4000;
/** How many of a call are drawn over the others. */
export const RELATED_MOST = 2000;

export function xOfTime({ span, width }: Pick<ArrowFrame, "span" | "width">, ns: number): number {
  return ((ns - span[0]) / (span[1] - span[0])) * width;
}

export function middleOf({ camera, rowOf }: ArrowFrame, rank: number): number | null {
  const row = rowOf[rank] ?? -1;
  return row < 0 ? null : yOfRow(camera, row) + camera.rowPixels / 2;
}

/** The two ends: from x, from y, to x, to y. The end at a rank that has no row is on the edge of the view on its side. */
export function endsOf(messages: MessageColumns, at: number, frame: ArrowFrame, into: Float64Array): boolean {
  const [src, dst] = [messages.src[at] ?? 0, messages.dst[at] ?? 0];
  const [from, to] = [middleOf(frame, src), middleOf(frame, dst)];
  if (from === null && to === null) return false;
  const outside = (rank: number, other: number): number => (rank < other ? -frame.camera.rowPixels : frame.height + frame.camera.rowPixels);
  into[0] = xOfTime(frame, messages.sendNs[at] ?? 0);
  into[1] = from ?? outside(src, dst);
  into[2] = xOfTime(frame, messages.recvNs[at] ?? 0);
  into[3] = to ?? outside(dst, src);
  return true;
}

/** Messages that may reach into the view or its margin, in time and in rows. */
export function inSight(messages: MessageColumns, frame: ArrowFrame, margin: number): Uint32Array {
  const found = new Uint32Array(messages.length);
  const ends = new Float64Array(4);
  let count = 0;
  for (let at = 0; at < messages.length; at++) {
    if (!endsOf(messages, at, frame, ends)) continue;
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = ends;
    if (Math.max(x0, x1) < -margin || Math.min(x0, x1) > frame.width + margin) continue;
    if (Math.max(y0, y1) < -margin || Math.min(y0, y1) > frame.height + margin) continue;
    found[count++] = at;
  }
  return found.slice(0, count);
}

/** The worst of some messages: the highest latency, then the longest time under way. In the order in which they came. */
export function worst(messages: MessageColumns, candidates: Uint32Array, most: number): Uint32Array {
  if (candidates.length <= most) return candidates;
  const latency = (at: number): number => {
    const known = messages.latency[at] ?? -1;
    return Number.isNaN(known) ? -1 : known;
  };
  const length = (at: number): number => (messages.recvNs[at] ?? 0) - (messages.sendNs[at] ?? 0);
  const { least, fitting } = cut(candidates, latency, most);
  const ties = candidates.filter((at) => latency(at) === least);
  const tied = cut(ties, length, fitting);
  let left = tied.fitting;
  return candidates.filter((at) => {
    if (latency(at) !== least) return latency(at) > least;
    if (length(at) !== tied.least) return length(at) > tied.least;
    return left-- > 0;
  });
}

/** The value that this many candidates reach, and how many with exactly that value still fit. */
function cut(candidates: Uint32Array, value: (at: number) => number, most: number): { least: number; fitting: number } {
  const sorted = Float64Array.from(candidates, value).sort();
  const least = sorted[sorted.length - most] ?? Infinity;
  let above = 0;
  for (let at = sorted.length - 1; at >= 0 && (sorted[at] ?? 0) > least; at--) above++;
  return { least, fitting: most - above };
}

/** The message whose arrow is nearest to a place; -1 where none is near enough. */
export function arrowAt(messages: MessageColumns, drawn: Uint32Array, frame: ArrowFrame, x: number, y: number, reach: number): { message: number; away: number } {
  const ends = new Float64Array(4);
  let found = { message: -1, away: reach };
  for (const at of drawn) {
    if (!endsOf(messages, at, frame, ends)) continue;
    const away = distance(x, y, ends);
    if (away <= found.away) found = { message: at, away };
  }
  return found;
}

function distance(x: number, y: number, [x0 = 0, y0 = 0, x1 = 0, y1 = 0]: Float64Array): number {
  const [right, down] = [x1 - x0, y1 - y0];
  const square = right * right + down * down;
  const part = square > 0 ? Math.min(1, Math.max(0, ((x - x0) * right + (y - y0) * down) / square)) : 0;
  return Math.hypot(x0 + part * right - x, y0 + part * down - y);
}

/** Messages that a call of a rank sent or received: those whose send began in it, or whose receive ended in it. */
export function relatedTo(messages: MessageColumns, rank: number, startNs: number, endNs: number): number[] {
  const found: number[] = [];
  const isIn = (ns: number): boolean => ns >= startNs && ns <= endNs;
  for (let at = 0; at < messages.length && found.length < RELATED_MOST; at++) {
    if (messages.src[at] === rank && isIn(messages.sendNs[at] ?? 0)) found.push(at);
    else if (messages.dst[at] === rank && isIn(messages.recvNs[at] ?? 0)) found.push(at);
  }
  return found;
}
