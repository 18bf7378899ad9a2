// Call sites, the paths to them, what is called from where, and source text. Checked.

import { bounded, f64Column, FeedError, type Fields, natural, number, sameLength, text, texts, truth, u32Column } from "./columns";
import type * as Wire from "./types";

/** In columns of sites and names: there is none. */
export const NO_SITE = 0xffff_ffff;
/** No program has more places from which it calls MPI. */
const SITES_MAX = 1 << 20;
/** Each has the names of a function, a file and a program at most. */
const NAMES_MAX = 3 * SITES_MAX;

/** A call site, or one on the way to calls. What is not known is empty, and the line 0. */
export interface SitePlace { words: string; function: string; file: string; line: number; module: string; parent: number | null }

/** The places from which MPI is called, in words, by number. */
export type Sites = ReadonlyMap<number, string>;

/** Call sites, and those on the way to calls. */
export interface ProgramPlaces { calls: Sites; all: ReadonlyMap<number, SitePlace>; hasPaths: boolean }

export interface SiteTimes {
  fromNs: number;
  toNs: number;
  /** Of the calls; below 1 more are counted at each question. */
  countedShare: number;
  length: number;
  /** `NO_SITE` where it is not known. */
  site: Uint32Array;
  function: Uint32Array;
  calls: Float64Array;
  bytes: Float64Array;
  timeNs: Float64Array;
}

export interface SourceText { file: string; fromLine: number; lines: readonly string[]; isNewer: boolean }

export function programPlaces(from: Fields<Wire.Sites>): ProgramPlaces {
  const words = bounded("place", texts(from, "place"), SITES_MAX);
  const names = bounded("name", texts(from, "names"), NAMES_MAX);
  const columns = { id: u32Column(from, "id"), parent: u32Column(from, "parent"), function: u32Column(from, "function"), file: u32Column(from, "file"), line: u32Column(from, "line"), module: u32Column(from, "module") };
  const length = sameLength("call sites", columns);
  if (words.length !== length) throw new FeedError("The call sites are not as many as their numbers.");
  const all = new Map<number, SitePlace>();
  const onTheWay = new Set<number>();
  const name = (number: number | undefined): string => names[number ?? NO_SITE] ?? "";
  for (let row = 0; row < length; row++) {
    const [id, parent] = [columns.id[row] ?? 0, columns.parent[row] ?? NO_SITE];
    // Whoever goes from place to place gets to one without a parent: those that led to a place come before it.
    const isKnown = parent !== NO_SITE && all.has(parent);
    if (isKnown) onTheWay.add(parent);
    all.set(id, { words: words[row] ?? "", function: name(columns.function[row]), file: name(columns.file[row]), line: columns.line[row] ?? 0, module: name(columns.module[row]), parent: isKnown ? parent : null });
  }
  return { calls: new Map([...all].filter(([id]) => !onTheWay.has(id)).map(([id, place]) => [id, place.words])), all, hasPaths: truth(from, "has_paths") };
}

export function siteTimes(from: Fields<Wire.SiteTimes>): SiteTimes {
  const columns = { site: u32Column(from, "site"), function: u32Column(from, "function"), calls: f64Column(from, "calls"), bytes: f64Column(from, "bytes"), timeNs: f64Column(from, "time_ns") };
  return { fromNs: number(from, "from_ns"), toNs: number(from, "to_ns"), countedShare: number(from, "counted_share"), length: sameLength("call sites", columns), ...columns };
}

export function sourceText(from: Fields<Wire.SourceText>): SourceText {
  return { file: text(from, "file"), fromLine: natural(from, "from_line"), lines: texts(from, "lines"), isNewer: truth(from, "is_newer") };
}
