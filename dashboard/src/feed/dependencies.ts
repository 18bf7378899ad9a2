// What led to what, as a page receives it: the dependency graph of a range, the past or the future of an event.

import { FeedError, type Fields, f64Column, fields, number, sameLength, text, texts, u32Column } from "./columns";
import type * as Wire from "./types";

/** Ranks for a while: each takes in messages, then sends some. */
export interface DagNodes {
  length: number;
  rank: Uint32Array;
  host: Uint32Array;
  layer: Uint32Array;
  place: Uint32Array;
  beginNs: Float64Array;
  endNs: Float64Array;
  received: Uint32Array;
  sent: Uint32Array;
  following: Uint32Array;
}

/** Messages between two nodes, by the node that sent; `from` and `to` are below the number of nodes. */
export interface DagEdges {
  length: number;
  from: Uint32Array;
  to: Uint32Array;
  messages: Uint32Array;
  bytes: Float64Array;
}

export interface DagRanks {
  length: number;
  rank: Uint32Array;
  messages: Float64Array;
  load: Float64Array;
  flatness: Float64Array;
  mean: number;
  deviation: number;
}

/** The messages of each node, node by node; `latency` is NaN where the expected transfer time is not known. */
export interface DagBars {
  length: number;
  node: Uint32Array;
  isSent: Uint32Array;
  other: Uint32Array;
  bytes: Float64Array;
  tMsgNs: Float64Array;
  latency: Float64Array;
  isExact: Uint32Array;
  sendNs: Float64Array;
  recvNs: Float64Array;
}

export interface Dag {
  fromNs: number;
  /** The end of the range that was asked for. */
  toNs: number;
  /** Up to where the graph goes: earlier than `toNs` where it has as many nodes as it may have. */
  untilNs: number;
  layers: number;
  nodes: DagNodes;
  edges: DagEdges;
  ranks: DagRanks;
  isolated: Uint32Array;
  bars: DagBars;
  /** Messages that are part of the graph. */
  messages: number;
  /** Of these, messages with only one end in the graph: they make no edge. */
  open: number;
  /** Of these, messages that would lead back by the clocks: they make no edge. */
  contradicted: number;
  /** Messages of the range for which there was no room. */
  leftOut: number;
  barsLeftOut: number;
  /** Whether expected transfer times are known. */
  hasCriteria: boolean;
  notes: readonly string[];
}

/** The past or the future of an event: of each rank how many events, and the last or the first of them. */
export interface Cone {
  fromNs: number;
  toNs: number;
  isFuture: boolean;
  rank: number;
  atNs: number;
  event: string;
  beyondNs: number | null;
  events: number;
  found: number;
  collectives: number;
  contradictions: number;
  ranks: { length: number; rank: Uint32Array; events: Uint32Array; edgeNs: Float64Array };
  messages: { length: number; src: Uint32Array; dst: Uint32Array; bytes: Float64Array; sendNs: Float64Array; recvNs: Float64Array };
  messagesTotal: number;
}

export function dag(from: Fields<Wire.Dag>): Dag {
  const nodes = dagNodes(fields(from.nodes, "The graph's nodes"));
  return {
    fromNs: number(from, "from_ns"),
    toNs: number(from, "to_ns"),
    untilNs: number(from, "until_ns"),
    layers: number(from, "layers"),
    nodes,
    edges: dagEdges(fields(from.edges, "The graph's edges"), nodes),
    ranks: dagRanks(fields(from.ranks, "The graph's ranks")),
    isolated: u32Column(from, "isolated"),
    bars: dagBars(fields(from.bars, "The graph's bars"), nodes),
    messages: number(from, "messages"),
    open: number(from, "open"),
    contradicted: number(from, "contradicted"),
    leftOut: number(from, "left_out"),
    barsLeftOut: number(from, "bars_left_out"),
    hasCriteria: from.has_criteria === true,
    notes: texts(from, "notes"),
  };
}

