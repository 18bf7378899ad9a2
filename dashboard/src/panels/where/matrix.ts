// The communication matrix: ranks in an order, traffic in cells of one or more ranks each way. Pure; runs in the worker.

import type { Pairs } from "../../feed/regions";
import { amountPart, amountRamp, latencyColour, stepOf, UNKNOWN_TONE } from "../../palette/ramps";
import type { SharedTable } from "../share/tables";

export type Measure = "messages" | "bytes" | "latency";
export type OrderKind = "rank" | "node" | "region";

/** Neighbours in the order that belong together: places from (with) to (without). */
export interface Group { from: number; to: number; key: number }

export interface Order {
  /** The rank in each place. */
  ranks: Uint32Array;
  /** The place of each rank. */
  places: Uint32Array;
  groups: readonly Group[];
}

/** Ranks by a key each, smallest first, and by their number; with no keys, by number alone. */
export function orderBy(ranks: number, keys: ((rank: number) => number) | null): Order {
  const sorted = Uint32Array.from({ length: ranks }, (_, rank) => rank);
  if (keys) sorted.sort((one, other) => keys(one) - keys(other) || one - other);
  const places = new Uint32Array(ranks);
  sorted.forEach((rank, place) => (places[rank] = place));
  const groups: Group[] = [];
  if (keys) {
    sorted.forEach((rank, place) => {
      const key = keys(rank);
      const last = groups.at(-1);
      if (last?.key === key) last.to = place + 1;
      else groups.push({ from: place, to: place + 1, key });
    });
  }
  return { ranks: sorted, places, groups };
}

/** Cells of `ranks` by `ranks`, and which of them. */
export interface CellWindow { ranks: number; column: number; row: number; columns: number; rows: number }

/** What cells without messages hold; those with messages of unknown latency are not a number. */
export const NOTHING = -1;

/** Row by row: senders down, receivers across. Amounts are summed; latency is the mean of the exact messages. */
export function aggregate(pairs: Pairs, places: Uint32Array, measure: Measure, cells: CellWindow): Float64Array {
  const values = new Float64Array(cells.columns * cells.rows).fill(NOTHING);
  const known = measure === "latency" ? new Float64Array(values.length) : null;
  const amounts = measure === "bytes" ? pairs.bytes : pairs.messages;
  for (let at = 0; at < pairs.src.length; at++) {
    const row = Math.floor((places[pairs.src[at] ?? 0] ?? 0) / cells.ranks) - cells.row;
    const column = Math.floor((places[pairs.dst[at] ?? 0] ?? 0) / cells.ranks) - cells.column;
    if (row < 0 || column < 0 || row >= cells.rows || column >= cells.columns) continue;
    const cell = row * cells.columns + column;
    const before = values[cell] ?? NOTHING;
    const amount = amounts[at] ?? 0;
    if (!known) {
      values[cell] = before === NOTHING ? amount : before + amount;
      continue;
    }
    const latency = pairs.latency[at] ?? Number.NaN;
    const knows = Number.isNaN(latency) ? 0 : (pairs.exact[at] ?? 0);
    const all = (known[cell] ?? 0) + knows;
    known[cell] = all;
    const sum = (before === NOTHING || Number.isNaN(before) ? 0 : before * (all - knows)) + (knows > 0 ? latency * knows : 0);
    values[cell] = all > 0 ? sum / all : Number.NaN;
  }
  return values;
}

/** The least above nothing and the most. */
export function extent(values: Float64Array): { least: number; most: number } {
  let [least, most] = [Infinity, 0];
  for (const value of values) {
    if (value > 0 && value < least) least = value;
    if (value > most) most = value;
  }
  return most > 0 ? { least, most } : { least: 0, most: 0 };
}

/** Ranks per cell in each direction; a cell is at least one pixel. */
export function ranksOfCell(ranksInSight: number, pixels: number): number {
  return Math.max(1, Math.ceil(ranksInSight / Math.max(1, pixels)));
}

const packed = (hex: string): number => {
  const value = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
};

/** Pixels of red, green, blue and opacity, in this order of bytes. */
export function paintCells(values: Float64Array, measure: Measure, scale: { least: number; most: number }, theme: "dark" | "light"): Uint8ClampedArray<ArrayBuffer> {
  const words = new Uint32Array(values.length);
  const ramp = amountRamp(theme).map(packed);
  const unknown = packed(UNKNOWN_TONE[theme]);
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? NOTHING;
    if (value === NOTHING) continue;
    if (measure === "latency") words[at] = Number.isNaN(value) ? unknown : packed(latencyColour(value, theme));
    else words[at] = ramp[value > 0 ? stepOf(amountPart(value, scale.least, scale.most)) : 0] ?? 0;
  }
  return new Uint8ClampedArray(words.buffer);
}

/** All pairs, for other programs. */
export function pairsTable(pairs: Pairs | null): SharedTable {
  const rows = [...(pairs?.src.keys() ?? [])].map((at) => [
    pairs?.src[at] ?? 0, pairs?.dst[at] ?? 0, pairs?.messages[at] ?? 0, pairs?.bytes[at] ?? 0, pairs?.exact[at] ?? 0, pairs?.latency[at] ?? null,
  ]);
  return { columns: ["source", "destination", "messages", "bytes", "exact", "latency"], rows };
}
