// Widths: where ranks stand, how they are grouped into segments, and where in its slot a call is drawn.

export interface Segment {
  first: number;
  /** Behind the last rank. */
  end: number;
}

/** The part of a slot that stays empty on each side, between neighbours. */
export const SLOT_MARGIN = 0.1;
/** Lines between nodes closer than this would be a tint and no lines. */
const LEAST_SEPARATOR_PX = 14;

/** Ranks on each node when they are placed in equal blocks one after the other (the last may be smaller); else 0. */
export function ranksPerNode(nodes: Uint32Array): number {
  let block = nodes.findIndex((node) => node !== nodes[0]);
  if (block < 0) block = nodes.length;
  const met = new Set<number>();
  for (let first = 0; first < nodes.length; first += block) {
    const node = nodes[first] ?? 0;
    if (met.has(node)) return 0;
    met.add(node);
    const end = Math.min(nodes.length, first + block);
    for (let rank = first; rank < end; rank++) if (nodes[rank] !== node) return 0;
  }
  return block;
}

/** How many ranks share a segment. None is shorter than asked; borders of nodes are borders of segments. */
export function ranksPerSegment(ranks: number, widthPx: number, leastPx: number, perNode: number): number {
  const least = Math.max(1, Math.ceil((leastPx * ranks) / Math.max(1, widthPx)));
  if (least >= ranks) return Math.max(1, ranks);
  const regular = perNode > 1 && perNode < ranks;
  if (regular && least > perNode) return Math.min(ranks, Math.ceil(least / perNode) * perNode);
  if (regular) {
    for (let size = least; size <= perNode; size++) if (perNode % size === 0) return size;
  }
  let size = 1;
  while (size < least) size *= 2;
  return Math.min(ranks, size);
}

/** The length that the longest label needs, in pixels. */
export function leastSegmentPx(ranks: number, digitPx: number): number {
  return Math.max(24, String(Math.max(0, ranks - 1)).length * digitPx + 10);
}

export function segmentsOf(ranks: number, perSegment: number): Segment[] {
  const segments: Segment[] = [];
  for (let first = 0; first < ranks; first += perSegment) {
    segments.push({ first, end: Math.min(ranks, first + perSegment) });
  }
  return segments;
}

export interface Separators {
  /** Ranks with a line before them. */
  before: number[];
  /** Nodes between two lines; 0 when lines do not stand a fixed number of nodes apart. */
  nodes: number;
}

/** Lines between nodes; where they would stand too close, between groups of nodes. */
export function separatorsOf(nodes: Uint32Array, widthPx: number): Separators {
  const borders: number[] = [];
  for (let rank = 1; rank < nodes.length; rank++) if (nodes[rank] !== nodes[rank - 1]) borders.push(rank);
  const perNode = ranksPerNode(nodes);
  if (borders.length === 0) return { before: [], nodes: 0 };
  if (perNode === 0) return { before: borders.length * LEAST_SEPARATOR_PX < widthPx ? borders : [], nodes: 0 };
  let every = 1;
  while ((every * perNode * widthPx) / nodes.length < LEAST_SEPARATOR_PX) every *= 2;
  return { before: borders.filter((_, at) => (at + 1) % every === 0), nodes: every };
}

/** While a call runs its start is known to some nanoseconds only; it must not jump aside when it ends. */
const SAME_START_NS = 1024;

/** 32 well mixed bits from a call's rank, thread and start: the same in every tile and after every reload. */
export function callHash(rank: number, thread: number, startNs: number): number {
  const start = Math.floor(startNs / SAME_START_NS);
  const low = start % 4294967296;
  let hash = Math.imul(rank ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(thread + 0x7f4a7c15, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15) ^ low, 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12) ^ ((start - low) / 4294967296), 0x297a2d39);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Where in its slot a call stands, 0..1, with the margins kept free. */
export function jitterOf(hash: number): number {
  return SLOT_MARGIN + (1 - 2 * SLOT_MARGIN) * (Math.imul(hash, 0x9e3779b1) >>> 0) / 4294967296;
}
