// Where things are on the timeline's canvas, and what is under the pointer. Pure.

import type { Span } from "../../state/perspective";
import { type Ticks, timeTicks } from "../../state/span";

export const LEFT = 56;
/** Room for the cursor at the end of the run. */
export const RIGHT = 12;
export const RULER = 24;
/** A line at a time has as much room as its words need. */
const TICK_PIXELS = 116;
/** How near to the cursor's line the pointer takes hold of it. */
const GRIP = 6;

export interface Scale {
  span: Span;
  /** Of the plot, without the counts' axis. */
  width: number;
}

export function xOf(scale: Scale, ns: number): number {
  return LEFT + ((ns - scale.span[0]) / (scale.span[1] - scale.span[0])) * scale.width;
}

export function nsOf(scale: Scale, x: number): number {
  return scale.span[0] + ((x - LEFT) / Math.max(1, scale.width)) * (scale.span[1] - scale.span[0]);
}

/** Times that have a line. */
export function ticksOf({ span, width }: Scale): Ticks {
  return timeTicks(span, width / TICK_PIXELS);
}

export type Zone = "cursor" | "ruler" | "plot";

export function zoneAt(scale: Scale, x: number, y: number, cursorNs: number): Zone {
  if (Math.abs(x - xOf(scale, cursorNs)) <= GRIP) return "cursor";
  return y < RULER ? "ruler" : "plot";
}
