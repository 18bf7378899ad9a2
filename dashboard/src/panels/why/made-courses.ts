// Courses for tests: windows of a second each.

import type { Courses } from "../../feed/courses";

const NONE = Number.NaN;

/** Three windows of 1 s from 10 s on; the second one has no message. */
export function madeCourses(change: Partial<Courses> = {}): Courses {
  return {
    fromNs: 10e9, toNs: 13e9, widthNs: 1e9, windows: 3,
    inter: Float64Array.of(60, 0, 2), intra: Float64Array.of(30, 0, 8), interBytes: Float64Array.of(6000, 0, 200), intraBytes: Float64Array.of(1500, 0, 300),
    uneven: Float64Array.of(0.1, NONE, 0.5), greatestLoad: Float64Array.of(2, NONE, 4), greatestRank: Uint32Array.of(1, 0, 7),
    sizes: [{ fromBytes: 1024, toBytes: 2048, messages: 50, isInter: true }, { fromBytes: 8, toBytes: 16, messages: 12, isInter: true }],
    slow: Float64Array.of(0.8, NONE, 3.2, 0.95, NONE, 1.05), calmest: 1, messages: 100, leftOut: 0, ...change,
  };
}

/** A range in which nothing happened. */
export function noCourses(): Courses {
  const nothing = (value: number): Float64Array => new Float64Array(3).fill(value);
  return madeCourses({
    inter: nothing(0), intra: nothing(0), interBytes: nothing(0), intraBytes: nothing(0), uneven: nothing(NONE), greatestLoad: nothing(NONE), greatestRank: new Uint32Array(3),
    sizes: [], slow: new Float64Array(0), calmest: null, messages: 0,
  });
}
