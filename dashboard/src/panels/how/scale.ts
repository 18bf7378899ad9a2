// Where things are in the rows of latency over time: one scale of L and one of circles for all rows, to compare
// them. Pure.

import type { Course, Points, Segment } from "../../feed/evolution";
import type { Disturbance } from "../../feed/found";
import type { RankRange } from "../../feed/regions";
import { delayedColumn } from "../../state/delayed";
import { nice } from "../../state/span";
import type { CourseHit } from "../../words/evolution";
import { type Scale, xOf } from "../timeline/scale";

/** The largest circle; rows keep so much free above and below. */
export const RADIUS_MAX = 8;
/** What is no delayed message at all is still a window. */
export const RADIUS_LEAST = 1.75;
/** A scale that ended nearer to 1 would make much of little. */
const LATENCY_FROM = 0.5;
const LATENCY_TO = 2;
/** No picture shows more than this apart. */
const LATENCY_FAR = 64;
/** How near the pointer has to come to a circle. */
const REACH = 8;
const LABEL_PIXELS = 13;

/** The range of L, powers of two, in which all windows of these rows lie. */
export interface Latencies { from: number; to: number }

export function latencies(courses: readonly Course[]): Latencies {
  let [from, to] = [LATENCY_FROM, LATENCY_TO];
  for (const { points, provisional, bands } of courses) {
    for (const value of bands.p10) if (value > 0) from = Math.min(from, value);
    for (const value of bands.p90) to = Math.max(to, value);
    for (const { latency, exact } of [points, provisional]) {
      latency.forEach((value, at) => {
        if (!((exact[at] ?? 0) > 0) || !(value > 0)) return;
        from = Math.min(from, value);
        to = Math.max(to, value);
      });
    }
  }
  return { from: Math.max(1 / LATENCY_FAR, 2 ** Math.floor(Math.log2(from))), to: Math.min(LATENCY_FAR, 2 ** Math.ceil(Math.log2(to))) };
}

/** The height of a latency between `top` and `bottom`, by its logarithm; what is beyond the scale lies at its edge. */
export function latencyY({ from, to }: Latencies, latency: number, top: number, bottom: number): number {
  const part = Math.log(Math.max(latency, 1e-9) / from) / Math.log(to / from);
  return bottom - RADIUS_MAX - Math.min(1, Math.max(0, part)) * (bottom - top - 2 * RADIUS_MAX);
}

/** 1, and as many powers of two as have room for their words. */
export function latencyLines(of: Latencies, pixels: number): number[] {
  const octaves = Math.log2(of.to / of.from);
  const every = Math.max(1, Math.ceil((octaves * LABEL_PIXELS) / Math.max(1, pixels - 2 * RADIUS_MAX)));
  const lines: number[] = [];
  for (let power = Math.ceil(Math.log2(of.from)); power <= Math.log2(of.to) + 1e-9; power++) if (power % every === 0) lines.push(2 ** power);
  return lines;
}

/** "L 1", "2", "½", "1/8". */
export function latencyLabel(value: number): string {
  if (value === 1) return "L 1";
  if (value > 1) return String(value);
  return value === 0.5 ? "\u00bd" : value === 0.25 ? "\u00bc" : `1/${1 / value}`;
}

/** The most delayed messages that a window of these rows has. */
export function mostDelayed(courses: readonly Course[]): number {
  return courses.reduce((found, { points, provisional }) => Math.max(found, ...delayedColumn(points), ...delayedColumn(provisional)), 0);
}

/** A circle's area goes by its number of delayed messages. */
export function radius(delayed: number, most: number): number {
  if (!(most > 0)) return RADIUS_LEAST;
  return Math.max(RADIUS_LEAST, RADIUS_MAX * Math.sqrt(Math.max(0, delayed) / most));
}

/** Numbers for the legend of the circles: round ones, and the most there is. */
export function sizes(most: number): number[] {
  if (!(most > 0)) return [0];
  const round = [most / 10, most / 3].map(nice).filter((value, at, all) => value !== all[at - 1] && value <= 0.7 * most && radius(value, most) > 1.2 * RADIUS_LEAST);
  return [0, ...round, most];
}

