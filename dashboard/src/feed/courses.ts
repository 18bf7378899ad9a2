// How messages went over time, in windows of one length: between nodes and within, how evenly over ranks, and how slow by
// size. Checked and bounded.

import { bounded, f64Column, FeedError, type Fields, fields, list, natural, number, truth, u32Column } from "./columns";
import type * as Wire from "./types";

export interface SizeClass {
  fromBytes: number;
  /** Outside. */
  toBytes: number;
  messages: number;
  isInter: boolean;
}

export interface Courses {
  fromNs: number;
  toNs: number;
  /** How long a window is. */
  widthNs: number;
  windows: number;
  /** Messages that ended in each window: between nodes, and within. */
  inter: Float64Array;
  intra: Float64Array;
  interBytes: Float64Array;
  intraBytes: Float64Array;
  /** How far ranks are from the mean of their messages, in means; not a number where nobody communicated. */
  uneven: Float64Array;
  /** How far the rank is that is furthest, in mean deviations. */
  greatestLoad: Float64Array;
  greatestRank: Uint32Array;
  sizes: readonly SizeClass[];
  /** What messages of a size took in a window, for their mean over the range; size by size. Not a number without any. */
  slow: Float64Array;
  /** The size that varied least. */
  calmest: number | null;
  messages: number;
  /** Messages that are not in these figures. */
  leftOut: number;
}

/** More than any daemon sends. */
const WINDOWS_MAX = 4096;
const SIZES_MAX = 32;

export function courses(from: Fields<Wire.Courses>): Courses {
  const windows = natural(from, "bins");
  const [fromNs, toNs, widthNs] = [number(from, "from_ns"), number(from, "to_ns"), number(from, "width_ns")];
  if (windows > WINDOWS_MAX) throw new FeedError(`There are more than ${WINDOWS_MAX} windows.`);
  if (!(toNs >= fromNs) || (windows > 0 && !(widthNs > 0))) throw new FeedError("The windows are not in order.");
  const sizes = bounded("sizes", list(from, "sizes"), SIZES_MAX).map((each) => sizeClass(fields(each, "A class of sizes")));
  return {
    fromNs, toNs, widthNs, windows, sizes,
    inter: amounts(from, "inter", windows),
    intra: amounts(from, "intra", windows),
    interBytes: amounts(from, "inter_bytes", windows),
    intraBytes: amounts(from, "intra_bytes", windows),
    uneven: ratios(from, "uneven", windows),
    greatestLoad: ratios(from, "greatest_load", windows),
    greatestRank: long("greatest_rank", u32Column(from, "greatest_rank"), windows),
    slow: ratios(from, "slow", windows * sizes.length),
    calmest: calmest(from, sizes.length),
    messages: natural(from, "messages"),
    leftOut: natural(from, "left_out"),
  };
}

function sizeClass(from: Fields<Wire.CourseSizes>): SizeClass {
  const [fromBytes, toBytes] = [number(from, "from"), number(from, "to")];
  if (!(fromBytes >= 0 && toBytes > fromBytes)) throw new FeedError("A class of sizes is not in order.");
  return { fromBytes, toBytes, messages: natural(from, "messages"), isInter: truth(from, "is_inter") };
}

function calmest(from: Fields<Wire.Courses>, sizes: number): number | null {
  if (from.calmest === null || from.calmest === undefined) return null;
  const place = natural(from, "calmest");
  if (place >= sizes) throw new FeedError('The field "calmest" names a class of sizes that is not there.');
  return place;
}

function long<Column extends { readonly length: number }>(name: string, column: Column, length: number): Column {
  if (column.length !== length) throw new FeedError(`The column "${name}" is ${column.length} long, not ${length}.`);
  return column;
}

function amounts(from: Fields<Wire.Courses>, name: keyof Wire.Courses, length: number): Float64Array {
  const column = long(name, f64Column(from, name), length);
  if (!column.every((value) => value >= 0 && value < Infinity)) throw new FeedError(`The column "${name}" holds something that is no amount.`);
  return column;
}

/** Where there is nothing to compare, they are not a number. */
function ratios(from: Fields<Wire.Courses>, name: keyof Wire.Courses, length: number): Float64Array {
  const column = long(name, f64Column(from, name), length);
  if (!column.every((value) => Number.isNaN(value) || (value >= 0 && value < Infinity))) throw new FeedError(`The column "${name}" holds something that is no ratio.`);
  return column;
}
