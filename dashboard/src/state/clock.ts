// The clock that everything shown follows: where it stands, how it moves, what a command does to it. Pure arithmetic;
// the same for the shared clock (whose next message then confirms it) and for a page that let go of it.

import type { Mode } from "../feed/message";

export interface Clock {
  mode: Mode;
  /** Where it stood at `atMs`; without meaning while live. */
  timeNs: number;
  /** Run seconds per second; negative is backward. Kept while paused: it says how long calls take to fade. */
  rate: number;
  /** The page's time (performance.now) at which `timeNs` was true. */
  atMs: number;
}

/** What the clock moves in. */
export interface Bounds {
  /** Calls are complete up to here: the live edge, or the end. */
  edgeNs: number;
  /** What "live" shows at this moment; follows the edge smoothly. */
  liveNs: number;
  /** The edge does not move any more. */
  over: boolean;
}

const FADE_WALL_NS = 2e9;
export const RATE_MIN = 0.001;
export const RATE_MAX = 100;

export function timeAt(clock: Clock, nowMs: number, bounds: Bounds): number {
  if (clock.mode === "live") return bounds.liveNs;
  const moved = clock.mode === "playing" ? clock.rate * (nowMs - clock.atMs) * 1e6 : 0;
  return Math.min(Math.max(0, clock.timeNs + moved), Math.max(0, bounds.edgeNs));
}

/** The clock once it ran into an end: it stands at the start, stands at the end of a run, or is live again. */
export function settled(clock: Clock, nowMs: number, bounds: Bounds): Clock {
  if (clock.mode !== "playing") return clock;
  const timeNs = timeAt(clock, nowMs, bounds);
  if (clock.rate < 0 && timeNs <= 0) return { ...clock, mode: "paused", timeNs: 0, atMs: nowMs };
  if (clock.rate > 0 && timeNs >= bounds.edgeNs) {
    return bounds.over ? { ...clock, mode: "paused", timeNs, atMs: nowMs } : { ...clock, mode: "live", rate: 1, timeNs, atMs: nowMs };
  }
  return clock;
}

/** Whether time changes from frame to frame. */
export function moves(clock: Clock, bounds: Bounds): boolean {
  return clock.mode === "playing" || (clock.mode === "live" && !bounds.over);
}

export type Command =
  | { do: "live" }
  | { do: "pause" }
  | { do: "play"; rate: number }
  | { do: "rate"; rate: number }
  | { do: "seek"; time_ns: number }
  | { do: "step"; by_ns: number };

export function commanded(clock: Clock, command: Command, nowMs: number, bounds: Bounds): Clock {
  const now = timeAt(clock, nowMs, bounds);
  const inside = (timeNs: number): number => Math.min(Math.max(0, timeNs), bounds.edgeNs);
  const rate = clock.mode === "live" ? 1 : clock.rate;
  switch (command.do) {
    case "live":
      return { mode: "live", timeNs: bounds.edgeNs, rate: 1, atMs: nowMs };
    case "pause":
      return { mode: "paused", timeNs: now, rate, atMs: nowMs };
    case "play":
      return { mode: "playing", timeNs: now, rate: command.rate, atMs: nowMs };
    case "rate":
      return clock.mode === "live" ? clock : { mode: clock.mode, timeNs: now, rate: command.rate, atMs: nowMs };
    case "seek":
      return { mode: clock.mode === "playing" ? "playing" : "paused", timeNs: inside(command.time_ns), rate, atMs: nowMs };
    case "step":
      return { mode: "paused", timeNs: inside(now + command.by_ns), rate, atMs: nowMs };
  }
}

/** How much run time a call takes to fade after its end: two seconds of whoever watches. */
export function fadeNs(clock: Clock): number {
  return clock.mode === "live" ? FADE_WALL_NS : FADE_WALL_NS * Math.max(Math.abs(clock.rate), RATE_MIN);
}

/** 0.001, 0.002, 0.005, 0.01 ... 100. */
export const RATES: readonly number[] = [-3, -2, -1, 0, 1, 2].flatMap((power) =>
  [1, 2, 5].map((digit) => Number((digit * 10 ** power).toPrecision(1))).filter((rate) => rate <= RATE_MAX),
);

/** The next value of a ladder above (`by` 1) or below (`by` -1) a value. */
export function nextStep(ladder: readonly number[], value: number, by: 1 | -1): number {
  const beyond = by > 0 ? ladder.find((rung) => rung > value * 1.0001) : ladder.findLast((rung) => rung < value * 0.9999);
  return beyond ?? value;
}

/**
 * Now, smoothly. Messages come in bursts and the lag differs from one to the next; particles must not stutter with
 * them. Runs at the pace of time, is drawn to the newest edge, and never goes back.
 */
export class LiveTime {
  private edgeNs = 0;
  private heardMs = 0;
  private shownNs = 0;
  private shownMs = 0;

  heard(edgeNs: number, nowMs: number): void {
    this.edgeNs = edgeNs;
    this.heardMs = nowMs;
  }

  at(nowMs: number, over: boolean): number {
    if (over) return (this.shownNs = this.edgeNs);
    const target = this.edgeNs + Math.min(nowMs - this.heardMs, SILENCE_MS) * 1e6;
    const sinceMs = Math.max(0, nowMs - this.shownMs);
    const paced = this.shownNs + sinceMs * 1e6;
    this.shownMs = nowMs;
    if (Math.abs(target - paced) > JUMP_NS) this.shownNs = target;
    else this.shownNs = Math.max(this.shownNs, Math.min(target + AHEAD_NS, paced + (target - paced) * (1 - Math.exp(-sinceMs / PULL_MS))));
    return this.shownNs;
  }
}

/** Without news for this long, now stops: what happened since is not known. */
const SILENCE_MS = 300;
const PULL_MS = 400;
/** Edges come unevenly; being this far ahead of one is no reason to stop. */
const AHEAD_NS = 100e6;
const JUMP_NS = 1.5e9;
