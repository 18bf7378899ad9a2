// Ways to put run B on the clock of run A, as the feed has them: checked and bounded.

import { bounded, FeedError, type Fields, f64Column, fields, list, number, text, texts } from "./columns";
import type * as Wire from "./types";

export const ALIGN_BY = ["start", "phase", "turn"] as const;
export type AlignBy = (typeof ALIGN_BY)[number];

/** Turns or phases in a row that took another time in B. */
export interface Stretch { aFromNs: number; aToNs: number; differenceS: number; sentence: string }

export interface Aligned<Course> {
  by: AlignBy;
  isPossible: boolean;
  /** What was matched, or why it is not possible. */
  reason: string;
  /** B on the clock of A; null where that is its own, or not possible. */
  b: Course | null;
  /** The edges of the slots in B's own time; empty where that is the same. */
  ownNs: Float64Array;
  /** Where turns or phases begin in A, and the number or name of each. */
  markNs: Float64Array;
  markNames: readonly string[];
  stretches: readonly Stretch[];
}

const MARKS_MAX = 10_000;
const STRETCHES_MAX = 1_000;

export function alignBy(value: unknown): AlignBy {
  if (!ALIGN_BY.includes(value as AlignBy)) throw new FeedError("Runs are aligned in a way that this page does not know.");
  return value as AlignBy;
}

export function aligned<Course extends { slots: number; widthNs: number }>(from: Fields<Wire.AlignedCourse>, a: Course, read: (course: Fields<Wire.ComparedCourse>) => Course): Aligned<Course> {
  const b = from.b ? read(fields(from.b, "The course of B on the clock of A")) : null;
  if (b && b.widthNs !== a.widthNs) throw new FeedError("The slots of the aligned recording are not equally long.");
  const ownNs = f64Column(from, "b_own_ns");
  if (ownNs.length !== (b ? Math.max(a.slots, b.slots) + 1 : 0)) throw new FeedError(`There are ${ownNs.length} edges of slots.`);
  const markNs = f64Column(from, "mark_ns");
  const markNames = bounded("mark_name", texts(from, "mark_name"), MARKS_MAX);
  if (markNs.length !== markNames.length) throw new FeedError("Marks have no names.");
  const stretches = bounded("stretches", list(from, "stretches"), STRETCHES_MAX).map((entry) => {
    const row = fields<Wire.Stretch>(entry, "A stretch");
    return { aFromNs: number(row, "a_from_ns"), aToNs: number(row, "a_to_ns"), differenceS: number(row, "difference_s"), sentence: text(row, "sentence") };
  });
  return { by: alignBy(from.by), isPossible: from.is_possible === true, reason: text(from, "reason"), b, ownNs, markNs, markNames, stretches };
}
