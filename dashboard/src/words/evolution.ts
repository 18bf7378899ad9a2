// How latency went by region, in words: names of rows, what their latest stretch is, and single windows. Pure.

import type { Course, Evolution, Pending, Points, Segment } from "../feed/evolution";
import type { Disturbance } from "../feed/found";
import type { RankRange } from "../feed/regions";
import { delayedBy, delayedColumn, delayedMeaning, delayedOf } from "../state/delayed";
import { over, type RunState } from "../state/run";
import type { Moment } from "../state/store";
import { CAUSE_NAMES, part, seconds } from "./found";
import { clock, count, counted, duration, roundDuration, share, unbroken } from "./index";
import { latencyMeaning, latencyWords, rangesShort, ranksWords, type TipText } from "./regions";

/** A rise is given in whole percent. */
function percent(rise: number): string {
  return `${rise < 0 ? "\u2212" : "+"}${Math.round(100 * Math.abs(rise))}\u2009%`;
}

/** Ranges of one region; empty where it is no more, or not shown. */
export function ranksOf(region: number, evolution: Evolution): readonly RankRange[] {
  return evolution.regions.find((course) => course.region === region)?.ranks ?? [];
}

/** The ranks of a region, or of both. */
export function ranksOfCourse({ region, other }: Pick<Course, "region" | "other">, evolution: Evolution): RankRange[] {
  const all = [region, ...(other === null ? [] : [other])].flatMap((each) => ranksOf(each, evolution));
  return all.sort(([one], [two]) => one - two).map(([first, last]): RankRange => [first, last]);
}

function short(region: number, evolution: Evolution): string {
  const ranks = ranksOf(region, evolution);
  return ranks.length > 0 ? rangesShort(ranks) : `region ${region}, no more there`;
}

export function courseName({ region, other }: Pick<Course, "region" | "other">, evolution: Evolution): string {
  if (other !== null) return `Between ${short(region, evolution)} and ${short(other, evolution)}`;
  const ranks = ranksOf(region, evolution);
  return ranks.length > 0 ? ranksWords(ranks).replace(/^r/, "R") : `Region ${region}, no more there`;
}

/** What a row is of, in figures. */
export function courseFigures(course: Course, hasNormal: boolean): string {
  const { messages, exact, latency } = course;
  if (messages === 0) return "no message in a final window yet";
  const all = counted(messages, "message", "messages");
  if (latency === null) return `${all}, the time of none known exactly`;
  return `${all}, ${part(exact / messages)} exact, ${part(delayedOf(course) / Math.max(1, exact))} of these ${hasNormal && delayedBy.value === "normal" ? "delayed" : "above L 1"}`;
}

/** What it is on now, or was at the end: whether latency grows, stays high, or neither. */
export function trendWords(course: Course, isOver: boolean): string {
  const last = course.segments.at(-1);
  if (!last) return "";
  const since = clock(last.fromS * 1e9, last.toS - last.fromS < 10 ? 1 : 0);
  switch (last.kind) {
    case "growth": return `${isOver ? "grew to the end from" : "grows since"} ${since}, ${percent(last.rise)}`;
    case "steady": return `above its average ${isOver ? "to the end from" : "since"} ${since}, L ${latencyWords(last.latency)}`;
    case "rest": return "no growth, no plateau";
  }
}

/** A stretch, with what it means. */
export function segmentWords({ kind, fromS, toS, isClosed, windows, latency, rise }: Segment, isOver: boolean): string {
  const when = unbroken(`${clock(fromS * 1e9, 1)} to ${clock(toS * 1e9, 1)}`);
  const what = { growth: `growth, ${percent(rise)}`, steady: "plateau above the average", rest: "no growth, no plateau" }[kind];
  return `${what}, ${when}${isClosed || isOver ? "" : " so far"}: L ${latencyWords(latency)} in ${counted(windows, "window", "windows")}`;
}

/** Shorter stretches have times to the millisecond. */
const SHORT_S = 1;

/** "CPU contention 0:00:10.3 to 0:00:15.0": the same times as in the verdict and the report. */
export function disturbanceWords({ cause, fromS, toS }: Disturbance): string {
  const digits = toS - fromS < SHORT_S ? 3 : 1;
  return `${CAUSE_NAMES[cause]} ${unbroken(`${clock(fromS * 1e9, digits)} to ${clock(toS * 1e9, digits)}`)}`;
}

/** The letters on the picture. */
export function bandWords({ kind, rise }: Segment): string {
  return kind === "growth" ? percent(rise) : kind === "steady" ? "above average" : "";
}

