// What the pictures of a comparison are made of: rows of slots as stacks, on one scale for both recordings. Pure.

import type { Aligned } from "../../feed/aligned";
import type { CourseOfSide } from "../../feed/compared";

/** One row of the stacks: a function, a part of the time or a cause. */
export interface StackRow { key: string; name: string; colour: string; a: Float64Array; b: Float64Array }

export interface Stacks {
  rows: readonly StackRow[];
  /** The highest stack of either. */
  most: number;
  widthNs: number;
  /** Of the longer one. */
  slots: number;
}

/** The slots of a row. */
export function slotsOf(values: Float64Array, row: number, slots: number): Float64Array {
  return row < 0 ? new Float64Array(0) : values.subarray(row * slots, (row + 1) * slots);
}

export function stacksOf(rows: readonly StackRow[], a: CourseOfSide, b: CourseOfSide): Stacks {
  const used = rows.filter((row) => row.a.some((value) => value > 0) || row.b.some((value) => value > 0));
  const heights = (side: "a" | "b", slots: number): number[] =>
    Array.from({ length: slots }, (_, slot) => used.reduce((sum, row) => sum + Math.max(0, row[side][slot] ?? 0), 0));
  const most = Math.max(0, ...heights("a", a.slots), ...heights("b", b.slots));
  return { rows: used, most, widthNs: a.widthNs, slots: Math.max(a.slots, b.slots) };
}

/** The slot in which a time lies; null beyond both. */
export function slotAt({ widthNs, slots }: Stacks, ns: number): number | null {
  const slot = Math.floor(ns / widthNs);
  return slot >= 0 && slot < slots ? slot : null;
}

/** What both did in a slot, the most first. */
export function slotRows({ rows }: Stacks, slot: number): { row: StackRow; a: number; b: number }[] {
  return rows
    .map((row) => ({ row, a: row.a[slot] ?? 0, b: row.b[slot] ?? 0 }))
    .filter(({ a, b }) => a > 0 || b > 0)
    .sort((one, other) => Math.max(other.a, other.b) - Math.max(one.a, one.b));
}

/** How much longer B took for each slot of A, in seconds; nothing where both go by their own time. */
export function lossesOf(ownNs: Float64Array, widthNs: number): Float64Array {
  return Float64Array.from({ length: Math.max(0, ownNs.length - 1) }, (_, slot) => ((ownNs[slot + 1] ?? 0) - (ownNs[slot] ?? 0) - widthNs) / 1e9);
}

/** The turn or phase that a time of A is in; null before the first. */
export function markAt({ markNs, markNames }: Pick<Aligned<unknown>, "markNs" | "markNames">, ns: number): string | null {
  let [low, high] = [0, markNs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((markNs[middle] ?? Infinity) <= ns) low = middle + 1;
    else high = middle;
  }
  return markNames[low - 1] ?? null;
}

/** Parts of two bars on one scale: fractions of the longer. Less than nothing is not drawn. */
export function bars(rows: readonly { a: number; b: number }[]): { a: number[]; b: number[]; longestS: number } {
  const sum = (side: "a" | "b"): number => rows.reduce((all, row) => all + Math.max(0, row[side]), 0);
  const longestS = Math.max(sum("a"), sum("b"));
  const of = (side: "a" | "b"): number[] => rows.map((row) => (longestS > 0 ? Math.max(0, row[side]) / longestS : 0));
  return { a: of("a"), b: of("b"), longestS };
}
