// What transport, keys and buttons can do, each in one place. Built on the store's commands.

import type { Command } from "./clock";
import { nextStep, RATES } from "./clock";
import { edgeNs, over } from "./run";
import type { Store } from "./store";

/** 1 us to 10 s. */
export const STEPS_NS: readonly number[] = [3, 4, 5, 6, 7, 8, 9, 10].map((power) => 10 ** power);
const BIG_STEP = 10;

export class Actions {
  constructor(private readonly store: Store) {}

  private send(command: Command): void {
    this.store.command(command);
  }

  private get mode(): "live" | "paused" | "playing" {
    return this.store.perspective.peek().clock.mode;
  }

  private get over(): boolean {
    return over(this.store.run.peek());
  }

  /** Nothing lies ahead: "live" after the end stands still there. */
  private get atEnd(): boolean {
    return this.store.timeNs.peek() >= edgeNs(this.store.run.peek());
  }

  pause(): void {
    this.send({ do: "pause" });
  }

  toggle(): void {
    const moving = this.mode === "playing" || (this.mode === "live" && !this.over);
    if (moving) this.pause();
    else this.play(1);
  }

  /** From the end of a run forward means from its start again. */
  play(direction: 1 | -1): void {
    const rate = direction * this.store.rate.peek();
    if (direction > 0 && this.mode === "live" && !this.over) return;
    if (direction > 0 && this.over && this.atEnd) this.send({ do: "seek", time_ns: 0 });
    else if (this.mode === "live") this.send({ do: "pause" });
    this.send({ do: "play", rate });
  }

  step(direction: 1 | -1, big = false): void {
    this.send({ do: "step", by_ns: direction * this.store.stepNs.peek() * (big ? BIG_STEP : 1) });
  }

  toStart(): void {
    this.send({ do: "seek", time_ns: 0 });
  }

  toEnd(): void {
    this.send({ do: "live" });
  }

  seek(ns: number): void {
    this.send({ do: "seek", time_ns: ns });
  }

  /** A clock that plays changes its speed at once. */
  setRate(rate: number): void {
    this.store.rate.value = rate;
    const { clock } = this.store.perspective.peek();
    if (clock.mode === "playing") this.send({ do: "play", rate: Math.sign(clock.rate) * rate });
  }

  changeRate(by: 1 | -1): void {
    this.setRate(nextStep(RATES, this.store.rate.peek(), by));
  }

  toggleFollow(): void {
    this.store.setFollow(this.store.own.peek() !== null);
  }

  /** One thing at a time: what is selected, then the range. */
  clear(): void {
    if (this.store.selection.peek()) this.store.selection.value = null;
    else if (this.store.perspective.peek().rangeNs) this.store.select({ rangeNs: null });
  }

  /** Sets one end of the selected range to the cursor. */
  markRange(end: "from" | "to"): void {
    const timeNs = Math.round(this.store.timeNs.peek());
    const range = this.store.perspective.peek().rangeNs;
    const edge = edgeNs(this.store.run.peek());
    const from = end === "from" ? timeNs : Math.min(range?.[0] ?? 0, timeNs);
    const to = end === "to" ? timeNs : Math.max(range?.[1] ?? edge, timeNs);
    if (to > from) this.store.select({ rangeNs: [from, to] });
  }
}
