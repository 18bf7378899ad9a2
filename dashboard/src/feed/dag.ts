// The dependency graph as views draw it: of each node also what is known of its rank, of each message the node at its
// other end. Bounded, and with no way back: whoever follows edges comes to an end.

import { FeedError } from "./columns";
import type * as Feed from "./dependencies";

/** A rank for a while: it takes in messages, then sends some. */
export interface DagNodes extends Feed.DagNodes {
  /** Messages that its rank sent and received in the whole graph. */
  messages: Float64Array;
  /** How far that is from the mean of all ranks, in mean deviations. */
  load: Float64Array;
}

/** Messages as the nodes at their ends see them: those that took longest where a node has very many. */
export interface DagMessages extends Feed.DagBars {
  /** The node at the other end; -1 where that is no part of the graph. */
  peer: Int32Array;
}

export interface Dag extends Pick<Feed.Dag, "fromNs" | "toNs" | "untilNs" | "layers" | "edges" | "open" | "contradicted" | "leftOut" | "hasCriteria"> {
  nodes: DagNodes;
  messages: DagMessages;
  /** Messages that are part of the graph. */
  total: number;
  /** What ranks that talked sent and received, on average. */
  meanMessages: number;
}

/** What the server is asked for: of what somebody selected all that can be drawn, else what can be looked at. */
export const NODES_ASKED = { selected: 5000, unselected: 1000 };
/** More than any answer has: a wrong number must not fill the memory. */
const MOST = { nodes: 20_000, edges: 1_000_000, bars: 1_000_000, layers: 20_000 };

export function graphed(from: Feed.Dag): Dag {
  const { nodes, edges, bars } = from;
  for (const [name, length] of [["nodes", nodes.length], ["edges", edges.length], ["bars", bars.length], ["layers", from.layers]] as const) {
    if (length > MOST[name]) throw new FeedError(`The graph has ${length} ${name}; more than ${MOST[name]} are not taken.`);
  }
  if (!(from.fromNs <= from.untilNs && from.untilNs <= from.toNs)) throw new FeedError("The graph's range is not in order.");
  checkNodes(from);
  for (let edge = 0; edge < edges.length; edge++) {
    const [one, other] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
    if ((nodes.layer[one] ?? 0) >= (nodes.layer[other] ?? 0)) throw new FeedError(`Edge ${edge} does not lead forward.`);
  }
  for (let row = 0; row < bars.length; row++) {
    if (!((bars.tMsgNs[row] ?? -1) >= 0 && (bars.bytes[row] ?? -1) >= 0)) throw new FeedError(`Bar ${row} has a time or a size that is none.`);
  }
  const { fromNs, toNs, untilNs, layers, open, contradicted, leftOut, hasCriteria } = from;
  return {
    fromNs, toNs, untilNs, layers, open, contradicted, leftOut, hasCriteria, edges,
    total: from.messages, meanMessages: from.ranks.mean, nodes: withRanks(from), messages: { ...bars, peer: peers(from) },
  };
}

function checkNodes({ nodes, layers }: Feed.Dag): void {
  for (let node = 0; node < nodes.length; node++) {
    if ((nodes.layer[node] ?? 0) >= layers) throw new FeedError(`Node ${node} stands in a layer that is not there.`);
    if (!((nodes.beginNs[node] ?? 1) <= (nodes.endNs[node] ?? 0))) throw new FeedError(`Node ${node} ends before it begins.`);
  }
}

function withRanks({ nodes, ranks }: Feed.Dag): DagNodes {
  const place = new Map<number, number>();
  ranks.rank.forEach((rank, at) => place.set(rank, at));
  const ofRank = (column: Float64Array, node: number): number => {
    const value = column[place.get(nodes.rank[node] ?? -1) ?? -1] ?? 0;
    return value >= 0 ? value : 0;
  };
  const every = (column: Float64Array): Float64Array => Float64Array.from({ length: nodes.length }, (_, node) => ofRank(column, node));
  return { ...nodes, messages: every(ranks.messages), load: every(ranks.load) };
}

/** Of each message the node at its other end: along an edge to the rank that it names, and there at the right time. */
function peers({ nodes, edges, bars }: Feed.Dag): Int32Array {
  const found = new Int32Array(bars.length).fill(-1);
  const along = new Map<number, number[]>();
  const add = (key: number, node: number): void => {
    const before = along.get(key);
    if (before) before.push(node);
    else along.set(key, [node]);
  };
  // Below 2^15 nodes and 2^32 ranks: keys are whole numbers.
  const key = (node: number, isSent: number, rank: number): number => (2 * node + isSent) * 2 ** 32 + rank;
  for (let edge = 0; edge < edges.length; edge++) {
    const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
    add(key(from, 1, nodes.rank[to] ?? 0), to);
    add(key(to, 0, nodes.rank[from] ?? 0), from);
  }
  for (let row = 0; row < bars.length; row++) {
    const isSent = bars.isSent[row] === 1;
    const others = along.get(key(bars.node[row] ?? 0, isSent ? 1 : 0, bars.other[row] ?? 0)) ?? [];
    const atNs = (isSent ? bars.recvNs : bars.sendNs)[row] ?? 0;
    found[row] = others.find((node) => (nodes.beginNs[node] ?? 0) <= atNs && atNs <= (nodes.endNs[node] ?? 0)) ?? -1;
  }
  return found;
}
