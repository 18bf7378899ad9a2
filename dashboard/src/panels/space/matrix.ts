// Pairs of ranks as a field of senders by receivers. Pure.

import type { Pairs } from "../../feed/regions";

/** More ranks share a row and a column. */
export const MATRIX_EDGE = 192;
export type MatrixValue = "bytes" | "messages" | "latency";

/** By sender and receiver, `perCell` ranks in each cell: sums, or the mean of the exact messages; not a number where nothing was sent. */
export function cellsOf(pairs: Pairs, of: MatrixValue, edge: number, perCell: number): Float64Array {
  const cells = new Float64Array(edge * edge).fill(NaN);
  const weights = new Float64Array(of === "latency" ? edge * edge : 0);
  for (let pair = 0; pair < pairs.src.length; pair++) {
    const at = Math.floor((pairs.src[pair] ?? 0) / perCell) * edge + Math.floor((pairs.dst[pair] ?? 0) / perCell);
    if (!(at < cells.length)) continue;
    const before = cells[at] ?? NaN;
    if (of === "latency") {
      const [value, weight] = [pairs.latency[pair] ?? NaN, pairs.exact[pair] ?? 0];
      if (!Number.isFinite(value) || weight <= 0) continue;
      const all = (weights[at] ?? 0) + weight;
      cells[at] = ((Number.isNaN(before) ? 0 : before) * (weights[at] ?? 0) + value * weight) / all;
      weights[at] = all;
    } else cells[at] = (Number.isNaN(before) ? 0 : before) + (pairs[of][pair] ?? 0);
  }
  return cells;
}

/** The pairs with the most bytes, the heaviest first. */
export function heaviest({ src, bytes }: Pairs, most: number): number[] {
  const pairs = Array.from({ length: src.length }, (_, pair) => pair).filter((pair) => (bytes[pair] ?? 0) > 0);
  return pairs.sort((one, other) => (bytes[other] ?? 0) - (bytes[one] ?? 0)).slice(0, most);
}
