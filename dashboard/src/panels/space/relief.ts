// A field of values as a relief: heights over a grid, seen through a camera, the farthest first. Pure but for the canvas it
// draws on.

import { type Camera, fitted, type Lens, NEAR, project, type Size } from "./camera";

/** More cells along an edge are drawn together: the greatest of them counts. */
export const EDGE_MAX = 96;
const HALF = 0.8;
const HIGH = 0.7;
const FIRST_SIDE = { yaw: -Math.PI / 3, pitch: 0.6 };
/** Around the relief, for the names of the axes. */
const MARGIN = 56;
/** How far from the field names stand, of its half. */
const OUTSIDE = 1.06;
const NAME_PIXELS = 13;

export interface Relief {
  columns: number;
  rows: number;
  /** 0..1 of the scale by row and column; not a number where nothing is known. */
  parts: Float32Array;
  /** By row and column: the cell of the field whose value is drawn, as row * columns of the field + column. */
  from: Uint32Array;
}

/** Where a diagonal from the first cell to the last is seen in its whole length: most messages go to ranks nearby. */
export const BESIDE_DIAGONAL = (-2 * Math.PI) / 3;

/** All of a relief in sight, from its first side. */
export function firstCamera(size: Size, yaw = FIRST_SIDE.yaw): Camera {
  const corners = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => [x * HALF, y * HALF, (z * HIGH) / 2] as const)));
  const column = (axis: 0 | 1 | 2): Float32Array => Float32Array.from(corners, (corner) => corner[axis]);
  const cloud = { length: corners.length, x: column(0), y: column(1), z: column(2) };
  return fitted(cloud, yaw, FIRST_SIDE.pitch, size, Math.min(MARGIN, size.height / 6, size.width / 6));
}

export function reliefOf(columns: number, rows: number, partAt: (column: number, row: number) => number): Relief {
  const [perColumn, perRow] = [Math.max(1, Math.ceil(columns / EDGE_MAX)), Math.max(1, Math.ceil(rows / EDGE_MAX))];
  const [wide, high] = [Math.ceil(columns / perColumn), Math.ceil(rows / perRow)];
  const parts = new Float32Array(wide * high).fill(NaN);
  const from = new Uint32Array(wide * high);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = Math.floor(row / perRow) * wide + Math.floor(column / perColumn);
      const part = partAt(column, row);
      const before = parts[at] ?? NaN;
      if (!Number.isNaN(part) && !(before >= part)) [parts[at], from[at]] = [part, row * columns + column];
    }
  }
  return { columns: wide, rows: high, parts, from };
}

/** A cell's middle at its height, in the scene of the camera. */
function placeOf({ columns, rows, parts }: Relief, column: number, row: number, height = parts[row * columns + column] ?? 0): [number, number, number] {
  return [((column + 0.5) / columns) * 2 * HALF - HALF, HALF - ((row + 0.5) / rows) * 2 * HALF, (Number.isNaN(height) ? 0 : height) * HIGH - HIGH / 2];
}

