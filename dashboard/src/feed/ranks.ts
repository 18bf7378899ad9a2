// Answers about all ranks at a time: figures by rank, points of a layout, time by function and rank.

import { bounded, FeedError, type Fields, f64Column, fields, list, natural, number, pair, sameLength, text, texts, u32Column } from "./columns";
import type * as Wire from "./types";

/** The server draws no more ranks and points than these. */
const RANKS_MAX = 1 << 18;
const POINTS_MAX = 1 << 20;
const NOTES_MAX = 1000;
const ITEMS_MAX = 4096;

/** A part of the program that it names. */
export interface Phase { id: number; name: string }

/** A figure of all ranks; `values` is empty where it is not known, and `missing` says why. */
export interface MetricColumn { metric: string; values: Float64Array; missing: string }

export interface RankMetrics {
  fromNs: number;
  toNs: number;
  /** The whole windows that figures of waiting and causes are of; both 0 where there are none. */
  diagnosedFromNs: number;
  diagnosedToNs: number;
  ranks: number;
  /** The host of each rank; not a number where it was not heard. */
  host: Float64Array;
  /** The phases that the program named until now. */
  phases: readonly Phase[];
  metrics: ReadonlyMap<string, MetricColumn>;
}

/** Line 0: no place in the text. */
export interface LayoutNote { line: number; column: number; text: string }

export interface Points { length: number; x: Float64Array; y: Float64Array; z: Float64Array }

export interface RankLayout extends Points {
  name: string;
  names: readonly string[];
  pointsPerRank: number;
  color: Float64Array;
  /** Which events it asks for. */
  events: readonly boolean[];
  /** It was read before its text became wrong. */
  isOld: boolean;
  errors: readonly LayoutNote[];
  warnings: readonly LayoutNote[];
}

export interface LayoutItem extends Points { name: string; sentence: string; isFile: boolean; keeper: string; source: string; isComplete: boolean }

export interface Layouts { items: readonly LayoutItem[]; file: string; text: string; version: number; errors: readonly LayoutNote[]; hasStore: boolean }

export interface Landscape {
  fromNs: number;
  toNs: number;
  ranksPerRow: number;
  rows: number;
  function: Uint32Array;
  /** Mean seconds of a rank: all rows of the first function, then those of the second. */
  seconds: Float64Array;
}

/** Where ranks stand out, and what shows it best; the metric is empty where none does. */
export interface Suggestion {
  metric: string;
  layout: string;
  ranks: readonly (readonly [number, number])[];
  count: number;
  mean: number;
  median: number;
  share: number;
  /** What they are all ranks of: `host`, `rack`, ...; empty where there is no such group. */
  group: string;
  /** Which of them. */
  members: readonly string[];
  isCorners: boolean;
}

export function suggestion(from: Fields<Wire.Suggestion>): Suggestion {
  return {
    metric: text(from, "metric"), layout: text(from, "layout"), ranks: list(from, "ranks").map((value) => pair(value, "ranks")), count: natural(from, "count"),
    mean: number(from, "mean"), median: number(from, "median"), share: number(from, "share"), group: text(from, "group"), members: texts(from, "members"), isCorners: from.is_corners === true,
  };
}

export function rankMetrics(from: Fields<Wire.RankMetrics>): RankMetrics {
  const ranks = natural(from, "ranks");
  if (ranks > RANKS_MAX) throw new FeedError(`${ranks} ranks are more than this page draws.`);
  const columns = list(from, "metrics").map((value): MetricColumn => {
    const column = fields<Wire.MetricColumn>(value, "A metric");
    const values = f64Column(column, "values");
    if (values.length !== 0 && values.length !== ranks) throw new FeedError("A metric has not one value for each rank.");
    return { metric: text(column, "metric"), values, missing: text(column, "missing") };
  });
  return {
    fromNs: natural(from, "from_ns"), toNs: natural(from, "to_ns"), diagnosedFromNs: natural(from, "judged_from_ns"), diagnosedToNs: natural(from, "judged_to_ns"),
    ranks, host: f64Column(from, "host"), phases: bounded("phases", list(from, "phases"), ITEMS_MAX).map(phase), metrics: new Map(columns.map((column) => [column.metric, column])),
  };
}

function phase(value: unknown): Phase {
  const from = fields<Wire.Phase>(value, "A phase");
  return { id: natural(from, "id"), name: text(from, "name") };
}

function notes<T>(from: Fields<T>, name: keyof T & string): LayoutNote[] {
  return bounded(name, list(from, name), NOTES_MAX).map((value) => {
    const note = fields<Wire.LayoutNote>(value, "A note");
    return { line: natural(note, "line"), column: natural(note, "column"), text: text(note, "text") };
  });
}

function points(from: Fields<{ x: unknown; y: unknown; z: unknown }>): Points {
  const columns = { x: f64Column(from, "x"), y: f64Column(from, "y"), z: f64Column(from, "z") };
  const length = sameLength("points", columns);
  if (length > POINTS_MAX) throw new FeedError(`${length} points are more than this page draws.`);
  return { length, ...columns };
}

export function rankLayout(from: Fields<Wire.RankLayout>): RankLayout {
  const placed = points(from);
  const color = f64Column(from, "color");
  const pointsPerRank = natural(from, "points_per_rank");
  if (color.length !== placed.length || (placed.length > 0 && (pointsPerRank === 0 || placed.length % pointsPerRank !== 0))) {
    throw new FeedError("The points of the layout are not as many for each rank.");
  }
  return {
    ...placed, color, pointsPerRank, name: text(from, "name"), names: bounded("names", texts(from, "names"), ITEMS_MAX),
    events: list(from, "events").map((asked) => asked === true), isOld: from.is_old === true, errors: notes(from, "errors"), warnings: notes(from, "warnings"),
  };
}

export function layouts(from: Fields<Wire.Layouts>): Layouts {
  const items = bounded("items", list(from, "items"), ITEMS_MAX).map((value): LayoutItem => {
    const item = fields<Wire.LayoutItem>(value, "A layout");
    return {
      ...points(item), name: text(item, "name"), sentence: text(item, "sentence"), source: text(item, "source"), keeper: text(item, "keeper"),
      isFile: item.is_file === true, isComplete: item.is_complete === true,
    };
  });
  return { items, file: text(from, "file"), text: text(from, "text"), version: natural(from, "version"), errors: notes(from, "errors"), hasStore: from.has_store === true };
}

export function landscape(from: Fields<Wire.Landscape>): Landscape {
  const found = {
    fromNs: natural(from, "from_ns"), toNs: natural(from, "to_ns"), ranksPerRow: natural(from, "ranks_per_row"), rows: natural(from, "rows"),
    function: u32Column(from, "function"), seconds: f64Column(from, "seconds"),
  };
  if (found.seconds.length !== found.function.length * found.rows) throw new FeedError("The landscape has not one value for each function and row.");
  return found;
}
