// What changed between two recordings, in words: amounts, differences and how many times. Pure.

import type { Comparison, Figure, Side, Usual } from "../feed/compared";
import { bytes, count, counted, duration, significant } from "./index";
import { seconds } from "./found";

export type Basis = Comparison["basis"];

const NOTHING = "\u2013";
const MINUS = "\u2212";

/** A time of a rank, or a share of its time. */
export function amount(value: number | null, basis: Basis): string {
  if (value === null) return NOTHING;
  return basis === "share" ? `${value < -0.0005 ? MINUS : ""}${(100 * Math.abs(value)).toFixed(1)}\u2009%` : seconds(value);
}

/** B less A. */
export function difference(figure: Figure, basis: Basis): string {
  if (!figure.change) return NOTHING;
  const { difference: value } = figure.change;
  if (value === 0) return "0";
  const size = basis === "share" ? `${(100 * Math.abs(value)).toFixed(1)} points` : seconds(Math.abs(value));
  if (size === "0.0 points") return "0";
  return `${value < 0 ? MINUS : "+"}${size}`;
}

/** How many times as much: "\u00d71.58"; nothing where A is nothing, or one is less than that. */
export function times(figure: Figure): string {
  const ratio = figure.change?.ratio ?? null;
  if (ratio === null || ratio <= 0) return "";
  return ratio >= 1000 ? "\u00d7>999" : `\u00d7${significant(ratio)}`;
}

/** Whether it is more than noise. */
export function isChange(figure: Figure): boolean {
  return figure.change?.isChange ?? false;
}

/** By how much, for sorting. */
export function size(figure: Figure): number {
  return Math.abs(figure.change?.difference ?? 0);
}

/** A median of A and of B. */
export function medians({ a, b }: Figure): string {
  const words = (value: number | null): string => (value === null ? NOTHING : duration(value));
  return `${words(a)} \u2192 ${words(b)}`;
}

export function counts({ a, b }: Figure): string {
  const words = (value: number | null): string => (value === null ? NOTHING : count(value));
  return a === b ? words(a) : `${words(a)} \u2192 ${words(b)}`;
}

/** How a recording ended. */
export function ending({ exit, state }: Side): string {
  if (state === "running") return "still running";
  if (exit === null) return state === "complete" ? "complete" : "cut off";
  return exit > 128 ? `killed by signal ${exit - 128}` : `exit status ${exit}`;
}

export function usualName({ what, name, fromBytes, ranks, isRoot }: Usual): string {
  if (what === "collective") return `${name} of ${bytes(fromBytes)}, ${counted(ranks, "rank", "ranks")}${isRoot ? ", at the root" : ""}`;
  return `messages ${what} nodes from ${bytes(fromBytes)}`;
}