export interface Circle { at: number; isFinal: boolean; x: number; y: number; radius: number; latency: number }
/** Windows without an exact transfer time have no height. */
export interface Unknown { at: number; isFinal: boolean; x: number }
export interface Picture { circles: Circle[]; unknown: Unknown[]; average: string }
export interface Plot { scale: Scale; top: number; bottom: number }

/** What is in sight of a row: a window stands at its middle. */
export function picture(course: Course, plot: Plot, windowS: number, range: Latencies, most: number): Picture {
  const { scale, top, bottom } = plot;
  const found: Picture = { circles: [], unknown: [], average: "" };
  const [left, right] = [xOf(scale, scale.span[0]) - RADIUS_MAX, xOf(scale, scale.span[1]) + RADIUS_MAX];
  const line: string[] = [];
  const add = (points: Points, isFinal: boolean): void => {
    const delayed = delayedColumn(points);
    for (let at = 0; at < points.length; at++) {
      const x = xOf(scale, ((points.timeS[at] ?? 0) + windowS / 2) * 1e9);
      const average = points.average[at] ?? 0;
      // One point beyond each side: the line goes on to the edge.
      if (isFinal && average > 0 && near(points, at, scale, windowS)) line.push(`${x.toFixed(1)},${latencyY(range, average, top, bottom).toFixed(1)}`);
      if (x < left || x > right) continue;
      const latency = points.latency[at] ?? 0;
      if ((points.exact[at] ?? 0) > 0) found.circles.push({ at, isFinal, x, y: latencyY(range, latency, top, bottom), radius: radius(delayed[at] ?? 0, most), latency });
      else if ((points.messages[at] ?? 0) > 0) found.unknown.push({ at, isFinal, x });
    }
  };
  add(course.points, true);
  add(course.provisional, false);
  return { ...found, average: line.join(" ") };
}

function near({ timeS, length }: Points, at: number, { span }: Scale, windowS: number): boolean {
  const before = timeS[Math.max(0, at - 1)] ?? 0;
  const after = (timeS[Math.min(length - 1, at + 1)] ?? 0) + windowS;
  return after * 1e9 > span[0] && before * 1e9 < span[1];
}

export interface Series {
  /** The area between the 10th and the 90th percentile, and lines at the 50th and at the mean; paths. */
  area: string;
  median: string;
  mean: string;
}

/** The whole series as far as it is in sight. Slots are steps, and a gap is a gap: nothing is drawn where nothing was measured. */
export function series({ bands }: Course, { scale, top, bottom }: Plot, range: Latencies): Series {
  const found = { area: "", median: "", mean: "" };
  const [left, right] = [xOf(scale, scale.span[0]), xOf(scale, scale.span[1])];
  const y = (value: number | undefined): string => latencyY(range, value ?? 0, top, bottom).toFixed(1);
  let ends = Number.NaN;
  for (let at = 0; at < bands.length; at++) {
    const timeS = bands.timeS[at] ?? 0;
    const from = Math.max(left, xOf(scale, timeS * 1e9));
    const to = Math.min(right, xOf(scale, (timeS + bands.widthS) * 1e9));
    if (from >= to) continue;
    const [x, width] = [from.toFixed(1), Math.max(0.5, to - from).toFixed(1)];
    const next = Math.abs(ends - from) < 0.1 ? "L" : "M";
    found.area += `M${x},${y(bands.p90[at])}h${width}V${y(bands.p10[at])}H${x}Z`;
    found.median += `${next}${x},${y(bands.p50[at])}h${width}`;
    found.mean += `${next}${x},${y(bands.latency[at])}h${width}`;
    ends = to;
  }
  return found;
}

export interface Mark { disturbance: Disturbance; x: number; width: number }

