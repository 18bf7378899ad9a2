// Draws the matrix: the worker's cells, separators and names of groups, what is selected, the crosshair.

import type { RankRange, Regions } from "../../feed/regions";
import type { Target } from "../../words/regions";
import type { Colours } from "../colours";
import type { PaintedCells } from "./desk";
import type { Order } from "./matrix";
import type { Cell, Sight } from "./matrix-view";

export interface Frame { left: number; top: number; side: number }

export interface MatrixPicture {
  frame: Frame;
  sight: Sight;
  order: Order;
  nameOf: (key: number) => string;
  painted: PaintedCells | null;
  colours: Colours;
  shown: Uint8Array | null;
  pointed: Cell | null;
  target: Target | null;
  regions: Regions | null;
  dragged: Cell | null;
  width: number;
  height: number;
}

const LEFT = 92;
const TOP = 40;
const EDGE = 8;
const NAME_GAP = 10;
/** Groups narrower than this are not separated: there would be lines only. */
const SEPARATED = 13;
const TICKS = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024, 2000, 2048, 5000, 10_000];
const BAND = 4;

/** A square, as large as there is room beside the names. */
export function frameOf(width: number, height: number, ratio: number): Frame {
  const side = Math.max(8, Math.min(width - LEFT - EDGE, height - TOP - EDGE));
  const whole = Math.floor(side * ratio) / ratio;
  return { left: LEFT + Math.max(0, Math.floor((width - LEFT - EDGE - whole) / 2)), top: TOP, side: whole };
}

export function drawMatrix(context: CanvasRenderingContext2D, picture: MatrixPicture): void {
  const { frame, sight, painted, colours } = picture;
  const unit = frame.side / sight.span;
  const x = (place: number): number => frame.left + (place - sight.x) * unit;
  const y = (place: number): number => frame.top + (place - sight.y) * unit;
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.side, frame.side);
  context.clip();
  context.fillStyle = colours.raised;
  context.globalAlpha = 0.5;
  context.fillRect(frame.left, frame.top, frame.side, frame.side);
  context.globalAlpha = 1;
  if (painted) {
    const { ranks, column, row, columns, rows } = painted.ask.cells;
    context.imageSmoothingEnabled = false;
    context.drawImage(painted.bitmap, x(column * ranks), y(row * ranks), columns * ranks * unit, rows * ranks * unit);
  }
  separators(context, picture, x, y, unit);
  selected(context, picture, x, y, unit);
  cross(context, picture, x, y, unit);
  context.restore();
  context.strokeStyle = colours.edge;
  context.lineWidth = 1;
  context.strokeRect(frame.left - 0.5, frame.top - 0.5, frame.side + 1, frame.side + 1);
  names(context, picture, x, y, unit);
  bands(context, picture, x, y, unit);
}

type At = (place: number) => number;

function separators(context: CanvasRenderingContext2D, { order, colours, frame }: MatrixPicture, x: At, y: At, unit: number): void {
  context.fillStyle = colours.edge;
  context.globalAlpha = 0.5;
  for (const { from, to } of order.groups) {
    if (from === 0 || (to - from) * unit < SEPARATED) continue;
    context.fillRect(Math.round(x(from)), frame.top, 1, frame.side);
    context.fillRect(frame.left, Math.round(y(from)), frame.side, 1);
  }
  context.globalAlpha = 1;
}

/** What is pointed at in the table, or selected: its rows and columns. */
function selected(context: CanvasRenderingContext2D, { target, regions, order, colours, frame, dragged }: MatrixPicture, x: At, y: At, unit: number): void {
  context.fillStyle = colours.text;
  context.globalAlpha = 0.12;
  for (const [first, last] of rangesOfTarget(target, regions)) {
    for (const [from, to] of runs(order, first, last)) {
      context.fillRect(x(from), frame.top, (to - from) * unit, frame.side);
      context.fillRect(frame.left, y(from), frame.side, (to - from) * unit);
    }
  }
  context.globalAlpha = 1;
  if (target?.kind === "pair") {
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    const [row, column] = [order.places[target.src] ?? 0, order.places[target.dst] ?? 0];
    context.strokeRect(x(column) - 1, y(row) - 1, Math.max(3, unit) + 2, Math.max(3, unit) + 2);
  }
  if (dragged) {
    const box = [x(dragged.fromColumn), y(dragged.fromRow), (dragged.toColumn + 1 - dragged.fromColumn) * unit, (dragged.toRow + 1 - dragged.fromRow) * unit] as const;
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.2;
    context.fillRect(...box);
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(...box);
  }
}

function rangesOfTarget(target: Target | null, regions: Regions | null): readonly RankRange[] {
  if (target?.kind === "rank") return [[target.rank, target.rank]];
  const ids = target?.kind === "region" ? [target.id] : target?.kind === "between" ? [target.a, target.b] : [];
  return regions?.regions.filter(({ id }) => ids.includes(id)).flatMap(({ ranks }) => ranks) ?? [];
}

