// Which calls are drawn when all would be too many: the longest ones always, of the others a fixed random share.
import type { Calls } from "../../feed/calls";
import { count, duration } from "../../words";
import { DURATION, STRIDE, type Packed } from "./pack";

/** Calls and the packs that were made of them so far. */
export interface Tile {
  calls: Calls;
  packs: Packed[];
}

export interface Selected {
  packed: Packed;
  /** How many from the front of the packed calls: all that are long. */
  long: number;
  /** All of those and no other are at least so long: a 32-bit number, as the GPU has it. */
  longFromNs: number;
  /** And how many from the front of the shuffled order; those among them that are long are not drawn twice. */
  sampled: number;
  /** Calls that start before this (after the base) are drawn by the tile before. */
  skipBeforeNs: number;
}

export interface Selection {
  selected: Selected[];
  /** How many calls are selected. */
  drawn: number;
  /** All calls at least this long are drawn; 0: all calls are. */
  allFromNs: number;
  /** The share of the shorter ones that is drawn. */
  share: number;
}

const STEPS_A_DECADE = 48;
const SKIP_NOTHING_NS = Number.NEGATIVE_INFINITY;

/** All calls of a pack, whatever the budget. */
export function everyOne(packed: Packed): Selected {
  return { packed, long: packed.length, longFromNs: 0, sampled: 0, skipBeforeNs: SKIP_NOTHING_NS };
}

/** How many packed calls are at least so long. */
export function longerThan(packed: Packed, thresholdNs: number): number {
  let low = 0;
  let high = packed.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (packed.data[middle * STRIDE + DURATION]! >= thresholdNs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A tile of calls that overlap its range holds what began in it and ended later; a tail of ended calls does not. */
function holdsOverlaps(tile: Tile): boolean {
  return tile.packs.some(({ lastEndNs }) => lastEndNs > tile.calls.toNs);
}

/** Starts before this (after the base of the tile's packs) belong to the tile before. */
function skipBefore(tile: Tile, before: Tile | undefined): number {
  const covered = before !== undefined && before.calls.toNs >= tile.calls.fromNs && holdsOverlaps(before);
  return covered ? tile.calls.fromNs - Math.floor(tile.calls.fromNs) : SKIP_NOTHING_NS;
}

/**
 * Half of the budget goes to the longest calls, half to a sample of the others. Threshold and share move in
 * steps of a twentieth or less: a new tile does not swap the particles of old ones.
 */
export function select(tiles: readonly Tile[], budget: number): Selection {
  const packs = tiles.flatMap((tile) => tile.packs);
  const loaded = packs.reduce((sum, { length }) => sum + length, 0);
  const total = tiles.reduce((sum, { calls }) => sum + Math.max(calls.total, calls.length), 0);
  const longerIn = (thresholdNs: number): number =>
    packs.reduce((sum, packed) => sum + longerThan(packed, thresholdNs), 0);
  let thresholdNs = 0;
  let share = 1;
  if (loaded > budget) {
    let step = 0;
    for (let size = 512; size >= 1; size /= 2) if (longerIn(10 ** ((step + size) / STEPS_A_DECADE)) > budget / 2) step += size;
    thresholdNs = Math.fround(10 ** ((step + 1) / STEPS_A_DECADE));
    const long = longerIn(thresholdNs);
    share = Math.max(0.02, Math.floor(((budget - long) / Math.max(1, loaded - long)) * 50) / 50);
  }
  const selected = tiles.flatMap((tile, at) => {
    const skipBeforeNs = skipBefore(tile, tiles[at - 1]);
    return tile.packs.map((packed): Selected => ({
      packed,
      long: thresholdNs > 0 ? longerThan(packed, thresholdNs) : packed.length,
      longFromNs: thresholdNs,
      sampled: thresholdNs > 0 ? Math.floor(packed.length * share) : 0,
      skipBeforeNs,
    }));
  });
  // What the feed itself left out counts too: it is complete only from its own threshold on.
  const allFromNs = tiles.reduce((most, { calls }) => Math.max(most, calls.allFromNs), thresholdNs);
  const long = allFromNs > 0 ? longerIn(allFromNs) : loaded;
  let drawn = 0;
  for (const group of selected) {
    drawn += group.long + (group.sampled * (group.packed.length - group.long)) / Math.max(1, group.packed.length);
  }
  drawn = Math.round(drawn);
  return { selected, drawn, allFromNs, share: total > long ? (drawn - long) / (total - long) : 1 };
}

/** What the picture shows of the calls, in words. */
export function samplingWords(selection: Selection, visible: number): string {
  if (visible === 0) return "no ended calls at this moment";
  const complete = selection.allFromNs === 0 || selection.share >= 1;
  if (complete) return `all ${count(visible)} calls of this moment`;
  const percent = 100 * selection.share;
  const part = percent >= 10 ? String(Math.round(percent)) : percent.toPrecision(2);
  return `${part} % of calls under ${duration(selection.allFromNs)}; all longer ones`;
}
