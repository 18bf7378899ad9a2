// Which rank is in which row, and where rows are on the screen: from all in view, fractions of a pixel each, to single
// rows with their names. Pure.

import { isAmong, type RankRanges } from "../../state/perspective";
import { orderBy, type OrderKind } from "../where/matrix";

/** What is at the upper edge of the view, in rows, and how high a row is. */
export interface RowCamera { top: number; rowPixels: number }
export interface RowFrame { rows: number; height: number }

/** Rows that are all in view are no higher than this: a few rows must not fill the page. By hand they can be made twice as high. */
export const ROW_MOST = 40;
const ZOOM_MOST = 2 * ROW_MOST;
/** Names of ranks can be read from here on. */
export const NAME_FROM = 11;

export function fitted({ rows, height }: RowFrame): RowCamera {
  return { top: 0, rowPixels: Math.min(ROW_MOST, height / Math.max(1, rows)) };
}

/** Rows fill the view as far as there are enough, and never get lower than where all are seen. */
export function settled({ top, rowPixels }: RowCamera, frame: RowFrame): RowCamera {
  const pixels = Math.min(ZOOM_MOST, Math.max(fitted(frame).rowPixels, rowPixels));
  return { top: Math.min(Math.max(0, frame.rows - frame.height / pixels), Math.max(0, top)), rowPixels: pixels };
}

export function isFitted({ rowPixels }: RowCamera, frame: RowFrame): boolean {
  return rowPixels <= fitted(frame).rowPixels;
}

export function scrolled(camera: RowCamera, frame: RowFrame, pixels: number): RowCamera {
  return settled({ ...camera, top: camera.top + pixels / camera.rowPixels }, frame);
}

/** The row at a place in pixels stays there. */
export function zoomedRows(camera: RowCamera, frame: RowFrame, factor: number, y: number): RowCamera {
  const under = camera.top + y / camera.rowPixels;
  const { rowPixels } = settled({ ...camera, rowPixels: camera.rowPixels * factor }, frame);
  return settled({ top: under - y / rowPixels, rowPixels }, frame);
}

/** With a row in view. */
export function brought(camera: RowCamera, frame: RowFrame, row: number): RowCamera {
  const fits = frame.height / camera.rowPixels;
  const top = row < camera.top ? row : row + 1 > camera.top + fits ? row + 1 - fits : camera.top;
  return settled({ ...camera, top }, frame);
}

export function yOfRow({ top, rowPixels }: RowCamera, row: number): number {
  return (row - top) * rowPixels;
}

/** -1 where there is none. */
export function rowAt({ top, rowPixels }: RowCamera, rows: number, y: number): number {
  const row = Math.floor(top + y / rowPixels);
  return row >= 0 && row < rows ? row : -1;
}

/** The rows that can be seen, also in part, the last without. */
export function rowsInSight({ top, rowPixels }: RowCamera, { rows, height }: RowFrame): [from: number, to: number] {
  return [Math.max(0, Math.floor(top)), Math.min(rows, Math.ceil(top + height / rowPixels))];
}

export interface Arrangement {
  kind: OrderKind;
  /** All ranks as they were put by hand; null: none was. */
  byHand: readonly number[] | null;
  /** Only these; null: all. */
  only: RankRanges | null;
}

/** The rank in each row. */
export function arranged(ranks: number, { kind, byHand, only }: Arrangement, keys: Readonly<Record<"node" | "region", (rank: number) => number>>): Uint32Array {
  const sorted = orderBy(ranks, kind === "rank" ? null : keys[kind]).ranks;
  const all = byHand ? followed(byHand, sorted) : sorted;
  return only ? all.filter((rank) => isAmong(only, rank)) : all;
}

/** Ranks that were heard since somebody put the others in order come after them. */
function followed(byHand: readonly number[], sorted: Uint32Array): Uint32Array {
  const known = new Set(byHand);
  return Uint32Array.from([...byHand, ...[...sorted].filter((rank) => !known.has(rank))]);
}

/** All ranks, with one of those in view taken to the place of another. */
export function moved(all: ArrayLike<number>, rank: number, to: number): number[] {
  const order = Array.from(all);
  const from = order.indexOf(rank);
  const target = order.indexOf(to);
  if (from < 0 || target < 0) return order;
  order.splice(from, 1);
  order.splice(target, 0, rank);
  return order;
}

/** By rank its row; -1 where it has none. */
export function rowsByRank(order: Uint32Array): Int32Array {
  let most = -1;
  for (const rank of order) most = Math.max(most, rank);
  const rows = new Int32Array(most + 1).fill(-1);
  order.forEach((rank, row) => (rows[rank] = row));
  return rows;
}
