// Which of many ranks have a name in the picture: few, spread over it, of points that nothing hides. Pure.

import { type Lens, NEAR } from "./camera";
import type { Scene } from "./model";
import type { Flat } from "./raster";

/** The least distance of two named points. */
const APART_PIXELS = 80;
const NAMES_MAX = 40;
/** Points in one cell of the picture may hide each other. */
const CELL_PIXELS = 12;
/** A point this many times its own size behind another one is hidden. */
const BEHIND = 4;

/** Ranks from `first` to `last` whose first point can be seen and named. Turning the scene changes few of them. */
export function spreadRanks(scene: Scene, flat: Flat, { focal, size: { width, height } }: Lens, ranks: readonly (readonly [number, number])[]): number[] {
  const columns = Math.max(1, Math.ceil(width / CELL_PIXELS));
  const nearest = new Float32Array(columns * Math.max(1, Math.ceil(height / CELL_PIXELS))).fill(Infinity);
  const cellOf = (point: number): number => {
    const x = flat.x[point] ?? NaN;
    const y = flat.y[point] ?? NaN;
    const depth = flat.depth[point] ?? 0;
    if (!(scene.radius[point] ?? 0) || !(depth > NEAR) || !(x >= 0 && x < width && y >= 0 && y < height)) return -1;
    return Math.floor(y / CELL_PIXELS) * columns + Math.floor(x / CELL_PIXELS);
  };
  for (let point = 0; point < scene.length; point++) {
    const cell = cellOf(point);
    const depth = flat.depth[point] ?? 0;
    if (cell >= 0 && depth < (nearest[cell] ?? 0)) nearest[cell] = depth;
  }
  const found: number[] = [];
  const places: (readonly [number, number])[] = [];
  for (const rank of halving(scene.ranks)) {
    if (found.length >= NAMES_MAX) break;
    if (!ranks.some(([first, last]) => rank >= first && rank <= last)) continue;
    const point = rank * scene.pointsPerRank;
    const cell = cellOf(point);
    if (cell < 0) continue;
    const [x, y, depth] = [flat.x[point] ?? 0, flat.y[point] ?? 0, flat.depth[point] ?? 0];
    const behind = Math.max(BEHIND * (scene.radius[point] ?? 0), (CELL_PIXELS * depth) / focal);
    if (depth > (nearest[cell] ?? 0) + behind) continue;
    if (places.some(([otherX, otherY]) => (otherX - x) ** 2 + (otherY - y) ** 2 < APART_PIXELS ** 2)) continue;
    found.push(rank);
    places.push([x, y]);
  }
  return found;
}

let halved: { ranks: number; order: Uint32Array } = { ranks: 0, order: new Uint32Array(0) };

/** All ranks: 0, the middle one, those of the quarters, of the eighths, and so on. */
export function halving(ranks: number): Uint32Array {
  if (halved.ranks === ranks) return halved.order;
  const order = new Uint32Array(ranks);
  const bits = Math.max(1, Math.ceil(Math.log2(Math.max(2, ranks))));
  let length = 0;
  for (let at = 0; at < 2 ** bits; at++) {
    let rank = 0;
    for (let bit = 0; bit < bits; bit++) if (at & (1 << bit)) rank |= 1 << (bits - 1 - bit);
    if (rank < ranks) order[length++] = rank;
  }
  halved = { ranks, order };
  return order;
}
