// One moment of the view: everything beside the calls that decides how a particle looks. Both renderers draw from this.
import { DURATION, END, FUNCTION, PLACE, START, STRIDE } from "./pack";
import type { Selected } from "./sampling";
import { heightOf, type Scale } from "./scale";

export interface Moment {
  timeNs: number;
  fadeNs: number;
  scale: Scale;
  ranks: number;
  /** The plot without its rim, in pixels of the canvas. */
  widthPx: number;
  heightPx: number;
  /** Around the plot, for particles at its edges. */
  rimPx: number;
  /** Diameter of a particle at rest. */
  sizePx: number;
  /** Calls that had ended by then are not drawn any more. */
  clearedNs: number;
  /** Red, green, blue and 255 by function id; all 0 where the function is hidden or unknown. */
  colours: Uint8Array;
  /** 1 for ranks that are shown; null when all are. */
  ranksShown: Uint8Array | null;
  /** What running particles are brightened towards. */
  ink: readonly [number, number, number];
}

/** Functions that fit the colour table of a moment; ids of the table of MPI functions are far smaller. */
export const MOST_FUNCTIONS = 4096;

/** How much larger a running particle is, with its halo. */
export const RUNNING_SIZE = 2.2;

/** Where a particle is: filled in by `place`, to spare an object for each. */
export interface Placed {
  xPx: number;
  /** Up from the bottom of the plot. */
  yPx: number;
  /** 1 new to 0 gone; running ones are at 1. */
  strength: number;
  running: boolean;
  function: number;
}

/** Says whether the call at a position is to be seen at this moment, and where. */
export function place(moment: Moment, selected: Selected, position: number, into: Placed): boolean {
  const { data, baseNs } = selected.packed;
  const at = position * STRIDE;
  const nowNs = moment.timeNs - baseNs;
  const startNs = data[at + START]!;
  const endNs = data[at + END]!;
  const ageNs = nowNs - startNs;
  const sinceNs = nowNs - endNs;
  if (ageNs < 0 || sinceNs >= moment.fadeNs || startNs < selected.skipBeforeNs) return false;
  if (sinceNs >= 0 && endNs <= moment.clearedNs - baseNs) return false;
  const functionId = data[at + FUNCTION]!;
  if (!(moment.colours[functionId * 4 + 3]! > 0)) return false;
  const rankAndPlace = data[at + PLACE]!;
  if (moment.ranksShown !== null && !moment.ranksShown[Math.floor(rankAndPlace)]) return false;
  into.running = sinceNs < 0;
  into.strength = into.running ? 1 : 1 - sinceNs / moment.fadeNs;
  into.xPx = (rankAndPlace / moment.ranks) * moment.widthPx;
  into.yPx = heightOf(Math.min(ageNs, data[at + DURATION]!), moment.scale) * moment.heightPx;
  into.function = functionId;
  return true;
}

/** Calls `visit` for every selected position: the long ones, then the sample of the others. */
export function eachSelected(selected: Selected, visit: (position: number) => void): void {
  const { packed, long, sampled } = selected;
  for (let position = 0; position < long; position++) visit(position);
  for (let at = 0; at < sampled; at++) {
    const position = packed.shuffled[at]!;
    if (position >= long) visit(position);
  }
}