/** Ranks one after the other, as stretches of places. */
function runs({ places }: Order, first: number, last: number): [from: number, to: number][] {
  const found: [number, number][] = [];
  for (let rank = first; rank <= last; rank++) {
    const place = places[rank];
    if (place === undefined) continue;
    const run = found.at(-1);
    if (run && run[1] === place) run[1] = place + 1;
    else found.push([place, place + 1]);
  }
  return found;
}

function cross(context: CanvasRenderingContext2D, { pointed, colours, frame }: MatrixPicture, x: At, y: At, unit: number): void {
  if (!pointed) return;
  const wide = Math.max(1, (pointed.toColumn + 1 - pointed.fromColumn) * unit);
  const high = Math.max(1, (pointed.toRow + 1 - pointed.fromRow) * unit);
  context.fillStyle = colours.text;
  context.globalAlpha = 0.22;
  context.fillRect(x(pointed.fromColumn), frame.top, wide, frame.side);
  context.fillRect(frame.left, y(pointed.fromRow), frame.side, high);
  context.globalAlpha = 1;
  context.strokeStyle = colours.text;
  context.lineWidth = 1;
  context.strokeRect(x(pointed.fromColumn) - 0.5, y(pointed.fromRow) - 0.5, wide + 1, high + 1);
}

interface Name { text: string; middle: number }

/** Receivers above, senders at the left; a name that has no room is left out. */
function names(context: CanvasRenderingContext2D, picture: MatrixPicture, x: At, y: At, unit: number): void {
  const { frame, colours } = picture;
  const across = namesOf(picture, x, unit, frame.left, picture.sight.x);
  const down = namesOf(picture, y, unit, frame.top, picture.sight.y);
  context.fillStyle = colours.soft;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { text, middle } of thinned(across, (name) => context.measureText(name.text).width + NAME_GAP)) {
    const half = context.measureText(text).width / 2;
    if (middle + half <= picture.width) context.fillText(text, middle, frame.top - 12);
  }
  context.textAlign = "right";
  for (const { text, middle } of thinned(down, () => 16)) {
    if (middle + 7 <= picture.height) context.fillText(clipped(context, text, LEFT - 14), frame.left - 9, middle);
  }
  context.fillStyle = colours.text;
  context.textAlign = "left";
  context.fillText("receiving \u2192", frame.left, frame.top - 30);
  context.textAlign = "right";
  context.fillText("sending \u2193", frame.left - 22, frame.top - 12);
  context.textAlign = "left";
}

/** Every second, third ... of the names, until none is over another. */
function thinned(all: readonly Name[], length: (name: Name) => number): readonly Name[] {
  for (let every = 1; every < all.length; every++) {
    const kept = all.filter((_, at) => at % every === 0);
    const free = kept.every((name, at) => {
      const before = kept[at - 1];
      return !before || name.middle - before.middle >= (length(name) + length(before)) / 2;
    });
    if (free) return kept;
  }
  return all.slice(0, 1);
}

function namesOf({ order, nameOf, sight, frame }: MatrixPicture, at: At, unit: number, start: number, from: number): Name[] {
  const inside = ({ middle }: Name): boolean => middle >= start && middle <= start + frame.side;
  if (order.groups.length > 0) {
    return order.groups.map(({ from: begin, to: end, key }): Name => {
      // Of a group that reaches out of sight the middle of what is in sight.
      const [left, right] = [Math.max(at(begin), start), Math.min(at(end), start + frame.side)];
      return { text: nameOf(key), middle: right > left ? (left + right) / 2 : -1 };
    }).filter(inside);
  }
  const step = TICKS.find((each) => each * unit >= 44) ?? 10_000;
  const found: Name[] = [];
  const first = Math.ceil(Math.floor(from) / step) * step;
  for (let place = first; place < Math.min(order.ranks.length, first + sight.span + step); place += step) {
    found.push({ text: String(order.ranks[place] ?? place), middle: at(place) + unit / 2 });
  }
  return found.filter(inside);
}

function clipped(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let short = text;
  while (short.length > 1 && context.measureText(`${short}\u2026`).width > width) short = short.slice(0, -1);
  return `${short}\u2026`;
}

/** Beside the matrix: which ranks are selected for all views. */
function bands(context: CanvasRenderingContext2D, { shown, order, sight, frame, colours }: MatrixPicture, x: At, y: At, unit: number): void {
  if (!shown) return;
  context.fillStyle = colours.accent;
  const last = Math.min(order.ranks.length, Math.ceil(Math.max(sight.x, sight.y) + sight.span));
  for (let place = Math.floor(Math.min(sight.x, sight.y)); place < last; place++) {
    if (shown[order.ranks[place] ?? 0] !== 1) continue;
    const size = Math.max(1, unit);
    if (x(place) >= frame.left - 1 && x(place) + size <= frame.left + frame.side + 1) context.fillRect(x(place), frame.top - BAND - 1, size, BAND);
    if (y(place) >= frame.top - 1 && y(place) + size <= frame.top + frame.side + 1) context.fillRect(frame.left - BAND - 1, y(place), BAND, size);
  }
}
