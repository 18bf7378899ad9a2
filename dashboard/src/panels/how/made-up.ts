// Courses of latency for tests.

import type { Course, Evolution, Points } from "../../feed/evolution";

/** Windows of 0.1 s from a time on, half of their ten messages exact; latency 0 means none exact. */
export function windows(fromS: number, latency: readonly number[], delayed: readonly number[] = latency.map(() => 1)): Points {
  return {
    length: latency.length, timeS: latency.map((_, at) => fromS + at / 10), latency, average: latency.map(() => 1.5), messages: latency.map(() => 10),
    exact: latency.map((value) => (value > 0 ? 5 : 0)), delayed, aboveExpected: delayed.map((each) => 2 * each), version: latency.map(() => 2),
  };
}

export function course(region: number, change: Partial<Course> = {}): Course {
  return {
    region, other: null, ranks: [[region * 4, region * 4 + 3]], messages: 100, exact: 50, delayed: 10, aboveExpected: 20, latency: 1.5, segments: [],
    points: windows(0, [1, 2, 4]), provisional: windows(0.3, []), joined: 0,
    bands: { length: 3, widthS: 0.1, timeS: [0, 0.1, 0.2], latency: [1, 2, 4], p10: [0.8, 1.5, 3], p50: [1, 2, 4], p90: [1.2, 3, 5], exact: [5, 5, 5] }, ...change,
  };
}

export function evolution(change: Partial<Evolution> = {}): Evolution {
  const links = [course(0, { other: 1, ranks: [] })];
  return { by: "traffic", version: 2, windowS: 0.1, finalS: 0.3, hasNormal: true, regions: [course(0), course(1)], links, otherInside: 0, otherBetween: 7, ...change };
}
