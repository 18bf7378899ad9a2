// How latency went by region, as the feed tells it: windows, the stretches that they make up, and calls that have not
// returned. Checked and bounded.

import { bounded, FeedError, type Fields, fields, isNatural, list, natural, number, sameLength, text, truth } from "./columns";
import { latency, type RankRange, ranges } from "./regions";
import type * as Wire from "./types";

export interface Evolution {
  /** What regions are: the ranks of each node while nobody knows better, or those that talk mostly among themselves. */
  by: "node" | "traffic";
  /** Of the regions. */
  version: number;
  windowS: number;
  /** Up to where windows are final. */
  finalS: number;
  regions: readonly Course[];
  links: readonly Course[];
  /** Delayed is above the 95th percentile of quiet windows. Otherwise, as in older recordings, above the expected time. */
  hasNormal: boolean;
  /** Messages of regions that are not shown, and between such. */
  otherInside: number;
  otherBetween: number;
}

/** One region, or what goes between two, both ways. */
export interface Course {
  region: number;
  /** The other one, of two. */
  other: number | null;
  /** Empty of two, and where the region is no more. */
  ranks: readonly RankRange[];
  /** In final windows, as are all that follow. */
  messages: number;
  exact: number;
  delayed: number;
  /** Those with L above 1. */
  aboveExpected: number;
  /** The mean L of the exact ones; null without any. */
  latency: number | null;
  /** In order. */
  segments: readonly Segment[];
  /** The windows that are kept. */
  points: Points;
  /** Windows that are not final. */
  provisional: Points;
  bands: Bands;
  /** Segments that were separate once and are joined now. */
  joined: number;
}

export const SEGMENT_KINDS = ["growth", "steady", "rest"] as const;
export type SegmentKind = (typeof SEGMENT_KINDS)[number];

export interface Segment {
  kind: SegmentKind;
  fromS: number;
  toS: number;
  /** It stays as it is. */
  isClosed: boolean;
  /** Those with exact messages. */
  windows: number;
  messages: number;
  exact: number;
  delayed: number;
  aboveExpected: number;
  latency: number | null;
  /** By what part latency is greater in its end than in its beginning. */
  rise: number;
}

/** Windows in order of time, one a place in all columns. */
export interface Points {
  length: number;
  /** Where each begins. */
  timeS: readonly number[];
  /** 0 without exact messages. */
  latency: readonly number[];
  /** Of all messages up to its end; 0 where it is not final. */
  average: readonly number[];
  messages: readonly number[];
  exact: readonly number[];
  delayed: readonly number[];
  aboveExpected: readonly number[];
  /** Of the regions that it was accounted under. */
  version: readonly number[];
}

/** The whole series at one resolution, with percentiles of L; slots without exact messages are left out. */
export interface Bands {
  length: number;
  widthS: number;
  timeS: readonly number[];
  /** The mean L. */
  latency: readonly number[];
  p10: readonly number[];
  p50: readonly number[];
  p90: readonly number[];
  exact: readonly number[];
}

/** Calls that have not returned, by region. */
export interface Pending {
  length: number;
  region: readonly number[];
  calls: readonly number[];
  /** When the first of them was entered. */
  sinceNs: readonly number[];
  /** How long they have taken so far, in all. */
  totalNs: readonly number[];
}

/** More than these no daemon sends, and no page could draw. */
const COURSES_MAX = 1 << 10;
const SEGMENTS_MAX = 1 << 14;
const POINTS_MAX = 1 << 16;

export function evolution(from: Fields<Wire.Evolution>): Evolution {
  const by = text(from, "by");
  if (by !== "node" && by !== "traffic") throw new FeedError("There are regions by something that this page does not know.");
  const windowS = number(from, "window_s");
  if (windowS < 0) throw new FeedError('The field "window_s" is no length.');
  const [inside, between] = list(from, "other_messages");
  if (!isNatural(inside) || !isNatural(between)) throw new FeedError('The list "other_messages" is not two counts.');
  const courses = (name: "regions" | "links"): Course[] => bounded(name, list(from, name), COURSES_MAX).map((each) => course(fields(each, "A course of latency")));
  const [regions, links] = [courses("regions"), courses("links")];
  if (regions.some(({ other }) => other !== null) || links.some(({ region, other }) => other === null || other === region)) {
    throw new FeedError("A course of latency is neither of one region nor of two.");
  }
  if (typeof from.has_normal !== "boolean") throw new FeedError('The field "has_normal" is neither true nor false.');
  return { by, version: natural(from, "version"), windowS, hasNormal: from.has_normal, finalS: number(from, "final_s"), regions, links, otherInside: inside, otherBetween: between };
}

