// Rows that stand for several ranks: those of a node, of a region, or those that behave alike. Pure.

import { KINDS, type Shares } from "../../feed/shares";

export type Fold = "none" | "node" | "region" | "similar";

/** Which ranks are in which row. */
export interface Rows {
  /** The first rank of each row, which stands for it. */
  heads: Uint32Array;
  /** Ranks row by row, and where each row begins in them; one more at the end. */
  ranks: Uint32Array;
  from: Uint32Array;
}

/** How far two ranks may be apart that behave alike: the part of their time that they spent otherwise. */
const ALIKE = 0.1;
/** With more rows than this, ranks that are further apart are taken for alike. */
const ROWS_MOST = 24;
const WIDER = 1.5;
/** The run in parts: ranks differ also by when. */
const STRETCHES = 6;

export function rowsOf(groups: readonly Iterable<number>[]): Rows {
  const all = groups.map((group) => Uint32Array.from(group)).filter((group) => group.length > 0);
  const ranks = new Uint32Array(all.reduce((sum, group) => sum + group.length, 0));
  const from = new Uint32Array(all.length + 1);
  let at = 0;
  all.forEach((group, row) => {
    ranks.set(group, at);
    at += group.length;
    from[row + 1] = at;
  });
  return { heads: Uint32Array.from(all, (group) => group[0] ?? 0), ranks, from };
}

/** One rank in each row. */
export function single(order: Uint32Array): Rows {
  return { heads: order, ranks: order, from: Uint32Array.from({ length: order.length + 1 }, (_, row) => row) };
}

export function ranksOfRow({ ranks, from }: Rows, row: number): Uint32Array {
  return ranks.subarray(from[row] ?? 0, from[row + 1] ?? 0);
}

/** By rank its row; -1 where it has none. */
export function rowByRank({ ranks, from }: Rows): Int32Array {
  let most = -1;
  for (const rank of ranks) most = Math.max(most, rank);
  const rows = new Int32Array(most + 1).fill(-1);
  for (let row = 0; row + 1 < from.length; row++) {
    for (let at = from[row] ?? 0; at < (from[row + 1] ?? 0); at++) rows[ranks[at] ?? 0] = row;
  }
  return rows;
}

/** Rows of the same key, in the order in which their first rank comes; rows that are open have each rank by itself. */
export function folded(order: Uint32Array, keyOf: (rank: number) => number, open: ReadonlySet<number>): Rows {
  const groups = new Map<number, number[]>();
  for (const rank of order) {
    const key = keyOf(rank);
    const group = groups.get(key);
    if (group) group.push(rank);
    else groups.set(key, [rank]);
  }
  return rowsOf([...groups].flatMap(([key, group]) => (open.has(key) ? group.map((rank) => [rank]) : [group])));
}

/** By rank the number of those that behave as it does, the fewest first; unknown ranks are a group of their own. */
export function alike(order: Uint32Array, shares: Shares): Map<number, number> {
  const known: { rank: number; figures: Float64Array }[] = [];
  const groups: { of: Float64Array; ranks: number[] }[] = [];
  const unknown: number[] = [];
  for (const rank of order) {
    const figures = figuresOf(shares, rank);
    if (figures) known.push({ rank, figures });
    else unknown.push(rank);
  }
  for (let most = ALIKE; ; most *= WIDER) {
    groups.length = 0;
    for (const { rank, figures } of known) {
      const near = groups.find(({ of }) => isNear(of, figures, most));
      if (near) near.ranks.push(rank);
      else groups.push({ of: figures, ranks: [rank] });
      if (groups.length > ROWS_MOST) break;
    }
    if (groups.length <= ROWS_MOST) break;
  }
  groups.sort((one, other) => one.ranks.length - other.ranks.length || (one.ranks[0] ?? 0) - (other.ranks[0] ?? 0));
  const all = unknown.length > 0 ? [...groups.map(({ ranks }) => ranks), unknown] : groups.map(({ ranks }) => ranks);
  return new Map(all.flatMap((ranks, group) => ranks.map((rank) => [rank, group] as const)));
}

/** By stretch and kind the part of the time; null where there is nothing. */
function figuresOf({ units, rows, windows, firstRank, ranksPerRow }: Shares, rank: number): Float64Array | null {
  const row = Math.floor((rank - firstRank) / ranksPerRow);
  if (row < 0 || row >= rows || windows === 0) return null;
  const stretches = Math.min(STRETCHES, windows);
  const figures = new Float64Array(stretches * KINDS);
  const sums = new Float64Array(stretches);
  for (let kind = 0; kind < KINDS; kind++) {
    for (let window = 0; window < windows; window++) {
      const stretch = Math.floor((window * stretches) / windows);
      const units_ = Math.max(0, units[(kind * rows + row) * windows + window] ?? 0);
      figures[stretch * KINDS + kind] = (figures[stretch * KINDS + kind] ?? 0) + units_;
      sums[stretch] = (sums[stretch] ?? 0) + units_;
    }
  }
  if (sums.every((sum) => sum === 0)) return null;
  return figures.map((value, at) => value / Math.max(1, sums[Math.floor(at / KINDS)] ?? 1));
}

/** Whether no more than that part of the time was spent otherwise. */
function isNear(one: Float64Array, other: Float64Array, most: number): boolean {
  let left = (most * 2 * one.length) / KINDS;
  for (let at = 0; at < one.length && left >= 0; at++) left -= Math.abs((one[at] ?? 0) - (other[at] ?? 0));
  return left >= 0;
}
