// The calls of one rank in a range of time, without an order of all. Pure.

import type { Span } from "../../state/perspective";
import type { CallColumns } from "./tracks";

/** More rows nobody reads. */
const ROWS_MOST = 1000;

export interface ListedCalls {
  /** The first of them by their start. */
  rows: number[];
  total: number;
}

export function callsOfRank(calls: CallColumns, rank: number, [fromNs, toNs]: Span, hidden: ReadonlySet<number>): ListedCalls {
  const found: number[] = [];
  for (let call = 0; call < calls.length; call++) {
    if (calls.rank[call] !== rank || hidden.has(calls.function[call] ?? 0)) continue;
    const start = calls.startNs[call] ?? 0;
    if (start <= toNs && start + (calls.durationNs[call] ?? 0) >= fromNs) found.push(call);
  }
  found.sort((one, other) => (calls.startNs[one] ?? 0) - (calls.startNs[other] ?? 0) || one - other);
  return { rows: found.slice(0, ROWS_MOST), total: found.length };
}