function dagNodes(from: Fields<Wire.DagNodes>): DagNodes {
  const columns = {
    rank: u32Column(from, "rank"),
    host: u32Column(from, "host"),
    layer: u32Column(from, "layer"),
    place: u32Column(from, "place"),
    beginNs: f64Column(from, "begin_ns"),
    endNs: f64Column(from, "end_ns"),
    received: u32Column(from, "received"),
    sent: u32Column(from, "sent"),
    following: u32Column(from, "following"),
  };
  return { length: sameLength("nodes", columns), ...columns };
}

function dagEdges(from: Fields<Wire.DagEdges>, nodes: DagNodes): DagEdges {
  const columns = {
    from: u32Column(from, "from"),
    to: u32Column(from, "to"),
    messages: u32Column(from, "messages"),
    bytes: f64Column(from, "bytes"),
  };
  const length = sameLength("edges", columns);
  for (let edge = 0; edge < length; edge++) {
    const [source, target] = [columns.from[edge] ?? 0, columns.to[edge] ?? 0];
    if (source >= nodes.length || target >= nodes.length) throw new FeedError("An edge leads to a node that is not there.");
    if (edge > 0 && source < (columns.from[edge - 1] ?? 0)) throw new FeedError("The edges are not in order.");
  }
  return { length, ...columns };
}

function dagRanks(from: Fields<Wire.DagRanks>): DagRanks {
  const columns = {
    rank: u32Column(from, "rank"),
    messages: f64Column(from, "messages"),
    load: f64Column(from, "load"),
    flatness: f64Column(from, "flatness"),
  };
  const [mean, deviation] = [number(from, "mean"), number(from, "deviation")];
  return { length: sameLength("ranks", columns), ...columns, mean, deviation };
}

function dagBars(from: Fields<Wire.DagBars>, nodes: DagNodes): DagBars {
  const columns = {
    node: u32Column(from, "node"),
    isSent: u32Column(from, "is_sent"),
    other: u32Column(from, "other"),
    bytes: f64Column(from, "bytes"),
    tMsgNs: f64Column(from, "t_msg_ns"),
    latency: f64Column(from, "latency"),
    isExact: u32Column(from, "is_exact"),
    sendNs: f64Column(from, "send_ns"),
    recvNs: f64Column(from, "recv_ns"),
  };
  const length = sameLength("bars", columns);
  if (columns.node.some((node) => node >= nodes.length)) throw new FeedError("A bar belongs to a node that is not there.");
  return { length, ...columns };
}

export function cone(from: Fields<Wire.Cone>): Cone {
  const ofRanks = fields<Wire.ConeRanks>(from.ranks, "The ranks of a past or a future");
  const ranks = { rank: u32Column(ofRanks, "rank"), events: u32Column(ofRanks, "events"), edgeNs: f64Column(ofRanks, "edge_ns") };
  const ofMessages = fields<Wire.ConeMessages>(from.messages, "The messages of a past or a future");
  const messages = {
    src: u32Column(ofMessages, "src"),
    dst: u32Column(ofMessages, "dst"),
    bytes: f64Column(ofMessages, "bytes"),
    sendNs: f64Column(ofMessages, "send_ns"),
    recvNs: f64Column(ofMessages, "recv_ns"),
  };
  return {
    fromNs: number(from, "from_ns"),
    toNs: number(from, "to_ns"),
    isFuture: from.is_future === true,
    rank: number(from, "rank"),
    atNs: number(from, "at_ns"),
    event: text(from, "event"),
    beyondNs: from.beyond_ns === null || from.beyond_ns === undefined ? null : number(from, "beyond_ns"),
    events: number(from, "events"),
    found: number(from, "found"),
    collectives: number(from, "collectives"),
    contradictions: number(from, "contradictions"),
    ranks: { length: sameLength("ranks", ranks), ...ranks },
    messages: { length: sameLength("messages", messages), ...messages },
    messagesTotal: number(from, "messages_total"),
  };
}