/** Draws each cell as a bar whose top has the colour of its value, the farthest first. */
export function drawRelief(context: CanvasRenderingContext2D, relief: Relief, lens: Lens, toneOf: (part: number) => string, line: string): void {
  const { columns, rows, parts } = relief;
  const [halfX, halfY] = [HALF / columns, HALF / rows];
  const cells = Array.from({ length: columns * rows }, (_, at) => at).filter((at) => (parts[at] ?? NaN) > 0);
  const depth = new Float32Array(columns * rows);
  for (const at of cells) depth[at] = project(lens, ...placeOf(relief, at % columns, Math.floor(at / columns), 0.5))[2];
  cells.sort((one, other) => (depth[other] ?? 0) - (depth[one] ?? 0));
  floor(context, lens, line);
  for (const at of cells) {
    const [x, y, top] = placeOf(relief, at % columns, Math.floor(at / columns));
    const low = -HIGH / 2;
    const tone = toneOf(parts[at] ?? 0);
    // The two sides that face the eye, then the top.
    const sideX = lens.eye[0] > x ? x + halfX : x - halfX;
    const sideY = lens.eye[1] > y ? y + halfY : y - halfY;
    const corners = (points: readonly (readonly [number, number, number])[]): void => {
      context.beginPath();
      for (const [index, point] of points.entries()) {
        const [px, py, away] = project(lens, ...point);
        if (away <= NEAR) return;
        if (index === 0) context.moveTo(px, py);
        else context.lineTo(px, py);
      }
      context.closePath();
      context.fill();
    };
    context.fillStyle = tone;
    context.globalAlpha = 1;
    const shade = (amount: number): void => {
      context.fillStyle = `rgba(0, 0, 0, ${amount})`;
    };
    const left = [[sideX, y - halfY, low], [sideX, y + halfY, low], [sideX, y + halfY, top], [sideX, y - halfY, top]] as const;
    const front = [[x - halfX, sideY, low], [x + halfX, sideY, low], [x + halfX, sideY, top], [x - halfX, sideY, top]] as const;
    corners(left);
    corners(front);
    corners([[x - halfX, y - halfY, top], [x + halfX, y - halfY, top], [x + halfX, y + halfY, top], [x - halfX, y + halfY, top]]);
    shade(0.3);
    corners(left);
    shade(0.15);
    corners(front);
  }
}

function floor(context: CanvasRenderingContext2D, lens: Lens, line: string): void {
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.beginPath();
  for (const [index, [x, y]] of ([[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF], [-HALF, -HALF]] as const).entries()) {
    const [px, py] = project(lens, x, y, -HIGH / 2);
    if (index === 0) context.moveTo(px, py);
    else context.lineTo(px, py);
  }
  context.stroke();
}

/** A name beside the field: where it begins, or ends. */
export interface EdgeName { text: string; x: number; y: number; align: "left" | "right" }

/** The names of the axes at the middle of the edge before the eye and of the one beside it; where rows have names, those that leave each other room. */
export function edgeNames(lens: Lens, columns: string, rows: string | readonly string[]): EdgeName[] {
  const out = HALF * OUTSIDE;
  const [x, y] = [lens.eye[0] > 0 ? out : -out, lens.eye[1] > 0 ? out : -out];
  const [middle] = project(lens, 0, 0, -HIGH / 2);
  const at = (text: string, ...place: [number, number]): EdgeName => {
    const [px, py] = project(lens, ...place, -HIGH / 2);
    return px < middle ? { text, x: px - 4, y: py + 6, align: "right" } : { text, x: px + 4, y: py + 6, align: "left" };
  };
  const found = [at(columns, 0, y)];
  if (typeof rows === "string") return [...found, at(rows, x, 0)];
  let before: EdgeName | null = null;
  for (const [row, text] of rows.entries()) {
    const name = at(text, x, HALF - ((row + 0.5) / rows.length) * 2 * HALF);
    if (before && Math.abs(before.y - name.y) < NAME_PIXELS) continue;
    before = name;
    found.push(name);
  }
  return found;
}

/** The cell of the field whose bar is under a place: the nearest to the eye of those whose top is within reach; null where there is none. */
export function cellAt(relief: Relief, lens: Lens, x: number, y: number): number | null {
  let found: number | null = null;
  let least = Infinity;
  for (let at = 0; at < relief.parts.length; at++) {
    const part = relief.parts[at] ?? NaN;
    if (!(part > 0)) continue;
    const [column, row] = [at % relief.columns, Math.floor(at / relief.columns)];
    const [px, py, depth] = project(lens, ...placeOf(relief, column, row));
    const [, foot] = project(lens, ...placeOf(relief, column, row, 0));
    const reach = Math.max(4, (lens.focal * HALF) / Math.max(relief.columns, relief.rows) / Math.max(NEAR, depth));
    if (Math.abs(px - x) <= reach && y >= Math.min(py, foot) - reach && y <= Math.max(py, foot) + reach && depth < least) {
      least = depth;
      found = relief.from[at] ?? null;
    }
  }
  return found;
}
