// Draws the links of the graph, in the worker: ten thousand of them must not hold up the page.

import type { Between, Region } from "../../feed/regions";
import { latencyColour } from "../../palette/ramps";
import { regionLook } from "../../palette/regions";
import type { Context } from "../canvas";
import { type Curves, POINTS } from "./bundle";
import { type Matrix, toScreen } from "./camera";
import type { Placement } from "./layout";
import type { Links } from "./links";

export type Mode = "regions" | "latency";

export interface Look {
  theme: "dark" | "light";
  mode: Mode;
  /** Of links between regions, where they have no colour of their own. */
  line: string;
  /** 1 for ranks that are selected; null: all are. */
  shown: Uint8Array | null;
}

export interface Scene {
  regions: readonly Region[];
  between: readonly Between[];
  links: Links;
  placement: Placement;
  curves: Curves;
}

const TRUNK_WIDEST = 9;
/** Beside what is selected. */
const FAINT = 0.12;

export function paintLinks(context: Context, scene: Scene, matrix: Matrix, size: { width: number; height: number }, look: Look): void {
  paintTrunks(context, scene, matrix, look);
  const { links, placement: { regionOf } } = scene;
  const alpha = Math.min(0.6, Math.max(0.16, 0.95 - 0.2 * Math.log10(1 + links.length)));
  context.setLineDash([]);
  for (const at of drawingOrder(links, look.mode)) {
    const [a, b] = [links.a[at] ?? 0, links.b[at] ?? 0];
    if (!inSight(scene, at, matrix, size)) continue;
    const inside = regionOf[a] === regionOf[b];
    const latency = links.latency[at] ?? Number.NaN;
    const region = scene.regions[regionOf[a] ?? -1];
    const own = inside && region ? regionLook(region.id).colour[look.theme] : look.line;
    context.strokeStyle = look.mode === "latency" ? latencyColour(latency, look.theme) : own;
    context.globalAlpha = alpha * (inside ? 1 : 0.55) * (isShown(look, a) && isShown(look, b) ? 1 : FAINT);
    context.lineWidth = inside ? 1 : 0.8;
    trace(context, scene.curves.links, at * POINTS * 2, matrix);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** By latency the slowest on top, what is unknown below. */
function drawingOrder(links: Links, mode: Mode): Uint32Array {
  const order = Uint32Array.from({ length: links.length }, (_, at) => at);
  if (mode === "regions") return order;
  const key = (at: number): number => (Number.isNaN(links.latency[at] ?? Number.NaN) ? -1 : (links.latency[at] ?? 0));
  return order.sort((one, other) => key(one) - key(other) || one - other);
}

function isShown({ shown }: Look, rank: number): boolean {
  return shown === null || shown[rank] === 1;
}

/** Between two regions, as wide as there are messages. */
function paintTrunks(context: Context, scene: Scene, matrix: Matrix, look: Look): void {
  const { regions, curves: { trunks } } = scene;
  const rows = new Map(scene.between.map((row) => [`${Math.min(row.a, row.b)}/${Math.max(row.a, row.b)}`, row]));
  const most = scene.between.reduce((found, { messages }) => Math.max(found, messages), 1);
  const many = 1 + trunks.length / 160;
  const drawn = trunks.map(({ a, b, points }) => {
    const [one, other] = [regions[a], regions[b]];
    const row = rows.get(`${Math.min(one?.id ?? 0, other?.id ?? 0)}/${Math.max(one?.id ?? 0, other?.id ?? 0)}`);
    return { one, other, points, row, latency: row?.latency ?? null };
  });
  if (look.mode === "latency") drawn.sort((one, other) => (one.latency ?? -1) - (other.latency ?? -1));
  for (const { one, other, points, row, latency } of drawn) {
    if (!one || !other) continue;
    const both = look.shown === null || (holds(look.shown, one) && holds(look.shown, other));
    context.strokeStyle = look.mode === "latency" ? latencyColour(latency, look.theme) : look.line;
    context.globalAlpha = (look.mode === "latency" ? trunkAlpha(latency, many) : 0.28 / many) * (both ? 1 : FAINT);
    context.lineWidth = trunkWidth(row?.messages ?? 0, most, matrix);
    context.lineCap = "butt";
    context.setLineDash(look.mode === "latency" && latency === null ? [6, 5] : []);
    trace(context, points, 0, matrix);
    context.stroke();
  }
}

/** What is slow stands out, however many there are; what is unknown steps back. */
function trunkAlpha(latency: number | null, many: number): number {
  if (latency === null) return 0.3 / many;
  return 0.12 + 0.58 / (latency > 1.5 ? 1 : many);
}

function holds(shown: Uint8Array, region: Region): boolean {
  return region.ranks.some(([first, last]) => shown.subarray(first, last + 1).includes(1));
}

export function trunkWidth(messages: number, most: number, matrix: Matrix): number {
  const scale = Math.hypot(matrix[0], matrix[1]);
  const widest = Math.min(TRUNK_WIDEST, Math.max(2, scale * 0.8));
  return 1 + (widest - 1) * Math.sqrt(messages / Math.max(1, most));
}

export function trace(context: Context, points: Float32Array, from: number, matrix: Matrix): void {
  context.beginPath();
  let [beforeX, beforeY] = toScreen(matrix, points[from] ?? 0, points[from + 1] ?? 0);
  context.moveTo(beforeX, beforeY);
  for (let point = 1; point < POINTS; point++) {
    const [x, y] = toScreen(matrix, points[from + 2 * point] ?? 0, points[from + 2 * point + 1] ?? 0);
    // Round at every point: the corners of a wide line are seen.
    if (point > 1) context.quadraticCurveTo(beforeX, beforeY, (beforeX + x) / 2, (beforeY + y) / 2);
    [beforeX, beforeY] = [x, y];
  }
  context.lineTo(beforeX, beforeY);
}

/** Whether a link can touch the picture: its ends and its middle say enough. */
function inSight({ curves }: Scene, at: number, matrix: Matrix, { width, height }: { width: number; height: number }): boolean {
  let [left, right, above, below] = [true, true, true, true];
  for (const point of [0, 4, 7, 10, POINTS - 1]) {
    const [x, y] = toScreen(matrix, curves.links[(at * POINTS + point) * 2] ?? 0, curves.links[(at * POINTS + point) * 2 + 1] ?? 0);
    left &&= x < -40;
    right &&= x > width + 40;
    above &&= y < -40;
    below &&= y > height + 40;
  }
  return !(left || right || above || below);
}
