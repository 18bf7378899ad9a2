// The calls that are drawn: packed as they come, and chosen by how many the computer can draw.

import type { Calls, InFlight } from "../../feed/calls";
import type { ParticleFrame } from "../view";
import { Budget } from "./budget";
import { pack, PACK_CALLS, packInFlight, type Packed } from "./pack";
import { everyOne, select, type Selected, type Selection, type Tile } from "./sampling";

/** Packing of new calls in one frame; the rest waits for the next one. */
const PACK_SLICE_MS = 8;
const FIRST_BUDGET = 40_000;
/** A picture that stands is drawn once: it may have more particles than one of many a second. */
const STILL_FACTOR = 4;
const MOST_STILL = 100_000;

export class DrawnCalls {
  #tiles: readonly Tile[] = [];
  #selection: Selection = { selected: [], drawn: 0, allFromNs: 0, share: 1 };
  #inFlight: { from: InFlight; packed: Packed } | null = null;
  #budget: Budget;
  /** What the choice was made for, and how many points were allowed for it. */
  #chosen: { moving: boolean | null; points: number } = { moving: null, points: 0 };

  constructor(limits: Budget["limits"], private readonly budgetChanged: (points: number) => void) {
    this.#budget = new Budget(limits, FIRST_BUDGET);
  }

  get selection(): Selection {
    return this.#selection;
  }

  get inFlight(): Packed | null {
    return this.#inFlight?.packed ?? null;
  }

  get groups(): Selected[] {
    const { selected } = this.#selection;
    return this.#inFlight === null ? selected : [...selected, everyOne(this.#inFlight.packed)];
  }

  /** Where each group comes from. */
  get sources(): (Calls | InFlight)[] {
    const sources = this.#tiles.flatMap(({ calls, packs }): (Calls | InFlight)[] => packs.map(() => calls));
    return this.#inFlight === null ? sources : [...sources, this.#inFlight.from];
  }

  /** Whether even the fewest points take too long. */
  get isHopeless(): boolean {
    return this.#budget.hopeless;
  }

  /** Another renderer draws now. */
  limit(limits: Budget["limits"], frame: ParticleFrame | null): void {
    if (this.#budget.limits === limits) return;
    this.#budget = new Budget(limits, FIRST_BUDGET);
    if (frame !== null) this.#choose(frame);
  }

  /** Packs what is new, drops what is gone, and chooses what to draw. True when the calls are others than before. */
  take(frame: ParticleFrame, nowMs: number): boolean {
    let changed = frame.tiles.length !== this.#tiles.length;
    for (const [at, calls] of frame.tiles.entries()) if (this.#tiles[at]?.calls !== calls) changed = true;
    if (changed) {
      const before = new Map(this.#tiles.map((tile) => [tile.calls, tile]));
      this.#tiles = frame.tiles.map((calls) => before.get(calls) ?? { calls, packs: [] });
    }
    for (const { calls, packs } of this.#tiles) {
      while (packs.length * PACK_CALLS < calls.length && performance.now() - nowMs < PACK_SLICE_MS) {
        const first = packs.length * PACK_CALLS;
        packs.push(pack(calls, first, Math.min(calls.length, first + PACK_CALLS)));
        changed = true;
      }
    }
    if (changed || frame.moving !== this.#chosen.moving) this.#choose(frame);
    if (this.#inFlight?.from !== (frame.inFlight ?? undefined)) {
      changed = true;
      this.#inFlight = frame.inFlight === null ? null : { from: frame.inFlight, packed: packInFlight(frame.inFlight) };
    }
    return changed;
  }

  /** A picture took so long: more or fewer calls may be drawn from now on. False when that changes nothing. */
  measured(frame: ParticleFrame, costMs: number): boolean {
    const isOther = this.#budget.measured(costMs, this.#selection.drawn);
    if (isOther) this.#choose(frame);
    return isOther;
  }

  /** Calls in the tiles that are not to be seen at this moment cost little: they hardly count against the budget. */
  #choose(frame: ParticleFrame): void {
    const first = this.#tiles[0]?.calls.fromNs ?? 0;
    const last = this.#tiles.at(-1)?.calls.toNs ?? 0;
    const spread = Math.min(4, Math.max(1, (last - first) / frame.fadeNs));
    const own = this.#budget.points;
    const points = frame.moving ? own : Math.max(own, Math.min(MOST_STILL, own * STILL_FACTOR));
    const before = this.#chosen.points;
    this.#chosen = { moving: frame.moving, points };
    if (points !== before) this.budgetChanged(points);
    this.#selection = select(this.#tiles, points * spread);
  }
}
