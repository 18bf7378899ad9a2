// What other programs said about the run: notes at times, and values over time.

import { bounded, f64Column, type Fields, fields, list, number, sameLength, text } from "./columns";
import type * as Wire from "./types";

export interface Annotation {
  number: number;
  author: string;
  timeNs: number;
  /** The same as the beginning where it is of one moment. */
  untilNs: number;
  rank: number | null;
  text: string;
  colour: string | null;
  link: string | null;
}

export interface ValueSeries {
  name: string;
  author: string;
  unit: string;
  /** How many points there are; not all may be here. */
  points: number;
  /** In ascending order. */
  timeNs: Float64Array;
  value: Float64Array;
}

export interface AnnotationsMessage {
  kind: "annotations";
  annotations: readonly Annotation[];
  series: readonly ValueSeries[];
}

const ANNOTATIONS_MAX = 10_000;
const SERIES_MAX = 64;
/** What others write is shown as text; of addresses and colours only what they may be is believed. */
const COLOUR = /^#[0-9a-f]{6}$/iu;
const ADDRESS = /^https?:\/\/\S+$/iu;

export function annotationsMessage(value: Fields<Wire.Annotations>): AnnotationsMessage {
  const notes = bounded("annotations", list(value, "annotations"), ANNOTATIONS_MAX);
  const series = bounded("series", list(value, "series"), SERIES_MAX);
  return {
    kind: "annotations",
    annotations: notes.map((note) => annotation(fields<Wire.Annotation>(note, "An annotation"))),
    series: series.map((each) => valueSeries(fields<Wire.ValueSeries>(each, "A series"))),
  };
}

function annotation(from: Fields<Wire.Annotation>): Annotation {
  const timeNs = number(from, "time_ns");
  return {
    number: number(from, "number"),
    author: text(from, "author"),
    timeNs,
    untilNs: Math.max(timeNs, optional(from, "until_ns") ?? timeNs),
    rank: optional(from, "rank"),
    text: text(from, "text"),
    colour: matching(from.colour, COLOUR),
    link: matching(from.link, ADDRESS),
  };
}

function optional(from: Fields<Wire.Annotation>, name: "until_ns" | "rank"): number | null {
  return from[name] === null || from[name] === undefined ? null : number(from, name);
}

function matching(value: unknown, form: RegExp): string | null {
  return typeof value === "string" && form.test(value) ? value : null;
}

function valueSeries(from: Fields<Wire.ValueSeries>): ValueSeries {
  const columns = { timeNs: f64Column(from, "time_ns"), value: f64Column(from, "value") };
  sameLength("a series", columns);
  return { name: text(from, "name"), author: text(from, "author"), unit: text(from, "unit"), points: number(from, "points"), ...inOrder(columns) };
}

/** Points by time; those of one time stay in the order in which they came. */
function inOrder({ timeNs, value }: Pick<ValueSeries, "timeNs" | "value">): Pick<ValueSeries, "timeNs" | "value"> {
  const order = Uint32Array.from(timeNs.keys()).sort((one, other) => (timeNs[one] ?? 0) - (timeNs[other] ?? 0));
  return { timeNs: Float64Array.from(order, (at) => timeNs[at] ?? NaN), value: Float64Array.from(order, (at) => value[at] ?? NaN) };
}
