// Where the states and links of the aggregated graph are, and which links are drawn: never more than can be read. Pure.

import { type CriticalPath, endNs } from "../../feed/critical";
import type { GroupGraph } from "../../feed/group-graph";
import { KINDS, type Shares } from "../../feed/shares";
import { partsOf, summed } from "../messages/raster-shares";

export interface Frame { width: number; height: number }
export interface Box { x: number; y: number; width: number; height: number }

export const HEAD = { left: 140, top: 34, right: 12, bottom: 8 };
/** Between states where there is room for it; narrow columns keep at least half of their width for the state. */
const GAP = { x: 26, y: 14 };
const CELL_LEAST = { width: 2, height: 8 };
const CELL_MOST = { width: 220, height: 56 };
/** Links that are drawn, and of them those with words. */
export const LINKS_MOST = 40;
const WORDS_MOST = 14;
/** What the words over a column take. */
const HEAD_WORDS_PX = 78;
/** Between the words of two links. */
const WORDS_APART = { x: 64, y: 13 };

export function cellBox(graph: GroupGraph, frame: Frame, group: number, column: number): Box {
  const wide = columnWidth(graph, frame);
  const high = Math.min(CELL_MOST.height + GAP.y, (frame.height - HEAD.top - HEAD.bottom) / graph.groups.length);
  return { x: HEAD.left + column * wide, y: HEAD.top + group * high, width: Math.min(CELL_MOST.width, wide - gapOf(wide)), height: Math.max(CELL_LEAST.height, high - GAP.y) };
}

const columnWidth = ({ turns }: GroupGraph, { width }: Frame): number => Math.max(2 * CELL_LEAST.width, (width - HEAD.left - HEAD.right) / turns.length);
const gapOf = (wide: number): number => Math.min(GAP.x, wide / 2);

/** Links between different groups that are worth drawing: those that were waited for longest, then the highest latencies, then the most messages. */
export function drawnLinks({ links }: GroupGraph): number[] {
  const between = Array.from({ length: links.length }, (_, at) => at).filter((at) => links.from[at] !== links.to[at]);
  const of = (column: Float64Array, at: number): number => {
    const value = column[at] ?? 0;
    return Number.isNaN(value) ? -1 : value;
  };
  between.sort((one, other) => of(links.waitedNs, other) - of(links.waitedNs, one) || of(links.worst, other) - of(links.worst, one) || of(links.messages, other) - of(links.messages, one) || one - other);
  return between.slice(0, LINKS_MOST);
}

/** One in this many columns has words over it: they must not overlap. */
export function headStep(graph: GroupGraph, frame: Frame): number {
  return Math.ceil(HEAD_WORDS_PX / columnWidth(graph, frame));
}

export interface LinkLine { link: number; x0: number; y0: number; x1: number; y1: number; hasWords: boolean }

/** From the right edge of the sender's state to the left edge of the receiver's next one; words only where they do not lie upon each other. */
export function linkLines(graph: GroupGraph, frame: Frame): LinkLine[] {
  const placed: { x: number; y: number }[] = [];
  const gap = gapOf(columnWidth(graph, frame));
  return drawnLinks(graph).map((link) => {
    const [from, to, column] = [graph.links.from[link] ?? 0, graph.links.to[link] ?? 0, graph.links.column[link] ?? 0];
    const [a, b] = [cellBox(graph, frame, from, column), cellBox(graph, frame, to, column)];
    const line = { link, x0: a.x + a.width, y0: a.y + a.height / 2, x1: b.x + b.width + 0.85 * gap, y1: b.y + b.height / 2 };
    const at = { x: (line.x0 + line.x1) / 2, y: (line.y0 + line.y1) / 2 };
    const hasWords = placed.length < WORDS_MOST && placed.every((other) => Math.abs(other.x - at.x) > WORDS_APART.x || Math.abs(other.y - at.y) > WORDS_APART.y);
    if (hasWords) placed.push(at);
    return { ...line, hasWords };
  });
}

/** By group and column, what its ranks spent the time on, as parts. */
export function cellParts(graph: GroupGraph, shares: Shares | null): Float64Array[][] {
  if (!shares) return [];
  return graph.groups.map(({ ranks }) => {
    const sums = summed(shares, ranks);
    return Array.from(graph.turns, (_, column) => {
      const parts = new Float64Array(KINDS);
      partsOf(shares, sums, ranks.length, graph.edgesNs[column] ?? 0, Math.min(shares.untilNs, graph.edgesNs[column + 1] ?? 0), parts);
      return parts;
    });
  });
}

/** By group and column, which part of the column's time the critical path was there. */
export function pathParts(graph: GroupGraph, path: CriticalPath): number[][] {
  const groupOf = new Map(graph.groups.flatMap(({ ranks }, group) => [...ranks].map((rank) => [rank, group] as const)));
  const found = graph.groups.map(() => Array<number>(graph.turns.length).fill(0));
  let column = 0;
  for (let step = 0; step < path.length; step++) {
    const group = groupOf.get(path.rank[step] ?? -1);
    let start = path.startNs[step] ?? 0;
    const end = endNs(path, step);
    while (start < end) {
      while (column < graph.turns.length - 1 && start >= (graph.edgesNs[column + 1] ?? Infinity)) column++;
      const until = column < graph.turns.length - 1 ? Math.min(end, graph.edgesNs[column + 1] ?? end) : end;
      const row = group === undefined ? undefined : found[group];
      if (row) row[column] = (row[column] ?? 0) + until - start;
      start = until;
    }
  }
  return found.map((row) => row.map((ns, at) => ns / Math.max(1, (graph.edgesNs[at + 1] ?? 0) - (graph.edgesNs[at] ?? 0))));
}
