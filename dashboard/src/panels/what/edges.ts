// How edges run: curves from the side of one node to that of another, those between the same parts of two layers drawn
// together. Pure.

import { type Camera, type Frame, gaps, place } from "./camera";
import { BORDER } from "./glyph";
import type { Context } from "../canvas";
import type { Graph } from "./graph";

/** With fewer rows every edge can be followed by itself. */
const BUNDLED_FROM_ROWS = 25;
/** Rows whose edges run together. */
const BLOCK_ROWS = 12;
const PULL = 0.72;
/** Cells in pixels: up to the first edges run together, from the second on each by itself. */
const LOOSENED = { from: 8, to: 20 };
/** How far along its way a curve begins to turn. */
const BEND = 0.45;

/** Of each edge the rows that its bundle has in the middle, at both its ends; null where edges run by themselves. */
export type Bundles = { from: Float32Array; to: Float32Array } | null;

export function bundlesOf({ rows, row, dag: { nodes, edges } }: Graph): Bundles {
  if (rows < BUNDLED_FROM_ROWS) return null;
  const block = (node: number): number => Math.round((row[node] ?? 0) / BLOCK_ROWS) + 4096;
  const sums = new Map<number, { from: number; to: number; count: number }>();
  const mine = Array.from({ length: edges.length }, (_, edge) => {
    const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
    // Layers below 2^15, blocks below 2^13, lengths of ways cut at 2^10: all fits into the whole numbers that there are.
    const way = Math.min(1023, (nodes.layer[to] ?? 0) - (nodes.layer[from] ?? 0));
    const key = (((nodes.layer[from] ?? 0) * 1024 + way) * 8192 + block(from)) * 8192 + block(to);
    const sum = sums.get(key) ?? { from: 0, to: 0, count: 0 };
    sums.set(key, sum);
    sum.from += row[from] ?? 0;
    sum.to += row[to] ?? 0;
    sum.count++;
    return sum;
  });
  return { from: Float32Array.from(mine, ({ from, count }) => from / count), to: Float32Array.from(mine, ({ to, count }) => to / count) };
}

/** The eight numbers of a curve: start, two points that bend it, end. */
export function curveOf(graph: Graph, bundles: Bundles, edge: number, camera: Camera, frame: Frame, into: Float64Array): void {
  const { nodes, edges } = graph.dag;
  const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
  const [fromLayer, toLayer] = [nodes.layer[from] ?? 0, nodes.layer[to] ?? 0];
  const [fromRow, toRow] = [graph.row[from] ?? 0, graph.row[to] ?? 0];
  // An edge begins and ends at the sides of glyphs, which are drawn over it.
  const beside = (BORDER * camera.cell) / gaps(camera, frame).along;
  const [begin, end] = [fromLayer + beside, toLayer - beside];
  const bend = BEND * (end - begin);
  const pull = PULL * Math.min(1, Math.max(0, (LOOSENED.to - camera.cell) / (LOOSENED.to - LOOSENED.from)));
  const pulled = (own: number, together: number | undefined): number => (together === undefined ? own : own + pull * (together - own));
  [into[0], into[1]] = place(camera, frame, begin, fromRow);
  [into[2], into[3]] = place(camera, frame, begin + bend, pulled(fromRow, bundles?.from[edge]));
  [into[4], into[5]] = place(camera, frame, end - bend, pulled(toRow, bundles?.to[edge]));
  [into[6], into[7]] = place(camera, frame, end, toRow);
}

/** Whether any of a curve may be in the view, or so far around it. */
export function isInSight(curve: Float64Array, { width, height }: Frame, margin: number): boolean {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < 8; at += 2) {
    left = Math.min(left, curve[at] ?? 0);
    right = Math.max(right, curve[at] ?? 0);
    top = Math.min(top, curve[at + 1] ?? 0);
    bottom = Math.max(bottom, curve[at + 1] ?? 0);
  }
  return right >= -margin && left <= width + margin && bottom >= -margin && top <= height + margin;
}

/** In pixels: an edge of many messages is wider, and all are finer from far away. */
export function widthOf(count: number, cell: number): number {
  return Math.min(6, 0.7 + 0.75 * Math.log2(Math.max(1, count))) * Math.min(1, Math.max(0.55, cell / 28));
}

export function trace(context: Context, curve: Float64Array): void {
  context.moveTo(curve[0] ?? 0, curve[1] ?? 0);
  context.bezierCurveTo(curve[2] ?? 0, curve[3] ?? 0, curve[4] ?? 0, curve[5] ?? 0, curve[6] ?? 0, curve[7] ?? 0);
}
