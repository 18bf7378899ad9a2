// Which points are under a place or within a line, as they were projected. Pure.

import { type Lens, NEAR } from "./camera";
import type { Scene } from "./model";
import type { Flat } from "./raster";

export type Spot = readonly [x: number, y: number];

/** Smaller discs are found this near to them. */
const REACH_PIXELS = 6;

/** The point under a place, the nearest to the eye of those that cover it; -1 where there is none. */
export function nearest(scene: Scene, flat: Flat, { focal }: Lens, x: number, y: number): number {
  let found = -1;
  let [foundDepth, foundAway] = [Infinity, Infinity];
  let isCovered = false;
  for (let point = 0; point < scene.length; point++) {
    const depth = flat.depth[point] ?? 0;
    const radius = scene.radius[point] ?? 0;
    if (radius === 0 || !(depth > NEAR)) continue;
    const dx = (flat.x[point] ?? 0) - x;
    const dy = (flat.y[point] ?? 0) - y;
    const reach = (radius * focal) / depth;
    const limit = Math.max(REACH_PIXELS, reach);
    const away = dx * dx + dy * dy;
    if (!(away <= limit * limit)) continue;
    const covers = away <= reach * reach;
    if (covers ? !isCovered || depth < foundDepth : !isCovered && away < foundAway) {
      found = point;
      [foundDepth, foundAway] = [depth, away];
      isCovered ||= covers;
    }
  }
  return found;
}

/** The ranks with a point within a closed line, in order. */
export function inside(scene: Scene, flat: Flat, line: readonly Spot[]): number[] {
  const found: number[] = [];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of line) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  for (let point = 0; point < scene.length; point++) {
    const [x, y] = [flat.x[point] ?? NaN, flat.y[point] ?? NaN];
    if (!(x >= left && x <= right && y >= top && y <= bottom)) continue;
    if ((scene.radius[point] ?? 0) === 0 || !((flat.depth[point] ?? 0) > NEAR) || !encloses(line, x, y)) continue;
    const rank = Math.floor(point / scene.pointsPerRank);
    if (found.at(-1) !== rank) found.push(rank);
  }
  return found;
}

function encloses(line: readonly Spot[], x: number, y: number): boolean {
  let isInside = false;
  for (let at = 0; at < line.length; at++) {
    const [x1, y1] = line[at] ?? [0, 0];
    const [x2, y2] = line[(at + 1) % line.length] ?? [0, 0];
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) isInside = !isInside;
  }
  return isInside;
}
