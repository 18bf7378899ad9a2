// What transport, keys and buttons can do, each in one place. Built on the store's commands.

import type { Command } from "./clock";
import { nextStep, RATES } from "./clock";
import type { RankRanges } from "./perspective";
import { edgeNs, over } from "./run";
import { around, lengthOf, panned, wholeRun, zoomed } from "./span";
import type { Store } from "./store";
import { similarCall } from "./similar";
import { type WantedCall, wantedCall } from "./wanted-call";
import { slowestMessage } from "./wanted-message";

/** 1 µs to 10 s. */
export const STEPS_NS: readonly number[] = [3, 4, 5, 6, 7, 8, 9, 10].map((power) => 10 ** power);
const BIG_STEP = 10;
const PAN_PART = 0.2;

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

  /** Nothing lies ahead: "live" after the end stays there. */
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

  /** To where the next call of the shown functions and ranks begins, or the one before. Stays where there is none. */
  async nextEvent(direction: 1 | -1, hidden: ReadonlySet<number> = this.store.perspective.peek().hidden): Promise<void> {
    const from = this.store.timeNs.peek();
    if (this.mode !== "paused") this.pause();
    const found = await this.store.questions.event(from, direction < 0, this.store.perspective.peek().ranks, [...hidden]).catch(() => null);
    if (found && found.atNs !== null) this.seek(found.atNs);
  }

  /** Selects the next call of the same rank and function, or the one before, and goes there. Stays where there is none. */
  async nextSimilar(direction: 1 | -1): Promise<void> {
    const selection = this.store.selection.peek();
    if (selection?.kind !== "call") return;
    const found = await similarCall(this.store.questions, selection.call, direction < 0).catch(() => null);
    if (!found || this.store.selection.peek() !== selection) return;
    if (this.mode !== "paused") this.pause();
    this.store.selection.value = { kind: "call", call: found };
    this.seek(found.startNs);
  }

  /** Selects the longest or latest call that is meant, and goes there; whether there is one. */
  async goToCall(wanted: WantedCall): Promise<boolean> {
    const { rangeNs, ranks } = this.store.perspective.peek();
    const selection = this.store.selection.peek();
    const nameOf = (id: number): string => this.store.run.peek().functions.get(id)?.name ?? `function ${id}`;
    const found = await wantedCall(this.store.questions, { ...wanted, ranks: wanted.ranks ?? ranks }, rangeNs, nameOf).catch(() => null);
    if (!found || this.store.selection.peek() !== selection) return false;
    if (this.mode !== "paused") this.pause();
    this.store.selection.value = { kind: "call", call: found };
    this.seek(found.startNs);
    return true;
  }

  /** Selects the slowest message among these ranks, and goes there; whether there is one. */
  async goToSlowest(among: RankRanges | null): Promise<boolean> {
    const { rangeNs, ranks } = this.store.perspective.peek();
    const selection = this.store.selection.peek();
    const message = await slowestMessage(this.store.questions, among ?? ranks, rangeNs).catch(() => null);
    if (!message || this.store.selection.peek() !== selection) return false;
    if (this.mode !== "paused") this.pause();
    this.store.selection.value = { kind: "message", message };
    this.seek(message.sendNs);
    return true;
  }

  /** Moves the visible part of the run by a fifth of itself. */
  pan(direction: 1 | -1): void {
    const zoom = this.store.zoom.peek();
    if (zoom) this.store.zoom.value = panned(zoom, direction * lengthOf(zoom) * PAN_PART, edgeNs(this.store.run.peek()));
  }

  zoom(factor: number): void {
    zoomBy(this.store, factor);
  }

  /** What is selected fills the axis: a call, else the range; with neither, the whole run. */
  fit(): void {
    const selection = this.store.selection.peek();
    const { rangeNs } = this.store.perspective.peek();
    const call = selection?.kind === "call" && selection.call.endNs !== null ? ([selection.call.startNs, Math.max(selection.call.endNs, selection.call.startNs + 1)] as const) : null;
    const range = call ?? rangeNs;
    this.store.zoom.value = range && around(range, edgeNs(this.store.run.peek()));
  }

  /** A clock that plays changes its speed at once; of one that stands calls fade otherwise at once. */
  setRate(rate: number): void {
    this.store.rate.value = rate;
    const { clock } = this.store.perspective.peek();
    if (clock.mode !== "live") this.send({ do: "rate", rate: Math.sign(clock.rate) * rate });
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

/** Around the time under the pointer, else around the cursor where that is visible, else around the middle. */
export function zoomBy(store: Store, factor: number): void {
  const edge = edgeNs(store.run.peek());
  const span = store.zoom.peek() ?? wholeRun(edge);
  const isVisible = (ns: number | null): ns is number => ns !== null && ns >= span[0] && ns <= span[1];
  const at = [store.pointedNs.peek(), store.timeNs.peek()].find(isVisible) ?? (span[0] + span[1]) / 2;
  store.zoom.value = zoomed(span, factor, at, edge);
}
