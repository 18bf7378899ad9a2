// Calls of times that are not live: asked from the server in aligned chunks, ahead of where the clock goes, and kept
// within a budget of bytes.

import type { Calls } from "../feed/calls";

const MILLISECOND_NS = 1e6;
const BYTES_PER_CALL = 56;
const BYTES_MAX = 64 << 20;
/** How far ahead of a moving clock tiles are asked, in seconds of whoever watches. */
const AHEAD_S = 1.5;
const AHEAD_TILES_MAX = 4;
/** A tile at the live edge still fills up, and a failed one may succeed: asked anew this long after. */
const AGAIN_MS = 700;
export const MOST_MAX = 200_000;

/** The length of a chunk: a power of two of milliseconds. Two to four of them cover the fade. */
export function chunkNs(fadeNs: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(fadeNs / MILLISECOND_NS / 2))) * MILLISECOND_NS;
}

/** Which chunks show something at a time, and which will soon. */
export function wanted(timeNs: number, fadeNs: number, rate: number, edgeNs: number): { visible: number[]; ahead: number[] } {
  const chunk = chunkNs(fadeNs);
  const last = Math.floor(timeNs / chunk);
  const first = Math.floor(Math.max(0, timeNs - fadeNs) / chunk);
  const visible: number[] = [];
  for (let index = first; index <= last; index++) visible.push(index);
  const ahead: number[] = [];
  const reach = Math.min(AHEAD_TILES_MAX, Math.max(1, Math.ceil((Math.abs(rate) * AHEAD_S * 1e9) / chunk)));
  for (let step = 1; step <= reach; step++) {
    if (rate >= 0 && (last + step) * chunk < edgeNs) ahead.push(last + step);
    if (rate <= 0 && first - step >= 0) ahead.push(first - step);
  }
  return { visible, ahead };
}

interface Tile {
  calls: Calls | null;
  /** The question that its calls answer. */
  most: number;
  /** Calls were complete up to here when it was asked. */
  edgeNs: number;
  asking: boolean;
  askedMs: number;
  error: string;
}

export interface TileView {
  timeNs: number;
  fadeNs: number;
  /** Of the clock; 0 when it stands. */
  rate: number;
  edgeNs: number;
  /** How many points a frame may have. */
  points: number;
}

export interface TileResult {
  /** Sorted by start; the same array while nothing changed. */
  tiles: readonly Calls[];
  /** Every visible chunk is there. */
  complete: boolean;
  /** Why one is missing; else empty. */
  error: string;
}

export class Tiles {
  /** By chunk length and index; the least recently used first. */
  private readonly cache = new Map<string, Tile>();
  private bytes = 0;
  private last: TileResult = { tiles: [], complete: false, error: "" };

  constructor(
    private readonly ask: (fromNs: number, toNs: number, most: number) => Promise<Calls>,
    private readonly nowMs: () => number,
    private readonly changed: () => void,
  ) {}

  clear(): void {
    this.cache.clear();
    this.bytes = 0;
  }

  /** What is there for a moment; asks for what is not. */
  at(view: TileView): TileResult {
    const chunk = chunkNs(view.fadeNs);
    const { visible, ahead } = wanted(view.timeNs, view.fadeNs, view.rate, view.edgeNs);
    const most = powerOfTwoBelow(Math.min(MOST_MAX, view.points / visible.length));
    const found: Calls[] = [];
    let complete = true;
    let error = "";
    for (const index of visible) {
      const tile = this.want(chunk, index, most, view.edgeNs, true);
      if (tile.calls) found.push(tile.calls);
      else complete = false;
      if (tile.error) error = tile.error;
    }
    for (const index of ahead) this.want(chunk, index, most, view.edgeNs, false);
    this.evict();
    const same = found.length === this.last.tiles.length && found.every((calls, at) => calls === this.last.tiles[at]);
    if (!same || complete !== this.last.complete || error !== this.last.error) {
      this.last = { tiles: same ? this.last.tiles : found, complete, error };
    }
    return this.last;
  }

  /** Calls ended that were running at the moment that is shown: tiles are asked anew when they are visible. */
  refresh(): void {
    for (const tile of this.cache.values()) tile.edgeNs = 0;
  }

  private want(chunk: number, index: number, most: number, edgeNs: number, visible: boolean): Tile {
    const key = `${chunk}/${index}`;
    const tile = this.cache.get(key) ?? { calls: null, most, edgeNs: 0, asking: false, askedMs: -Infinity, error: "" };
    this.cache.delete(key);
    this.cache.set(key, tile);
    const needed = tile.calls === null || (visible && this.outdated(tile.calls, tile, (index + 1) * chunk, most, edgeNs));
    if (needed && !tile.asking && this.nowMs() - tile.askedMs > AGAIN_MS) {
      this.fetch(key, tile, chunk, index, most, edgeNs);
    }
    return tile;
  }

  private outdated(calls: Calls, tile: Tile, toNs: number, most: number, edgeNs: number): boolean {
    if (tile.edgeNs < toNs && edgeNs > tile.edgeNs) return true;
    // Much too coarse for what the view can afford, or much too fine.
    return (calls.length < calls.total && most >= 4 * tile.most) || calls.length > 4 * most;
  }

  private fetch(key: string, tile: Tile, chunk: number, index: number, most: number, edgeNs: number): void {
    tile.asking = true;
    tile.askedMs = this.nowMs();
    this.ask(index * chunk, (index + 1) * chunk, most)
      .then((calls) => {
        if (this.cache.get(key) === tile) this.bytes += (calls.length - (tile.calls?.length ?? 0)) * BYTES_PER_CALL;
        Object.assign(tile, { calls, most, edgeNs, error: "" });
      }, (reason: Error) => {
        tile.error = reason.message;
      })
      .finally(() => {
        tile.asking = false;
        this.changed();
      });
  }

  private evict(): void {
    for (const [key, tile] of this.cache) {
      if (this.bytes <= BYTES_MAX) return;
      this.bytes -= (tile.calls?.length ?? 0) * BYTES_PER_CALL;
      this.cache.delete(key);
    }
  }
}

/** Budgets are rounded: a small change must not ask for the same calls again. */
function powerOfTwoBelow(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(256, value)));
}
