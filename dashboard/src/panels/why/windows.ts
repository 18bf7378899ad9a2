// Which windows the three views are asked in. Pure.

import type { RankRanges, Span } from "../../state/perspective";
import { nice } from "../../state/span";

/** More than these cannot be distinguished, and the server gives no more than 512. */
const WINDOWS = 240;
const WINDOWS_MAX = 512;
/** Shorter windows hold nothing. */
const WIDTH_MIN_NS = 1000;

export interface CourseScope {
  /** What is drawn: whole windows. */
  seen: Span;
  widthNs: number;
  /** The selected range: the sentences are about it; null: what is drawn. */
  chosen: Span | null;
  ranks: RankRanges | null;
  /** Up to where calls were complete when it was asked. */
  knownNs: number;
}

/**
 * Windows of a round length that begin at its multiples, and stay where they are while a run goes on; of one that
 * goes on only those that are over. Null while there are none.
 */
export function courseScope(zoom: Span | null, rangeNs: Span | null, ranks: RankRanges | null, edgeNs: number, isOver: boolean): CourseScope | null {
  const [from, to] = zoom ? [Math.max(0, zoom[0]), Math.min(edgeNs, zoom[1])] : [0, edgeNs];
  if (!(to > from)) return null;
  const widthNs = Math.max(WIDTH_MIN_NS, nice((zoom ? zoom[1] - zoom[0] : to - from) / WINDOWS));
  const first = Math.floor(from / widthNs) * widthNs;
  const last = (isOver || to < edgeNs ? Math.ceil(to / widthNs) : Math.floor(to / widthNs)) * widthNs;
  if (last <= first) return null;
  const chosen: Span | null = rangeNs && [Math.floor(rangeNs[0]), Math.max(Math.ceil(rangeNs[1]), Math.floor(rangeNs[0]) + 1)];
  return { seen: [first, last], widthNs, chosen, ranks, knownNs: Math.max(last, chosen ? Math.min(chosen[1], Math.floor(edgeNs / 1e9) * 1e9) : 0) };
}

/** What stays the same while there is only more of a run. */
export function courseSubject({ seen, chosen, ranks, widthNs }: CourseScope, zoom: Span | null): string {
  return JSON.stringify([zoom ? [seen, widthNs] : null, chosen, ranks]);
}

/** How many windows to ask for in a range; each is about as long as a drawn one. */
export function windowsIn([fromNs, toNs]: Span, widthNs: number): number {
  return Math.min(WINDOWS_MAX, Math.max(1, Math.round((toNs - fromNs) / widthNs)));
}
