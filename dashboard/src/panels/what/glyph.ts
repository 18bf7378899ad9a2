// The glyph of a node, in cells: an ellipse in the middle, a border around it, and a bar for each message, inside the
// border for those received and outside for those sent. Bars follow each other clockwise from the top, as the messages
// came. Pure.

import { type Graph, listed } from "./graph";

/** Radii in shares of the cell: a glyph with its highest bars just fits. */
export const BORDER = 0.31;
export const INSIDE_MAX = 0.11;
export const OUTSIDE_MAX = 0.15;
export const ELLIPSE = 0.185;
const TURN = 2 * Math.PI;
/** Between two bars, and at least for a bar, as shares of a turn. */
const GAP = 1 / 180;
const LEAST = 1 / 72;
/** More bars on one side cannot be distinguished: the longest stay, the others are one. */
export const BARS_MAX = 24;
const HEIGHT_LEAST = 0.18;
/** The share of nodes whose messages are not squeezed. */
const FITTING = 0.9;

/** What bars are drawn to, for all glyphs of a graph alike. */
export interface GlyphScale {
  /** A full turn of the border. */
  turnNs: number;
  largestBytes: number;
}

export interface Bar {
  /** Angles clockwise from the top. */
  from: number;
  to: number;
  /** From 0 to 1: the share of the room that there is for heights. */
  height: number;
  /** The message's row; -1 for the bar that stands for all others. */
  message: number;
  count: number;
  /** Not a number where it is not known. */
  latency: number;
  isExact: boolean;
}

export interface Side {
  bars: Bar[];
  /** The times of its messages are more than a turn: its bars are shorter than those of others. */
  isSqueezed: boolean;
  /** Messages that no bar stands for, since the server left them out. */
  missing: number;
}

export interface Glyph { radiusX: number; radiusY: number; received: Side; sent: Side }

/** How flat the ellipse of a rank is whose load is this number of mean deviations from the mean: from 0 (a circle) towards 1. */
export function flatness(load: number): number {
  return 1 - 1 / (1 + load / 3);
}

/** Its half axes in cells; its area falls with the flatness. */
export function ellipse(load: number): { radiusX: number; radiusY: number } {
  return { radiusX: ELLIPSE, radiusY: ELLIPSE * (1 - flatness(load)) };
}

/** How high the bar of a size is: doubling a size adds the same height everywhere. */
export function heightOf(bytes: number, largestBytes: number): number {
  if (!(largestBytes > 0)) return HEIGHT_LEAST;
  return HEIGHT_LEAST + (1 - HEIGHT_LEAST) * Math.min(1, Math.log2(1 + bytes) / Math.log2(1 + largestBytes));
}

export function glyphScale({ dag: { nodes, messages } }: Graph): GlyphScale {
  const sums = new Float64Array(2 * nodes.length);
  let largestBytes = 0;
  for (let at = 0; at < messages.length; at++) {
    sums[2 * (messages.node[at] ?? 0) + (messages.isSent[at] === 1 ? 1 : 0)]! += messages.tMsgNs[at] ?? 0;
    largestBytes = Math.max(largestBytes, messages.bytes[at] ?? 0);
  }
  const sorted = sums.filter((sum) => sum > 0).sort();
  return { turnNs: sorted[Math.floor(FITTING * (sorted.length - 1))] ?? 1, largestBytes };
}

export function glyphOf(graph: Graph, node: number, scale: GlyphScale): Glyph {
  const { nodes, messages } = graph.dag;
  const mine: [received: number[], sent: number[]] = [[], []];
  for (const at of listed(graph.messages, node)) mine[messages.isSent[at] === 1 ? 1 : 0].push(at);
  return {
    ...ellipse(nodes.load[node] ?? 0),
    received: side(graph, mine[0], nodes.received[node] ?? 0, scale),
    sent: side(graph, mine[1], nodes.sent[node] ?? 0, scale),
  };
}

function side({ dag: { messages } }: Graph, rows: readonly number[], count: number, scale: GlyphScale): Side {
  const time = (at: number): number => messages.tMsgNs[at] ?? 0;
  let shown = rows;
  let others: readonly number[] = [];
  if (rows.length > BARS_MAX) {
    const longest = [...rows].sort((one, other) => time(other) - time(one) || one - other);
    const kept = new Set(longest.slice(0, BARS_MAX - 1));
    shown = rows.filter((at) => kept.has(at));
    others = rows.filter((at) => !kept.has(at));
  }
  const drafts = shown.map((at) => ({
    ns: time(at), height: heightOf(messages.bytes[at] ?? 0, scale.largestBytes), message: at, count: 1,
    latency: messages.latency[at] ?? Number.NaN, isExact: messages.isExact[at] === 1,
  }));
  if (others.length > 0) drafts.push({ ...together(messages, others, scale), message: -1, count: others.length });
  const { arcs, isSqueezed } = arcsOf(drafts.map(({ ns }) => ns / scale.turnNs));
  return {
    bars: drafts.map(({ height, message, count: many, latency, isExact }, at) => ({ ...arcs[at]!, height, message, count: many, latency, isExact })),
    isSqueezed, missing: Math.max(0, count - rows.length),
  };
}

/** Means for a bar that stands for several messages. */
function together(messages: Graph["dag"]["messages"], rows: readonly number[], scale: GlyphScale): { ns: number; height: number; latency: number; isExact: boolean } {
  let [ns, bytes, latency, known] = [0, 0, 0, 0];
  for (const at of rows) {
    ns += messages.tMsgNs[at] ?? 0;
    bytes += messages.bytes[at] ?? 0;
    if (messages.isExact[at] !== 1 || Number.isNaN(messages.latency[at])) continue;
    latency += messages.latency[at] ?? 0;
    known++;
  }
  return { ns, height: heightOf(bytes / rows.length, scale.largestBytes), latency: known > 0 ? latency / known : Number.NaN, isExact: known > 0 };
}

/** Arcs that never overlap, for lengths in turns; where there is no room all but the gaps is made shorter alike. */
export function arcsOf(turns: readonly number[]): { arcs: { from: number; to: number }[]; isSqueezed: boolean } {
  if (turns.length === 0) return { arcs: [], isSqueezed: false };
  const gap = Math.min(GAP, 0.25 / turns.length);
  const available = 1 - gap * turns.length;
  const wanted = turns.map((turn) => Math.max(LEAST, turn));
  const sum = wanted.reduce((total, turn) => total + turn, 0);
  const factor = Math.min(1, available / sum);
  let at = gap / 2;
  const arcs = wanted.map((turn) => {
    const from = at;
    at += turn * factor + gap;
    return { from: from * TURN, to: (from + turn * factor) * TURN };
  });
  // Only of those that are long, not of those that the least length makes many of.
  return { arcs, isSqueezed: turns.reduce((total, turn) => total + turn, 0) > available };
}