/** By what regions are, how final it is, and what is left out: the line above the rows. */
export function aboutEvolution(evolution: Evolution, run: RunState, isBetween: boolean): string[] {
  const { by, version, windowS, finalS, regions, links } = evolution;
  const courses = isBetween ? links : regions;
  const open = new Set(courses.flatMap(({ provisional }) => provisional.timeS)).size;
  const final = run.found?.isFinal && open === 0 ? "final" : over(run) ? `as diagnosed while the job ran, up to ${clock(finalS * 1e9, 1)}` : `live, final up to ${clock(finalS * 1e9, 1)}`;
  const sums = courses.reduce((sum, { messages, exact }) => ({ messages: sum.messages + messages, exact: sum.exact + exact }), { messages: 0, exact: 0 });
  const left = isBetween ? evolution.otherBetween : evolution.otherInside;
  return [
    by === "node" ? "By nodes, until regions are known" : `By regions, version ${count(version)}`,
    `windows of ${unbroken(roundDuration(windowS * 1e9))}`,
    open > 0 ? `${final}, then ${unbroken(counted(open, "window", "windows"))} provisional` : final,
    sums.messages > 0 ? `${unbroken(part(sums.exact / sums.messages))} of ${unbroken(counted(sums.messages, "message", "messages"))} exact` : "",
    left > 0 ? `${unbroken(counted(left, "message", "messages"))} ${isBetween ? "between regions" : "inside regions"} that are not shown` : "",
    "three windows kept of quiet stretches",
  ].filter(Boolean);
}

/** A window of a row as it is looked up again: by its time. */
export interface CourseHit { points: Points; at: number; isFinal: boolean }

export function windowAt({ points, provisional }: Course, timeS: number): CourseHit | null {
  for (const [columns, isFinal] of [[points, true], [provisional, false]] as const) {
    const at = columns.timeS.findIndex((each) => Math.abs(each - timeS) < 1e-7);
    if (at >= 0) return { points: columns, at, isFinal };
  }
  return null;
}

/** A window in words: the tooltip and the inspector say the same in the same order. */
export function pointTold(course: Course, { points, at, isFinal }: CourseHit, evolution: Evolution, isOver: boolean): TipText {
  const [timeS = 0, latency = 0, average = 0] = [points.timeS[at], points.latency[at], points.average[at]];
  const [messages = 0, exact = 0, delayed = 0, version = 0] = [points.messages[at], points.exact[at], delayedColumn(points)[at], points.version[at]];
  const known = exact > 0 ? latency : null;
  const segment = course.segments.find(({ fromS, toS }) => fromS <= timeS + 1e-9 && timeS < toS - 1e-9);
  return {
    title: courseName(course, evolution),
    rows: [
      ["Window", clock(timeS * 1e9 + 0.5, 3), `${roundDuration(evolution.windowS * 1e9)}${isFinal ? "" : ", provisional: calls may still enter it"}`],
      ["Latency L", latencyWords(known), latencyMeaning(known)],
      ["Delayed", exact > 0 ? counted(delayed, "message", "messages") : "not known", exact > 0 ? `${share(delayed, exact) || part(0)} of the exact ones took ${delayedMeaning(evolution.hasNormal)}` : ""],
      ["Messages", count(messages), messages > 0 ? `${share(exact, messages)} exact` : ""],
      ["Average", isFinal && average > 0 ? latencyWords(average) : "not known yet", isFinal ? "L of all messages up to here" : ""],
      ...(segment ? [["Part of", segment.kind, segmentWords(segment, isOver)] as const] : []),
      ...(version === evolution.version ? [] : [["Regions", `version ${count(version)}`, `it was counted before version ${count(evolution.version)} was found`] as const]),
    ],
  };
}

export function windowOf({ fromNs, toNs, region, other }: Moment, evolution: Evolution): { course: Course; found: CourseHit } | null {
  const course = (other === null ? evolution.regions : evolution.links).find((each) => each.region === region && each.other === other);
  const found = course && toNs > fromNs ? windowAt(course, fromNs / 1e9) : null;
  return course && found ? { course, found } : null;
}

export interface PendingCalls { calls: number; sinceNs: number; totalNs: number }

/** Calls in flight of a region that reach back further than a window; null where none does. */
export function pendingOf(course: Course, { windowS }: Evolution, pending: Pending | null, nowNs: number): PendingCalls | null {
  const at = course.other === null && pending ? pending.region.indexOf(course.region) : -1;
  const sinceNs = pending?.sinceNs[at] ?? nowNs;
  if (at < 0 || nowNs - sinceNs <= windowS * 1e9) return null;
  return { calls: pending?.calls[at] ?? 0, sinceNs, totalNs: pending?.totalNs[at] ?? 0 };
}

export function pendingWords({ calls, sinceNs, totalNs }: PendingCalls, nowNs: number): string {
  const first = duration(Math.max(0, nowNs - sinceNs));
  return calls === 1 ? `1 call in flight, ${first} so far` : `${count(calls)} calls in flight, the first for ${first}, ${seconds(totalNs / 1e9)} in all so far`;
}

/** Why there is nothing to see, and when there will be; null where there is something. */
export function noEvolution(run: RunState): { title: string; text: string } | null {
  const { evolution } = run;
  if (!evolution) {
    return over(run)
      ? { title: "No latency over time", text: run.job.source === "replay" ? "Nothing of it was recorded." : "The job ended before its first window was diagnosed." }
      : { title: "No latency over time yet", text: "The first windows appear some seconds after ranks begin to communicate." };
  }
  if ([...evolution.regions, ...evolution.links].every(({ exact, provisional }) => exact === 0 && provisional.exact.every((each) => each === 0))) {
    return {
      title: `No latency over time is known ${over(run) ? "of this run" : "yet"}`,
      text: "No message has an exact transfer time, or nothing is known yet to compare it with. A criteria file (run --criteria), or mpiscope calibrate, provides expected transfer times.",
    };
  }
  return null;
}
