// What is looked at: the clock, the selected range, ranks and functions. One is shared by all pages that follow it; a
// page that lets go has its own.

import type { PerspectiveMessage } from "../feed/message";
import { type Bounds, type Clock, timeAt } from "./clock";

export type Span = readonly [fromNs: number, toNs: number];
export type RankRanges = readonly (readonly [first: number, last: number])[];

/** Whether a rank is one of those selected; all are where none are. */
export function isAmong(ranks: RankRanges | null, rank: number): boolean {
  return ranks === null || ranks.some(([first, last]) => rank >= first && rank <= last);
}

export interface Choice {
  rangeNs: Span | null;
  ranks: RankRanges | null;
  hidden: ReadonlySet<number>;
}

export interface Perspective extends Choice {
  clock: Clock;
}

/** How many look along. */
export interface Company { pages: number; followers: number }

export function firstPerspective(): Perspective {
  return { clock: { mode: "live", timeNs: 0, rate: 1, atMs: 0 }, rangeNs: null, ranks: null, hidden: new Set() };
}

/** A playing clock that is this little off is not worth a jump: the message was just longer on its way. */
const JITTER_S = 0.03;

export function received(before: Perspective, message: PerspectiveMessage, nowMs: number, bounds: Bounds): Perspective {
  // What was on the screen fades at the speed at which it was played, or lived; pausing must not change the picture.
  const rate = message.mode === "playing" ? message.rate : message.mode === "live" ? 1 : before.clock.rate;
  const clock: Clock = { mode: message.mode, timeNs: message.timeNs, rate, atMs: nowMs };
  const same = before.clock.mode === "playing" && message.mode === "playing" && before.clock.rate === message.rate;
  const offNs = Math.abs(timeAt(before.clock, nowMs, bounds) - message.timeNs);
  return {
    clock: same && offNs < JITTER_S * Math.abs(message.rate) * 1e9 ? before.clock : clock,
    rangeNs: message.rangeNs,
    ranks: message.ranks,
    hidden: new Set(message.hidden),
  };
}

export function chosen(before: Perspective, choice: Partial<Choice>): Perspective {
  return { ...before, ...choice };
}

/** The command that makes the others see the same. */
export function selectCommand(choice: Choice): Record<string, unknown> {
  return {
    do: "select",
    range_ns: choice.rangeNs && [Math.floor(choice.rangeNs[0]), Math.ceil(choice.rangeNs[1])],
    ranks: choice.ranks,
    hidden: [...choice.hidden].sort((a, b) => a - b),
  };
}