/** Disturbances, as far as they are in sight. */
export function marks(disturbances: readonly Disturbance[], { scale }: Plot): Mark[] {
  const [left, right] = [xOf(scale, scale.span[0]), xOf(scale, scale.span[1])];
  return disturbances
    .map((disturbance) => ({ disturbance, x: Math.max(left, xOf(scale, disturbance.fromS * 1e9)), to: Math.min(right, xOf(scale, disturbance.toS * 1e9)) }))
    .filter(({ x, to }) => x < to)
    .map(({ disturbance, x, to }) => ({ disturbance, x, width: Math.max(1, to - x) }));
}

export interface Band { segment: Segment; x: number; width: number }

/** Stretches that stand out, as far as they are in sight. */
export function bands(segments: readonly Segment[], { scale }: Plot): Band[] {
  const [left, right] = [xOf(scale, scale.span[0]), xOf(scale, scale.span[1])];
  return segments
    .filter(({ kind }) => kind !== "rest")
    .map((segment) => ({ segment, x: Math.max(left, xOf(scale, segment.fromS * 1e9)), to: Math.min(right, xOf(scale, segment.toS * 1e9)) }))
    .filter(({ x, to }) => x < to)
    .map(({ segment, x, to }) => ({ segment, x, width: Math.max(1, to - x) }));
}

/** The circle, or the window without one, that the pointer is on. */
export function hit({ points, provisional }: Course, of: Picture, x: number, y: number, bottom: number): CourseHit | null {
  let best: CourseHit | null = null;
  let least = REACH;
  const consider = (each: { at: number; isFinal: boolean }, away: number): void => {
    if (away > least) return;
    least = away;
    best = { points: each.isFinal ? points : provisional, at: each.at, isFinal: each.isFinal };
  };
  for (const circle of of.circles) consider(circle, Math.max(0, Math.hypot(circle.x - x, circle.y - y) - circle.radius));
  for (const each of of.unknown) consider(each, Math.hypot(each.x - x, bottom - 4 - y));
  return best;
}

export const keyOf = ({ region, other }: Pick<Course, "region" | "other">): string => `${region}/${other ?? ""}`;

/** A row goes above another one only when it is worse by so much: rows of a run that goes on must not dance. */
const CLEARLY = 1.15;

/** The worst first; near what they were, where they were in an order before. */
export function worstFirst(courses: readonly Course[], before: readonly string[], valueOf: (course: Course) => number | null = ({ latency }) => latency): Course[] {
  const worse = (one: Course, other: Course): number => (valueOf(other) ?? -1) - (valueOf(one) ?? -1);
  const places = new Map(before.map((key, at) => [key, at]));
  const place = (course: Course): number => places.get(keyOf(course)) ?? Infinity;
  const order = [...courses].sort((one, other) => (place(one) === place(other) ? worse(one, other) : place(one) - place(other)));
  for (let at = 1; at < order.length; at++) {
    for (let to = at; to > 0; to--) {
      const [above, course] = [order[to - 1]!, order[to]!];
      const [over, under] = [valueOf(above), valueOf(course)];
      if ((under ?? -1) <= CLEARLY * (over ?? -1) || (over === null && under === null)) break;
      [order[to - 1], order[to]] = [course, above];
    }
  }
  return order;
}

/** Rows of regions in which some of these ranks are, or between such. */
export function ofRanks(courses: readonly Course[], ranks: readonly RankRange[] | null, ranksOf: (course: Course) => readonly RankRange[]): readonly Course[] {
  if (!ranks) return courses;
  return courses.filter((course) => ranksOf(course).some(([first, last]) => ranks.some(([from, to]) => from <= last && to >= first)));
}

/** Whether a window that is kept lies in a range, or reaches into it. */
export function hasWindows(courses: readonly Course[], [fromNs, toNs]: readonly [number, number], windowS: number): boolean {
  return courses.some(({ points, provisional }) => [points, provisional].some(({ timeS }) => timeS.some((each) => Math.round((each + windowS) * 1e9) > fromNs && Math.round(each * 1e9) < toNs)));
}
