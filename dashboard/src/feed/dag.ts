// The dependency graph of a range: nodes, edges, and the messages of each node, as columns. Checked and bounded when read:
// what draws it may follow every number in it.

import { f64Column, FeedError, type Fields, fields, i32Column, number, sameLength, u32Column } from "./columns";

/** A rank for a while: it takes in messages, then sends some. */
export interface DagNodes {
  length: number;
  rank: Uint32Array;
  /** Steps from the beginning; edges lead to higher layers. */
  layer: Uint32Array;
  /** The place among the nodes of its layer. */
  place: Uint32Array;
  /** The host that the rank runs on. */
  host: Uint32Array;
  fromNs: Float64Array;
  toNs: Float64Array;
  received: Uint32Array;
  sent: Uint32Array;
  /** Messages that its rank sent and received in the whole graph. */
  messages: Float64Array;
  /** How far that is from the mean of all ranks, in mean deviations. */
  load: Float64Array;
}

export interface DagEdges {
  length: number;
  from: Uint32Array;
  to: Uint32Array;
  count: Float64Array;
}

/** Messages as the nodes at their ends see them: those that took longest where a node has very many. */
export interface DagMessages {
  length: number;
  node: Uint32Array;
  peerRank: Uint32Array;
  /** The node at the other end; -1 where that is no part of the graph. */
  peerNode: Int32Array;
  /** 1: the node sent it, 0: it received it. */
  isSent: Uint32Array;
  bytes: Float64Array;
  tMsgNs: Float64Array;
  /** In shares of what such a message usually takes; not a number where that is not known. */
  latency: Float64Array;
  /** 0: `tMsgNs` is an upper bound. */
  isExact: Uint32Array;
  beginNs: Float64Array;
  endNs: Float64Array;
}

export interface Dag {
  fromNs: number;
  /** The end of the range that was asked for. */
  toNs: number;
  /** Up to where the graph goes: earlier than `toNs` where it has as many nodes as it may have. */
  untilNs: number;
  /** Messages that are part of the graph. */
  total: number;
  /** Of these, messages with only one end in the graph: they make no edge. */
  open: number;
  /** Messages of the range for which there was no room. */
  leftOut: number;
  nodes: DagNodes;
  edges: DagEdges;
  messages: DagMessages;
}

/** What the server is asked for. */
export const NODES_ASKED = 5000;
/** More than any answer has: a wrong number must not fill the memory. */
const MOST = { nodes: 20_000, edges: 400_000, messages: 1_000_000 };

interface WireDag { from_ns: number; to_ns: number; until_ns: number; total: number; open: number; left_out: number; nodes: unknown; edges: unknown; messages: unknown }
interface WireNodes {
  rank: unknown; layer: unknown; place: unknown; host: unknown; begin_ns: unknown; end_ns: unknown;
  received: unknown; sent: unknown; messages: unknown; load: unknown;
}
interface WireEdges { from: unknown; to: unknown; messages: unknown }
interface WireMessages {
  node: unknown; other: unknown; other_node: unknown; is_sent: unknown; bytes: unknown; t_msg_ns: unknown; latency: unknown;
  is_exact: unknown; begin_ns: unknown; end_ns: unknown;
}

export function dag(from: Fields<WireDag>): Dag {
  const nodes = dagNodes(fields<WireNodes>(from.nodes, "The nodes"));
  const edges = dagEdges(fields<WireEdges>(from.edges, "The edges"), nodes);
  const messages = dagMessages(fields<WireMessages>(from.messages, "The messages of the nodes"), nodes);
  const [fromNs, toNs, untilNs] = [number(from, "from_ns"), number(from, "to_ns"), number(from, "until_ns")];
  if (!(fromNs <= untilNs && untilNs <= toNs)) throw new FeedError("The graph's range is not in order.");
  return { fromNs, toNs, untilNs, total: number(from, "total"), open: number(from, "open"), leftOut: number(from, "left_out"), nodes, edges, messages };
}

function dagNodes(from: Fields<WireNodes>): DagNodes {
  const columns = {
    rank: u32Column(from, "rank"), layer: u32Column(from, "layer"), place: u32Column(from, "place"), host: u32Column(from, "host"),
    fromNs: f64Column(from, "begin_ns"), toNs: f64Column(from, "end_ns"), received: u32Column(from, "received"), sent: u32Column(from, "sent"),
    messages: f64Column(from, "messages"), load: f64Column(from, "load"),
  };
  const length = bounded("nodes", sameLength("nodes", columns));
  for (let node = 0; node < length; node++) {
    // A longest way cannot be longer than there are nodes.
    if ((columns.layer[node] ?? 0) >= length || (columns.place[node] ?? 0) >= length) throw new FeedError(`Node ${node} stands outside of the graph.`);
    if (!((columns.load[node] ?? -1) >= 0)) throw new FeedError(`The load of node ${node} is not a number from 0 up.`);
  }
  return { length, ...columns };
}

function dagEdges(from: Fields<WireEdges>, { length: count, layer }: DagNodes): DagEdges {
  const columns = { from: u32Column(from, "from"), to: u32Column(from, "to"), count: f64Column(from, "messages") };
  const length = bounded("edges", sameLength("edges", columns));
  for (let edge = 0; edge < length; edge++) {
    const [one, other] = [columns.from[edge] ?? count, columns.to[edge] ?? count];
    if (one >= count || other >= count) throw new FeedError(`Edge ${edge} leads to a node that is not there.`);
    // So that there is no way back, and whoever follows edges comes to an end.
    if ((layer[one] ?? 0) >= (layer[other] ?? 0)) throw new FeedError(`Edge ${edge} does not lead forward.`);
  }
  return { length, ...columns };
}

function dagMessages(from: Fields<WireMessages>, { length: count }: DagNodes): DagMessages {
  const columns = {
    node: u32Column(from, "node"), peerRank: u32Column(from, "other"), peerNode: i32Column(from, "other_node"), isSent: u32Column(from, "is_sent"),
    bytes: f64Column(from, "bytes"), tMsgNs: f64Column(from, "t_msg_ns"), latency: f64Column(from, "latency"), isExact: u32Column(from, "is_exact"),
    beginNs: f64Column(from, "begin_ns"), endNs: f64Column(from, "end_ns"),
  };
  const length = bounded("messages", sameLength("messages", columns));
  for (let row = 0; row < length; row++) {
    const peer = columns.peerNode[row] ?? -1;
    if ((columns.node[row] ?? count) >= count || peer >= count || peer < -1) throw new FeedError(`Message ${row} belongs to a node that is not there.`);
    if (!((columns.tMsgNs[row] ?? -1) >= 0 && (columns.bytes[row] ?? -1) >= 0)) throw new FeedError(`Message ${row} has a time or a size that is none.`);
  }
  return { length, ...columns };
}

function bounded(name: keyof typeof MOST, length: number): number {
  if (length > MOST[name]) throw new FeedError(`The graph has ${length} ${name}; more than ${MOST[name]} are not taken.`);
  return length;
}
