// Small graphs for tests.

import type { Dag } from "../../feed/dag";
import { graphed } from "../../feed/dag";

export interface MadeNode { rank: number; layer: number; place?: number; host?: number; at?: readonly [number, number]; received?: number; sent?: number }
export interface MadeBar { node: number; isSent: boolean; other: number; bytes?: number; tMsgNs?: number; latency?: number; isExact?: boolean; sendNs?: number; recvNs?: number }

type Made = Parameters<typeof graphed>[0];

/** As the feed tells it. */
export function fed(nodes: readonly MadeNode[], edges: readonly (readonly [from: number, to: number, messages?: number])[] = [], bars: readonly MadeBar[] = [], rest: Partial<Made> = {}): Made {
  const u32 = <T>(rows: readonly T[], value: (row: T) => number): Uint32Array => Uint32Array.from(rows, value);
  const f64 = <T>(rows: readonly T[], value: (row: T) => number): Float64Array => Float64Array.from(rows, value);
  const ranks = [...new Set(nodes.map(({ rank }) => rank))];
  return {
    fromNs: 0, toNs: 100, untilNs: 100, layers: Math.max(0, ...nodes.map(({ layer }) => layer + 1)),
    nodes: {
      length: nodes.length, rank: u32(nodes, (n) => n.rank), host: u32(nodes, (n) => n.host ?? 0), layer: u32(nodes, (n) => n.layer), place: u32(nodes, (n) => n.place ?? 0),
      beginNs: f64(nodes, (n) => n.at?.[0] ?? 10 * n.layer), endNs: f64(nodes, (n) => n.at?.[1] ?? 10 * n.layer + 5),
      received: u32(nodes, (n) => n.received ?? 0), sent: u32(nodes, (n) => n.sent ?? 0), following: u32(nodes, () => 0),
    },
    edges: { length: edges.length, from: u32(edges, ([from]) => from), to: u32(edges, ([, to]) => to), messages: u32(edges, ([, , messages]) => messages ?? 1), bytes: f64(edges, () => 8) },
    ranks: {
      length: ranks.length, rank: u32(ranks, (rank) => rank), messages: f64(ranks, (rank) => 10 * rank), load: f64(ranks, (rank) => rank), flatness: f64(ranks, (rank) => 1 - 1 / (1 + rank / 3)),
      mean: 20, deviation: 10,
    },
    isolated: new Uint32Array(0),
    bars: {
      length: bars.length, node: u32(bars, (b) => b.node), isSent: u32(bars, (b) => (b.isSent ? 1 : 0)), other: u32(bars, (b) => b.other), bytes: f64(bars, (b) => b.bytes ?? 8),
      tMsgNs: f64(bars, (b) => b.tMsgNs ?? 1), latency: f64(bars, (b) => b.latency ?? Number.NaN), isExact: u32(bars, (b) => (b.isExact === false ? 0 : 1)),
      sendNs: f64(bars, (b) => b.sendNs ?? 0), recvNs: f64(bars, (b) => b.recvNs ?? 0),
    },
    messages: bars.length, open: 0, contradicted: 0, leftOut: 0, barsLeftOut: 0, hasCriteria: true, notes: [], ...rest,
  };
}

export function madeDag(...parts: Parameters<typeof fed>): Dag {
  return graphed(fed(...parts));
}
