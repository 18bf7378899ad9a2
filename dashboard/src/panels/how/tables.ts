// The rows' windows and stretches as tables. Pure.

import type { Course, Evolution } from "../../feed/evolution";
import { ranksOf } from "../../words/evolution";
import type { Value } from "../share/tables";

const NAMES = ["region", "other_region", "ranks", "other_ranks"];
export const WINDOW_COLUMNS: readonly string[] = [...NAMES, "time_s", "window_s", "latency", "average_latency", "messages", "exact_messages", "delayed_messages", "messages_above_expected", "is_final", "regions_version"];
export const SEGMENT_COLUMNS: readonly string[] = [...NAMES, "kind", "from_s", "to_s", "is_closed", "windows", "messages", "exact_messages", "delayed_messages", "messages_above_expected", "latency", "rise"];

function names({ region, other }: Course, evolution: Evolution): Value[] {
  const words = (id: number | null): string => (id === null ? "" : ranksOf(id, evolution).map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(" "));
  return [region, other, words(region), words(other)];
}

export function* windowRows(courses: readonly Course[], evolution: Evolution): Iterable<readonly Value[]> {
  for (const course of courses) {
    const own = names(course, evolution);
    for (const [points, isFinal] of [[course.points, true], [course.provisional, false]] as const) {
      for (let at = 0; at < points.length; at++) {
        const exact = points.exact[at] ?? 0;
        const average = points.average[at] ?? 0;
        yield [
          ...own, points.timeS[at] ?? 0, evolution.windowS, exact > 0 ? points.latency[at] ?? 0 : null, average > 0 ? average : null,
          points.messages[at] ?? 0, exact, points.delayed[at] ?? 0, points.aboveExpected[at] ?? 0, isFinal, points.version[at] ?? 0,
        ];
      }
    }
  }
}

export function* segmentRows(courses: readonly Course[], evolution: Evolution): Iterable<readonly Value[]> {
  for (const course of courses) {
    const own = names(course, evolution);
    for (const { kind, fromS, toS, isClosed, windows, messages, exact, delayed, aboveExpected, latency, rise } of course.segments) {
      yield [...own, kind, fromS, toS, isClosed, windows, messages, exact, delayed, aboveExpected, latency, rise];
    }
  }
}