export function pending(from: Fields<Wire.Pending>): Pending {
  const columns = {
    region: naturals(from, "region", COURSES_MAX),
    calls: naturals(from, "calls", COURSES_MAX),
    sinceNs: numbersOf(from, "since_ns", COURSES_MAX),
    totalNs: numbersOf(from, "total_ns", COURSES_MAX),
  };
  return { length: sameLength("pending", columns), ...columns };
}

function course(from: Fields<Wire.RegionCourse>): Course {
  return {
    region: natural(from, "region"),
    other: from.other === null || from.other === undefined ? null : natural(from, "other"),
    ranks: ranges(from),
    ...tally(from),
    segments: bounded("segments", list(from, "segments"), SEGMENTS_MAX).map((each) => segment(fields(each, "A stretch of latency"))),
    points: points(fields(from.points, "The windows")),
    provisional: points(fields(from.provisional, "The windows that are not final")),
    bands: bands(fields(from.bands, "The percentiles")),
    joined: natural(from, "joined"),
  };
}

function segment(from: Fields<Wire.SegmentRow>): Segment {
  const kind = SEGMENT_KINDS.find((each) => each === from.kind);
  if (!kind) throw new FeedError("There is a stretch of latency that this page does not know.");
  const [fromS, toS] = [number(from, "from_s"), number(from, "to_s")];
  if (fromS > toS) throw new FeedError("A stretch of latency ends before it begins.");
  return { kind, fromS, toS, isClosed: truth(from, "is_closed"), windows: natural(from, "windows"), ...tally(from), rise: number(from, "rise") };
}

function tally<T extends { messages: unknown; exact: unknown; delayed: unknown; above_expected: unknown; latency: unknown }>(from: Fields<T>): Pick<Course, "messages" | "exact" | "delayed" | "aboveExpected" | "latency"> {
  const count = (name: "messages" | "exact" | "delayed" | "above_expected"): number => natural(from, name as keyof T & string);
  return { messages: count("messages"), exact: count("exact"), delayed: count("delayed"), aboveExpected: count("above_expected"), latency: latency(from) };
}

function points(from: Fields<Wire.Points>): Points {
  const columns = {
    timeS: numbersOf(from, "time_s", POINTS_MAX),
    latency: amounts(from, "latency"),
    average: amounts(from, "average"),
    messages: naturals(from, "messages", POINTS_MAX),
    exact: naturals(from, "exact", POINTS_MAX),
    delayed: naturals(from, "delayed", POINTS_MAX),
    aboveExpected: naturals(from, "above_expected", POINTS_MAX),
    version: naturals(from, "version", POINTS_MAX),
  };
  const length = sameLength("windows", columns);
  if (columns.timeS.some((timeS, at) => timeS < (columns.timeS[at - 1] ?? -Infinity))) throw new FeedError("Windows are not in order of time.");
  return { length, ...columns };
}

function bands(from: Fields<Wire.Bands>): Bands {
  const columns = {
    timeS: numbersOf(from, "time_s", POINTS_MAX),
    latency: amounts(from, "latency"),
    p10: amounts(from, "p10"),
    p50: amounts(from, "p50"),
    p90: amounts(from, "p90"),
    exact: naturals(from, "exact", POINTS_MAX),
  };
  const [length, widthS] = [sameLength("percentiles", columns), number(from, "width_s")];
  if (columns.timeS.some((timeS, at) => timeS < (columns.timeS[at - 1] ?? -Infinity))) throw new FeedError("Percentiles are not in order of time.");
  if (widthS < 0) throw new FeedError('The field "width_s" is no length.');
  return { length, widthS, ...columns };
}

function naturals<T>(from: Fields<T>, name: keyof T & string, most: number): readonly number[] {
  const values = bounded(name, list(from, name), most);
  if (!values.every(isNatural)) throw new FeedError(`The list "${name}" holds something that is not a whole number.`);
  return values;
}

function numbersOf<T>(from: Fields<T>, name: keyof T & string, most: number): readonly number[] {
  const values = bounded(name, list(from, name), most);
  if (!values.every((value): value is number => typeof value === "number" && Number.isFinite(value))) throw new FeedError(`The list "${name}" holds something that is not a number.`);
  return values;
}

function amounts<T>(from: Fields<T>, name: keyof T & string): readonly number[] {
  const values = numbersOf(from, name, POINTS_MAX);
  if (values.some((value) => value < 0)) throw new FeedError(`The list "${name}" holds something that is below nothing.`);
  return values;
}
