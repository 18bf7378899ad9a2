// What the shell and the particle view tell each other.

import type { Calls, History, InFlight } from "../feed/calls";

/** One moment to draw. */
export interface ParticleFrame {
  timeNs: number;
  fadeNs: number;
  live: boolean;
  /** Time changes from frame to frame. */
  moving: boolean;
  /** Sorted by `fromNs`; a Calls object is the same one as long as its content is. */
  tiles: readonly Calls[];
  inFlight: InFlight | null;
  /** The longest duration seen in the run so far. */
  longestNs: number;
  ranks: number;
  /** The node of each rank. */
  nodes: Uint32Array;
  functions: ReadonlyMap<number, { id: number; name: string; family: string; calls: number; polls: number }>;
  hidden: ReadonlySet<number>;
  rankRanges: readonly [number, number][] | null;
  theme: "light" | "dark";
  reducedMotion: boolean;
}

/** What the particle view may ask of the shell. */
export interface ParticleServices {
  /** Rejects with an Error that is one sentence. */
  history(fromNs: number, toNs: number): Promise<History>;
  setHidden(hidden: Set<number>): void;
  hover(text: CallText | null, x: number, y: number): void;
  select(call: CallText | null): void;
  /** For names of files. */
  runName(): string;
  wholeRunNs(): number;
  /** How many points a frame the view can afford. */
  budgetChanged(points: number): void;
}

/** One call, for words about it. */
export interface CallText {
  function: number;
  name: string;
  rank: number;
  thread: number;
  startNs: number;
  /** Null while it runs. */
  endNs: number | null;
  peer: number | null;
  tag: number | null;
  bytes: number;
  comm: number | null;
  count: number;
}
