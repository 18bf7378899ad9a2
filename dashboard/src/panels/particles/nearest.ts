// Finds drawn calls by where they are on the screen: for the pointer, and for the arrow keys. No readback of pixels.
import { eachSelected, place, type Moment, type Placed } from "./moment";
import { PLACE, STRIDE } from "./pack";
import type { Selected } from "./sampling";

export interface ParticleHit {
  group: number;
  position: number;
  xPx: number;
  yPx: number;
}

const nothing = (): Placed => ({ xPx: 0, yPx: 0, strength: 0, running: false, function: 0 });

/** The call nearest to a point (y up from the bottom) within a radius. */
export function nearest(
  moment: Moment, groups: readonly Selected[], xPx: number, yPx: number, radiusPx: number,
): ParticleHit | null {
  const placed = nothing();
  let best: ParticleHit | null = null;
  let bestPx = radiusPx;
  const slotPx = moment.widthPx / moment.ranks;
  for (const [group, selected] of groups.entries()) {
    const { data } = selected.packed;
    eachSelected(selected, (position) => {
      // The place in the row is known without a logarithm, and excludes nearly all.
      if (Math.abs(data[position * STRIDE + PLACE]! * slotPx - xPx) > bestPx) return;
      if (!place(moment, selected, position, placed)) return;
      const awayPx = Math.hypot(placed.xPx - xPx, placed.yPx - yPx);
      if (awayPx > bestPx) return;
      bestPx = awayPx;
      best = { group, position, xPx: placed.xPx, yPx: placed.yPx };
    });
  }
  return best;
}

export type Direction = "left" | "right" | "up" | "down";

/** The next call in a direction: near along it, and not far beside it. */
export function neighbour(
  moment: Moment, groups: readonly Selected[], xPx: number, yPx: number, direction: Direction,
): ParticleHit | null {
  const placed = nothing();
  let best: ParticleHit | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const [group, selected] of groups.entries()) {
    eachSelected(selected, (position) => {
      if (!place(moment, selected, position, placed)) return;
      const dx = placed.xPx - xPx;
      const dy = placed.yPx - yPx;
      const along = direction === "left" ? -dx : direction === "right" ? dx : direction === "up" ? dy : -dy;
      const beside = direction === "left" || direction === "right" ? Math.abs(dy) : Math.abs(dx);
      const cost = along + 3 * beside;
      if (along < 0.5 || beside > 2 * along || cost >= bestCost) return;
      bestCost = cost;
      best = { group, position, xPx: placed.xPx, yPx: placed.yPx };
    });
  }
  return best;
}
