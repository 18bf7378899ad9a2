// The calls to draw at a moment: of now those that the feed brings, of earlier times those of tiles that are asked for.

import type { Calls, InFlight } from "../feed/calls";
import type { Link } from "../net";
import { keptPicture } from "../words/link";
import { type Bounds, type Clock, fadeNs } from "./clock";
import { Tail } from "./tail";
import { Tiles } from "./tiles";

/** Calls to draw, whether they are the live tail, and what to say about calls that are not there. */
export interface Shown { calls: readonly Calls[]; live: boolean; note: string }

/** A moment of the run, and what is known of it. */
export interface MomentState { clock: Clock; timeNs: number; bounds: Bounds; inFlight: InFlight | null; link: Link }

/** What a view can afford before it says so. */
const POINTS_FIRST = 200_000;

export class MomentCalls {
  private readonly tail = new Tail();
  private readonly tiles: Tiles;
  /** The part of the calls that the view can draw. */
  private points = POINTS_FIRST;
  private shown: Shown = { calls: [], live: true, note: "" };
  private lastInFlight: InFlight | null = null;
  private ends = { timeNs: -1, running: 0 };

  constructor(ask: (fromNs: number, toNs: number, most: number) => Promise<Calls>, private readonly changed: () => void) {
    this.tiles = new Tiles(ask, () => performance.now(), changed);
  }

  /** Calls that the feed brought. */
  add(calls: Calls): void {
    this.tail.add(calls);
    this.changed();
  }

  /** The state of the run comes anew; what was asked for stays where it is the same run. */
  restart(isOtherRun: boolean): void {
    this.tail.clear();
    if (isOtherRun) this.tiles.clear();
  }

  setPoints(points: number): void {
    this.points = points;
    this.changed();
  }

  /** The calls to draw at a moment, and what to say about those that are missing. */
  at(moment: MomentState): Shown {
    const { clock, timeNs, bounds, link } = moment;
    if (clock.mode === "live" && !bounds.over) return (this.shown = { calls: this.tail.list(), live: true, note: "" });
    this.noticeEnds(moment);
    const rate = clock.mode === "playing" ? clock.rate : 0;
    const found = this.tiles.at({ timeNs, fadeNs: fadeNs(clock), rate, edgeNs: bounds.edgeNs, points: this.points });
    // Just paused: the last live picture stays until the answers are here, rather than an empty one.
    // The same at the end of a run whose server went with it.
    const stays = !found.error || timeNs >= bounds.edgeNs;
    if (found.tiles.length === 0 && !found.complete && stays && this.shown.live) return { ...this.shown, note: keptPicture(link) };
    const note = found.error ? `Calls of these moments are missing: ${found.error}` : found.complete ? "" : "Loading the calls of these moments.";
    return (this.shown = { calls: found.tiles, live: false, note });
  }

  /** Calls that are in MPI at a moment: of the past only those that still are. */
  inFlight({ clock, timeNs, inFlight: all }: Pick<MomentState, "clock" | "timeNs" | "inFlight">): InFlight | null {
    if (!all || clock.mode === "live") return all;
    // Longest first means that those already running then are a prefix.
    let length = 0;
    while (length < all.length && (all.sinceNs[length] ?? Infinity) <= timeNs) length++;
    if (this.lastInFlight?.length !== length || this.lastInFlight.sinceNs !== all.sinceNs) this.lastInFlight = { ...all, length };
    return this.lastInFlight;
  }

  /** While a moment stays, a call that was running then may end: it was in no tile until now. */
  private noticeEnds(moment: MomentState): void {
    const running = this.inFlight(moment)?.length ?? 0;
    if (moment.timeNs === this.ends.timeNs && running < this.ends.running) this.tiles.refresh();
    this.ends = { timeNs: moment.timeNs, running };
  }
}
