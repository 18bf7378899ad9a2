// The ways of links: inside a region slightly bent, as several may lie on one line; between regions
// together, out of one disc and into the other beside what lies between. Pure; runs in the worker.

import type { Links } from "./links";
import type { Disc, Placement } from "./layout";

/** Points of a way. */
export const POINTS = 14;
const BEND = 0.1;
/** How much a link follows the common way. */
const BUNDLED = 0.88;

export interface Curves {
  /** `POINTS` pairs of x and y for each link. */
  links: Float32Array;
  trunks: readonly Trunk[];
}

/** The common way of all links between two regions, by their places in the list. */
export interface Trunk { a: number; b: number; points: Float32Array }

type Point = readonly [x: number, y: number];

export function bundle(links: Links, placement: Placement): Curves {
  const { x, y, regionOf, discs } = placement;
  const ways = new Map<number, { trunk: Trunk; control: readonly Point[] }>();
  const found = new Float32Array(links.length * POINTS * 2);
  for (let at = 0; at < links.length; at++) {
    const [a, b] = [links.a[at] ?? 0, links.b[at] ?? 0];
    const into = found.subarray(at * POINTS * 2, (at + 1) * POINTS * 2);
    const from: Point = [x[a] ?? 0, y[a] ?? 0];
    const to: Point = [x[b] ?? 0, y[b] ?? 0];
    const [one, other] = [regionOf[a] ?? -1, regionOf[b] ?? -1];
    if (one === other || one < 0 || other < 0) {
      sample([from, bent(from, to), to], into);
      continue;
    }
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    const key = low * discs.length + high;
    let way = ways.get(key);
    if (!way) {
      const control = wayOf(discs, low, high);
      const points = new Float32Array(POINTS * 2);
      sample(control, points);
      ways.set(key, (way = { control, trunk: { a: low, b: high, points } }));
    }
    const inner = one === low ? way.control : [...way.control].reverse();
    const all = [from, ...inner, to];
    sample(all.map((point, index) => straightened(point, index / (all.length - 1), from, to)), into);
  }
  return { links: found, trunks: [...ways.values()].map(({ trunk }) => trunk) };
}

function straightened(point: Point, part: number, from: Point, to: Point): Point {
  return [BUNDLED * point[0] + (1 - BUNDLED) * (from[0] + (to[0] - from[0]) * part), BUNDLED * point[1] + (1 - BUNDLED) * (from[1] + (to[1] - from[1]) * part)];
}

function bent(from: Point, to: Point): Point {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  return [(from[0] + to[0]) / 2 - dy * BEND * 2, (from[1] + to[1]) / 2 + dx * BEND * 2];
}

/** From the rim of one disc to that of the other, beside discs on the straight way. */
function wayOf(discs: readonly Disc[], low: number, high: number): Point[] {
  const [one, other] = [discs[low]!, discs[high]!];
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const distance = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / distance, dy / distance];
  const out: Point = [one.x + ux * one.radius, one.y + uy * one.radius];
  const into: Point = [other.x - ux * other.radius, other.y - uy * other.radius];
  // The disc in the way that would be cut most; the way goes round on its nearer side.
  let [worst, side] = [0, 0];
  discs.forEach((disc, index) => {
    if (index === low || index === high) return;
    const along = (disc.x - one.x) * ux + (disc.y - one.y) * uy;
    if (along <= 0 || along >= distance) return;
    const across = (disc.x - one.x) * -uy + (disc.y - one.y) * ux;
    const deep = disc.radius * 1.15 - Math.abs(across);
    if (deep <= worst) return;
    worst = deep;
    side = across > 0 ? -1 : 1;
  });
  // A way that pulls a spline aside pulls it half as far.
  const aside = worst > 0 ? side * worst * 1.9 : distance * 0.06;
  return [out, [(out[0] + into[0]) / 2 - uy * aside, (out[1] + into[1]) / 2 + ux * aside], into];
}

/** A cubic spline that begins and ends at its outer points. */
function sample(control: readonly Point[], into: Float32Array): void {
  const [first, last] = [control[0]!, control.at(-1)!];
  const points = [first, first, ...control, last, last];
  const pieces = points.length - 3;
  for (let point = 0; point < POINTS; point++) {
    const place = (point / (POINTS - 1)) * pieces;
    const piece = Math.min(pieces - 1, Math.floor(place));
    const t = place - piece;
    const weights = [(1 - t) ** 3 / 6, (3 * t ** 3 - 6 * t ** 2 + 4) / 6, (-3 * t ** 3 + 3 * t ** 2 + 3 * t + 1) / 6, t ** 3 / 6];
    let [x, y] = [0, 0];
    weights.forEach((weight, at) => {
      x += weight * (points[piece + at]?.[0] ?? 0);
      y += weight * (points[piece + at]?.[1] ?? 0);
    });
    into[2 * point] = x;
    into[2 * point + 1] = y;
  }
  into.set(first, 0);
  into.set(last, 2 * POINTS - 2);
}
