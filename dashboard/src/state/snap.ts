// One beginning and one end for each disturbance: stretches of latency take those of the disturbance that they belong to. Pure.

import type { Course, Evolution, Segment } from "../feed/evolution";
import type { Disturbance } from "../feed/found";

/** A stretch belongs to a disturbance that covers this share of it, if all of these cover this share of the disturbance. */
const MOSTLY = 0.5;

export function snapped(segments: readonly Segment[], disturbances: readonly Disturbance[]): readonly Segment[] {
  const all = [...segments];
  for (const { fromS, toS } of disturbances) {
    const places = segments.flatMap((segment, at) => (segment.kind !== "rest" && covered(segment, fromS, toS) >= MOSTLY ? [at] : []));
    const [first, last] = [places[0], places.at(-1)];
    const coveredS = places.reduce((sum, at) => sum + overlap(segments[at]!, fromS, toS), 0);
    if (first === undefined || last === undefined || coveredS < MOSTLY * (toS - fromS)) continue;
    for (const at of places) {
      const segment = all[at]!;
      all[at] = { ...segment, fromS: at === first ? fromS : Math.max(segment.fromS, fromS), toS: at === last ? toS : Math.min(segment.toS, toS) };
    }
    // What lies before and after adjoins.
    for (let at = 0; at < first; at++) {
      const { fromS: begins, toS: ends } = all[at]!;
      all[at] = { ...all[at]!, fromS: Math.min(begins, fromS), toS: at === first - 1 ? fromS : Math.min(ends, fromS) };
    }
    for (let at = last + 1; at < all.length; at++) {
      const { fromS: begins, toS: ends } = all[at]!;
      all[at] = { ...all[at]!, fromS: at === last + 1 ? toS : Math.max(begins, toS), toS: Math.max(ends, toS) };
    }
  }
  return all.filter((segment, at) => segment.toS > segment.fromS || segments[at]!.toS === segments[at]!.fromS);
}

export function snappedEvolution(evolution: Evolution, disturbances: readonly Disturbance[]): Evolution {
  if (disturbances.length === 0) return evolution;
  const of = (courses: readonly Course[]): Course[] => courses.map((course) => ({ ...course, segments: snapped(course.segments, disturbances) }));
  return { ...evolution, regions: of(evolution.regions), links: of(evolution.links) };
}

function overlap(segment: Segment, fromS: number, toS: number): number {
  return Math.max(0, Math.min(segment.toS, toS) - Math.max(segment.fromS, fromS));
}

function covered(segment: Segment, fromS: number, toS: number): number {
  return overlap(segment, fromS, toS) / Math.max(1e-9, segment.toS - segment.fromS);
}
