// What is known of a graph beside its columns: who follows whom, who stands where, whose messages are which. Pure; made
// once for each answer, in arrays, for both the page and whoever draws.

import type { Dag } from "../../feed/dag";

/** For each node a stretch of a list: from `starts[node]` to `starts[node + 1]`. */
export interface Lists { starts: Uint32Array; items: Uint32Array }

export interface Graph {
  dag: Dag;
  layers: number;
  /** Nodes of the fullest layer. */
  rows: number;
  /** Nodes of each layer in their order, and where each stands: 0 is the middle of its layer. */
  inLayer: Lists;
  row: Float32Array;
  /** Edges that leave a node, and those that lead to it. */
  latter: Lists;
  former: Lists;
  /** Rows of `dag.messages`. */
  messages: Lists;
  /** When the first node of each layer begins. */
  layerFromNs: Float64Array;
  /** The highest latency of the exact messages of each node; not a number where none is known. */
  worst: Float64Array;
  /** The row of the message that took longest, of each node; -1 where there is none. */
  slowest: Int32Array;
}

function grouped(count: number, keys: ArrayLike<number>): Lists {
  const starts = new Uint32Array(count + 1);
  for (let at = 0; at < keys.length; at++) starts[(keys[at] ?? 0) + 1]!++;
  for (let at = 0; at < count; at++) starts[at + 1]! += starts[at] ?? 0;
  const next = starts.slice();
  const items = new Uint32Array(keys.length);
  for (let at = 0; at < keys.length; at++) items[next[keys[at] ?? 0]!++] = at;
  return { starts, items };
}

export function listed({ starts, items }: Lists, at: number): Uint32Array {
  return items.subarray(starts[at] ?? 0, starts[at + 1] ?? 0);
}

export function graphOf(dag: Dag): Graph {
  const { nodes, edges, messages, layers } = dag;
  const inLayer = grouped(layers, nodes.layer);
  const row = new Float32Array(nodes.length);
  const layerFromNs = new Float64Array(layers).fill(Infinity);
  let rows = 0;
  for (let layer = 0; layer < layers; layer++) {
    const members = listed(inLayer, layer);
    members.sort((one, other) => (nodes.place[one] ?? 0) - (nodes.place[other] ?? 0) || one - other);
    members.forEach((node, at) => {
      row[node] = at - (members.length - 1) / 2;
      layerFromNs[layer] = Math.min(layerFromNs[layer] ?? Infinity, nodes.beginNs[node] ?? 0);
    });
    rows = Math.max(rows, members.length);
  }
  const worst = new Float64Array(nodes.length).fill(Number.NaN);
  const slowest = new Int32Array(nodes.length).fill(-1);
  for (let at = 0; at < messages.length; at++) {
    const node = messages.node[at] ?? 0;
    const before = slowest[node] ?? -1;
    if (before < 0 || (messages.tMsgNs[at] ?? 0) > (messages.tMsgNs[before] ?? 0)) slowest[node] = at;
    const latency = messages.latency[at] ?? Number.NaN;
    // An upper bound is no proof of slowness.
    if (messages.isExact[at] === 1 && !(latency <= (worst[node] ?? 0))) worst[node] = Number.isNaN(latency) ? worst[node]! : latency;
  }
  return {
    dag, layers, rows, inLayer, row, layerFromNs, worst, slowest,
    latter: grouped(nodes.length, edges.from), former: grouped(nodes.length, edges.to), messages: grouped(nodes.length, messages.node),
  };
}

/** Marks of nodes. */
export const HIDDEN = 1;
export const PAST = 2;
export const FUTURE = 4;
export const FOLDED = 8;

/** All that follow one of these nodes (`future`), or lead to one, as marks of 1; not the nodes themselves, unless others reach them. */
export function reached(graph: Graph, nodes: Iterable<number>, direction: "past" | "future"): Uint8Array {
  const found = new Uint8Array(graph.dag.nodes.length);
  const [lists, ends] = direction === "past" ? [graph.former, graph.dag.edges.from] : [graph.latter, graph.dag.edges.to];
  const stack = [...nodes];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const edge of listed(lists, node)) {
      const other = ends[edge] ?? 0;
      if (found[other] === 1) continue;
      found[other] = 1;
      stack.push(other);
    }
  }
  return found;
}

/** What folding a node hides. */
export function followers(graph: Graph, node: number): number {
  return reached(graph, [node], "future").reduce((sum, mark) => sum + mark, 0);
}

/** What is hidden, folded, before and after the selected node. */
export function marksOf(graph: Graph, folded: ReadonlySet<number>, selected: number): Uint8Array {
  const marks = reached(graph, folded, "future");
  for (const node of folded) marks[node]! |= FOLDED;
  if (selected < 0) return marks;
  const past = reached(graph, [selected], "past");
  const future = reached(graph, [selected], "future");
  for (let node = 0; node < marks.length; node++) marks[node]! |= (past[node] ? PAST : 0) | (future[node] ? FUTURE : 0);
  return marks;
}

/** The nodes at the other ends of a node's edges. */
export function neighbours(graph: Graph, node: number, direction: "past" | "future"): number[] {
  const { edges } = graph.dag;
  return direction === "past"
    ? [...listed(graph.former, node)].map((edge) => edges.from[edge] ?? 0)
    : [...listed(graph.latter, node)].map((edge) => edges.to[edge] ?? 0);
}
