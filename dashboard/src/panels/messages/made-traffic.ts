// Calls and messages for tests.

import type { MessageColumns } from "./arrows";
import type { CallColumns } from "./tracks";

export interface MadeCall { rank: number; from: number; to: number; id?: number; thread?: number }

export function madeCalls(rows: readonly MadeCall[]): CallColumns {
  return {
    length: rows.length, rank: Uint32Array.from(rows, (row) => row.rank), thread: Uint32Array.from(rows, (row) => row.thread ?? 0),
    function: Uint32Array.from(rows, (row) => row.id ?? 1), startNs: Float64Array.from(rows, (row) => row.from), durationNs: Float64Array.from(rows, (row) => row.to - row.from),
  };
}

export interface MadeMessage { src: number; dst: number; at: readonly [sendNs: number, recvNs: number]; latency?: number; late?: number }

export function madeMessages(rows: readonly MadeMessage[]): MessageColumns {
  return {
    length: rows.length, src: Uint32Array.from(rows, (row) => row.src), dst: Uint32Array.from(rows, (row) => row.dst),
    sendNs: Float64Array.from(rows, (row) => row.at[0]), recvNs: Float64Array.from(rows, (row) => row.at[1]),
    latency: Float64Array.from(rows, (row) => row.latency ?? Number.NaN), lateSenderNs: Float64Array.from(rows, (row) => row.late ?? 0),
  };
}

/** Numbers from 0 (with) to 1 (without) that are the same in each run. */
export function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Calls of some ranks and threads, each thread's one after the other. */
export function randomCalls(seed: number, count: number, ranks: number): MadeCall[] {
  const chance = chances(seed);
  const until = new Map<string, number>();
  return Array.from({ length: count }, () => {
    const rank = Math.floor(chance() * ranks);
    const thread = Math.floor(chance() * 2);
    const from = (until.get(`${rank}/${thread}`) ?? 0) + Math.floor(chance() * 60);
    const to = from + Math.floor(chance() * 40);
    until.set(`${rank}/${thread}`, to);
    return { rank, thread, from, to, id: 1 + Math.floor(chance() * 4) };
  });
}
