// Where nodes are on the screen. Layers run from left to right as time does, or from top to bottom when flipped. Gaps
// never get smaller than what fills the view: few layers or few rows use all of it. Close up, glyphs decide. Pure.

export interface Camera {
  /** What is in the middle of the view. */
  layer: number;
  row: number;
  /** The room of one glyph in pixels. */
  cell: number;
}

export interface Frame {
  width: number;
  height: number;
  layers: number;
  rows: number;
  isFlipped: boolean;
}

export interface Gaps { along: number; across: number }

/** Room between the middles of two glyphs, in cells. */
const ALONG = 2.2;
const ACROSS = 1.1;
/** Gaps that fill the view may be this wide, in pixels. */
const FILL_MAX = { along: 240, across: 120 };
const PADDING = 20;
/** Along the edge where the words of the axis are. */
const AXIS = { above: 12, left: 60 };
const CELL_MAX = 420;
const FIT_CELL_MAX = 110;

function fill({ width, height, layers, rows, isFlipped }: Frame): Gaps {
  const [along, across] = isFlipped ? [height, width - AXIS.left] : [width, height - AXIS.above];
  const gap = (length: number, count: number, most: number): number => Math.min(most, Math.max(1, length - 2 * PADDING) / Math.max(1, count));
  return { along: gap(along, layers, FILL_MAX.along), across: gap(across, rows, FILL_MAX.across) };
}

/** The cell with which all of the graph is in view. */
export function fitCell(frame: Frame): number {
  const { along, across } = fill(frame);
  return Math.min(FIT_CELL_MAX, along / ALONG, across / ACROSS);
}

export function fit(frame: Frame): Camera {
  return { layer: (frame.layers - 1) / 2, row: 0, cell: fitCell(frame) };
}

export function gaps(camera: Camera, frame: Frame): Gaps {
  const filled = fill(frame);
  return { along: Math.max(filled.along, ALONG * camera.cell), across: Math.max(filled.across, ACROSS * camera.cell) };
}

/** Where the camera's place is on the screen: the middle of what the axis leaves. */
function middle({ width, height, isFlipped }: Frame): [x: number, y: number] {
  return isFlipped ? [(width + AXIS.left) / 2, height / 2] : [width / 2, (height + AXIS.above) / 2];
}

export function place(camera: Camera, frame: Frame, layer: number, row: number): [x: number, y: number] {
  const { along, across } = gaps(camera, frame);
  const [a, b] = [(layer - camera.layer) * along, (row - camera.row) * across];
  const [x, y] = middle(frame);
  return frame.isFlipped ? [x + b, y + a] : [x + a, y + b];
}

export function placeAt(camera: Camera, frame: Frame, x: number, y: number): { layer: number; row: number } {
  const { along, across } = gaps(camera, frame);
  const [middleX, middleY] = middle(frame);
  const [right, down] = [x - middleX, y - middleY];
  return { layer: camera.layer + (frame.isFlipped ? down : right) / along, row: camera.row + (frame.isFlipped ? right : down) / across };
}

/** The middle of the view stays within the graph, and the view not further away than where all is seen. */
export function settled(camera: Camera, frame: Frame): Camera {
  const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
  const half = (frame.rows - 1) / 2;
  return {
    layer: clamp(camera.layer, 0, Math.max(0, frame.layers - 1)), row: clamp(camera.row, -half, half),
    cell: clamp(camera.cell, fitCell(frame), Math.max(CELL_MAX, fitCell(frame))),
  };
}

export function panned(camera: Camera, frame: Frame, right: number, down: number): Camera {
  const { along, across } = gaps(camera, frame);
  const [a, b] = frame.isFlipped ? [down, right] : [right, down];
  return settled({ ...camera, layer: camera.layer - a / along, row: camera.row - b / across }, frame);
}

/** What is under the pointer stays there. */
export function zoomed(camera: Camera, frame: Frame, factor: number, x: number, y: number): Camera {
  const under = placeAt(camera, frame, x, y);
  const cell = settled({ ...camera, cell: camera.cell * factor }, frame).cell;
  if (cell <= fitCell(frame)) return fit(frame);
  const now = placeAt({ ...camera, cell }, frame, x, y);
  return settled({ layer: camera.layer + under.layer - now.layer, row: camera.row + under.row - now.row, cell }, frame);
}
