// What of the graph is under a place of the screen, and which ranks a lasso holds. Pure.

import type { Target } from "../../words/regions";
import { POINTS } from "./bundle";
import { type Matrix, type Point, toScreen, toWorld } from "./camera";
import type { Scene } from "./paint-links";

const NEAR_PIXELS = 7;
const LINE_PIXELS = 5;
/** Single links can be pointed at when ranks are this far from each other. */
const LINKS_FROM_SCALE = 12;

export function targetAt(scene: Scene, matrix: Matrix, x: number, y: number): Target | null {
  const scale = Math.hypot(matrix[0], matrix[1]);
  const rank = rankAt(scene, matrix, x, y, Math.max(NEAR_PIXELS, scale * 0.4));
  if (rank !== null) return { kind: "rank", rank };
  const [wx, wy] = toWorld(matrix, x, y);
  const disc = scene.placement.discs.find((each) => Math.hypot(wx - each.x, wy - each.y) <= each.radius);
  if (scale >= LINKS_FROM_SCALE) {
    const link = lineAt(scene.curves.links, scene.links.length, wx, wy, LINE_PIXELS / scale);
    if (link !== null) return { kind: "pair", src: scene.links.a[link] ?? 0, dst: scene.links.b[link] ?? 0 };
  }
  if (disc) return { kind: "region", id: disc.id };
  for (const { a, b, points } of scene.curves.trunks) {
    if (lineAt(points, 1, wx, wy, LINE_PIXELS / scale) !== null) return { kind: "between", a: scene.regions[a]?.id ?? 0, b: scene.regions[b]?.id ?? 0 };
  }
  return null;
}

function rankAt({ placement }: Scene, matrix: Matrix, x: number, y: number, within: number): number | null {
  let [found, nearest]: [number | null, number] = [null, within];
  for (let rank = 0; rank < placement.x.length; rank++) {
    const [px, py] = toScreen(matrix, placement.x[rank] ?? Number.NaN, placement.y[rank] ?? Number.NaN);
    const distance = Math.hypot(px - x, py - y);
    if (distance < nearest) [found, nearest] = [rank, distance];
  }
  return found;
}

/** The nearest of ways of equal length. */
function lineAt(points: Float32Array, lines: number, x: number, y: number, within: number): number | null {
  let [found, nearest]: [number | null, number] = [null, within];
  for (let line = 0; line < lines; line++) {
    for (let point = 0; point < POINTS - 1; point++) {
      const at = (line * POINTS + point) * 2;
      const [ax, ay, bx, by] = [points[at] ?? 0, points[at + 1] ?? 0, points[at + 2] ?? 0, points[at + 3] ?? 0];
      if (Math.min(ax, bx) > x + nearest || Math.max(ax, bx) < x - nearest || Math.min(ay, by) > y + nearest || Math.max(ay, by) < y - nearest) continue;
      const [dx, dy] = [bx - ax, by - ay];
      const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(ax + along * dx - x, ay + along * dy - y);
      if (distance < nearest) [found, nearest] = [line, distance];
    }
  }
  return found;
}

/** Ranks inside a closed line of the screen. */
export function ranksInside({ placement }: Scene, matrix: Matrix, line: readonly Point[]): number[] {
  const found: number[] = [];
  for (let rank = 0; rank < placement.x.length; rank++) {
    const [x, y] = toScreen(matrix, placement.x[rank] ?? Number.NaN, placement.y[rank] ?? Number.NaN);
    let inside = false;
    line.forEach(([ax, ay], at) => {
      const [bx, by] = line[(at + 1) % line.length] ?? [ax, ay];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    });
    if (inside) found.push(rank);
  }
  return found;
}
