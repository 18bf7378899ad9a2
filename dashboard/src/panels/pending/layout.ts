// Where groups of ranks stand: on an oval in the order of their nodes or regions, with gaps between those. It depends on the
// groups and the size alone: nothing moves with the clock. Pure.

import type { PendingGroups } from "../../feed/pending";

export interface Size { readonly width: number; readonly height: number }
export type Point = readonly [x: number, y: number];

export interface Layout {
  centre: Point;
  /** By group. */
  x: Float64Array;
  y: Float64Array;
  angle: Float64Array;
  radius: number;
  /** Of the oval, and how far the names of ranks with a line along them reach beyond it to the side. */
  rx: number;
  ry: number;
  nameWidth: number;
  /** Neighbours that share a node or region: from the first group to the last. */
  arcs: readonly { first: number; last: number }[];
}

/** Groups that share a node or region stand together; in steps. */
const GAP = 0.9;
const LINE = 15;
const AWAY = 12;
/** Space for the names of nodes or regions outside of those of their ranks. */
const ARC_ROOM = 26;
/** Longer names are cut. */
export const LABEL_MAX = 120;
const WIDEST = 1.7;

/** `widths`: of the names, in pixels; `arcWidth`: of the widest name of a node or region. */
export function layoutOf(groups: PendingGroups, widths: readonly number[], arcWidth: number, { width, height }: Size): Layout {
  const { length } = groups;
  const widest = Math.min(LABEL_MAX, Math.max(0, ...widths));
  const arcs = arcsOf(groups);
  // Lines go along ranks, whose names are short; other groups need no space for them.
  const along = arcs.flatMap(({ first, last }) => widths.slice(first, last + 1));
  const nameWidth = Math.min(LABEL_MAX, Math.max(0, ...along));
  const across = Math.max(widest + AWAY + 4, arcs.length > 0 ? nameWidth + AWAY + arcWidth + ARC_ROOM : 0);
  const down = LINE + AWAY + (arcs.length > 0 ? ARC_ROOM : 0);
  const ry = Math.max(40, height / 2 - down);
  const rx = Math.max(40, Math.min(width / 2 - across, WIDEST * ry));
  const isGap = (at: number): boolean => arcs.length > 0 && groups.lastKey[at] !== groups.firstKey[(at + 1) % length];
  const gaps = Array.from({ length }, (_, at) => at).filter(isGap).length;
  const step = (2 * Math.PI) / Math.max(1, length + GAP * gaps);
  const x = new Float64Array(length);
  const y = new Float64Array(length);
  const angles = new Float64Array(length);
  let angle = -Math.PI / 2;
  for (let at = 0; at < length; at++) {
    angles[at] = angle;
    [x[at], y[at]] = [width / 2 + rx * Math.cos(angle), height / 2 + ry * Math.sin(angle)];
    angle += step * (isGap(at) ? 1 + GAP : 1);
  }
  const stepPixels = step * Math.sqrt((rx * rx + ry * ry) / 2);
  return {
    centre: [width / 2, height / 2], x, y, angle: angles, rx, ry, nameWidth, radius: Math.min(9, Math.max(2.5, stepPixels * 0.34)), arcs,
  };
}

/** Runs of groups of one node or region; none where all are of the same, or each is of its own. */
function arcsOf({ firstKey, lastKey, length }: PendingGroups): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = [];
  for (let at = 0; at < length; at++) {
    const run = runs.at(-1);
    if (run && firstKey[at] === lastKey[at] && firstKey[at] === lastKey[run.first] && firstKey[run.first] === lastKey[run.first]) run.last = at;
    else runs.push({ first: at, last: at });
  }
  return runs.length > 1 ? runs.filter(({ first, last }) => last > first) : [];
}

/** A point beyond the names of the groups: where the line along ranks of one node is, or further out. */
export function beyond({ centre, rx, ry, radius, nameWidth }: Layout, angle: number, by: number): Point {
  return [centre[0] + (rx + radius + nameWidth + 9 + by) * Math.cos(angle), centre[1] + (ry + radius + LINE + 6 + by) * Math.sin(angle)];
}

/** Away from the middle, from a place on the oval. */
export function outward({ centre, x, y }: Layout, at: number): Point {
  const [dx, dy] = [(x[at] ?? 0) - centre[0], (y[at] ?? 0) - centre[1]];
  const long = Math.hypot(dx, dy) || 1;
  return [dx / long, dy / long];
}

/** An edge as a curve of three points. What goes on within a group is the colour of the group. */
export type Curve = readonly [from: Point, over: Point, to: Point];

/** How far towards the middle long edges bend, and how far apart the two directions are. */
const BEND = 0.6;
const APART = 16;

export function curveOf(layout: Layout, from: number, to: number): Curve {
  const { centre, x, y, radius, rx, ry } = layout;
  const [p, q]: [Point, Point] = [[x[from] ?? 0, y[from] ?? 0], [x[to] ?? 0, y[to] ?? 0]];
  const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
  const long = Math.hypot(dx, dy) || 1;
  const apart = Math.min(APART, long * 0.2);
  // Neighbours are joined by what is nearly a straight line.
  const bend = BEND * Math.min(1, long / (rx + ry));
  const middle: Point = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
  const over: Point = [
    middle[0] + (centre[0] - middle[0]) * bend - (dy / long) * apart,
    middle[1] + (centre[1] - middle[1]) * bend + (dx / long) * apart,
  ];
  return [towards(p, over, radius + 1), over, towards(q, over, radius + 2)];
}

function towards(from: Point, to: Point, by: number): Point {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const long = Math.hypot(dx, dy) || 1;
  const part = Math.min(0.45, by / long);
  return [from[0] + dx * part, from[1] + dy * part];
}

/** A point of a curve; `part` from 0 to 1. */
export function pointOn([from, over, to]: Curve, part: number): Point {
  const rest = 1 - part;
  return [
    rest * rest * from[0] + 2 * rest * part * over[0] + part * part * to[0],
    rest * rest * from[1] + 2 * rest * part * over[1] + part * part * to[1],
  ];
}

const SAMPLES = 24;
const NEAR = 5;

/** The edge or the group under a point: groups first, then the nearest edge. */
export function hit(layout: Layout, edges: readonly (readonly [from: number, to: number])[], px: number, py: number): { kind: "group" | "edge"; at: number } | null {
  let [best, found]: [number, number] = [layout.radius + 5, -1];
  for (let at = 0; at < layout.x.length; at++) {
    const away = Math.hypot((layout.x[at] ?? 0) - px, (layout.y[at] ?? 0) - py);
    if (away < best) [best, found] = [away, at];
  }
  if (found >= 0) return { kind: "group", at: found };
  best = NEAR;
  edges.forEach(([from, to], edge) => {
    const away = from === to ? Infinity : awayFrom(curveOf(layout, from, to), px, py);
    if (away < best) [best, found] = [away, edge];
  });
  return found >= 0 ? { kind: "edge", at: found } : null;
}

function awayFrom(curve: Curve, px: number, py: number): number {
  let least = Infinity;
  let before = curve[0];
  for (let sample = 1; sample <= SAMPLES; sample++) {
    const next = pointOn(curve, sample / SAMPLES);
    least = Math.min(least, awayFromLine(before, next, px, py));
    before = next;
  }
  return least;
}

function awayFromLine([x1, y1]: Point, [x2, y2]: Point, px: number, py: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const part = Math.min(1, Math.max(0, ((px - x1) * dx + (py - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x1 + dx * part - px, y1 + dy * part - py);
}
