// What changed between two recordings, A and B, as the feed tells it: checked and bounded.

import { type AlignBy, type Aligned, alignBy, aligned } from "./aligned";
import { bounded, FeedError, type Fields, f64Column, fields, list, natural, number, pair, text, texts, u32Column } from "./columns";
import { CAUSES, type Cause } from "./found";
import type * as Wire from "./types";

export interface Change {
  difference: number;
  /** B for A; null where A is nothing. */
  ratio: number | null;
  /** More than noise and more than a little. */
  isChange: boolean;
}

/** Null is what is not known. */
export interface Figure { a: number | null; b: number | null; change: Change | null }
export interface Words { a: string; b: string; isChange: boolean }

/** Where a rank's time went, by the parts' names. */
export const PARTS = ["waiting", "base", "distance", "excess", "operation", "other", "unknown"] as const;
export type PartName = (typeof PARTS)[number];
export const WAITS = ["compute", "no_core", "base", "distance", "excess", "operation", "other", "unknown"] as const;
export type WaitName = (typeof WAITS)[number];

export interface Budget {
  outside: Figure;
  /** After the last call of a rank that makes no more. */
  finished: Figure;
  total: Figure;
  transfer: Figure;
  parts: Readonly<Record<PartName, Figure>>;
  waitingBy: Readonly<Record<WaitName, Figure>>;
}

export interface Side { folder: string; isDiagnosed: boolean; cause: Cause | null; headline: string; missing: readonly string[]; exit: number | null; state: string }

export interface FunctionChange {
  id: number;
  name: string;
  family: string;
  calls: Figure;
  ofRank: Figure;
  p50Ns: Figure;
  p99Ns: Figure;
  maxNs: Figure;
  /** Where the change is on some only. */
  ranks: readonly (readonly [number, number])[];
  why: string;
}

export interface SiteChange {
  place: string;
  /** In A, and in B: it may have been moved. */
  lines: readonly [number | null, number | null];
  callsFunction: string;
  calls: Figure;
  ofRank: Figure;
  waitingOfRank: Figure;
  why: string;
}

/** The expected time of messages of some sizes, or of a collective. */
export interface Usual { what: "within" | "between" | "collective"; name: string; fromBytes: number; ranks: number; isRoot: boolean; samples: Figure; medianNs: Figure }

export interface RegionChange {
  became: string;
  aRanks: readonly (readonly [number, number])[];
  bRanks: readonly (readonly [number, number])[];
  parts: readonly [number, number];
  overlap: number;
}

export interface Comparison {
  answer: string;
  remarks: readonly string[];
  /** What a figure of a rank is. */
  basis: "seconds" | "share";
  /** What is left out as noise, in a sentence. */
  noise: string;
  a: Side;
  b: Side;
  ranks: Figure;
  nodes: Figure;
  durationS: Figure;
  cpuWaitShare: Figure;
  totals: Readonly<Record<"calls" | "messages" | "bytes" | "intraMessages" | "interMessages" | "lostCalls" | "clockViolations", Figure>>;
  clockUncertaintyNs: Figure;
  functions: readonly FunctionChange[];
  sites: readonly SiteChange[];
  usual: readonly Usual[];
  /** Null where one was not diagnosed, or jobs have other ranks. */
  regions: readonly RegionChange[] | null;
  /** Null where one was not diagnosed. */
  ofRank: Budget | null;
  /** As asked for on the command line. */
  alignedBy: AlignBy;
  verdict: { share: Figure; avoidableWallS: Figure; causes: readonly { cause: Cause; avoidableS: Figure }[] } | null;
}

/** A recording in slots of time; rows of a value for each slot. */
export interface CourseOfSide {
  durationNs: number;
  widthNs: number;
  slots: number;
  functions: Uint32Array;
  calls: Float64Array;
  /** By PARTS; empty where it was not diagnosed. */
  parts: Float64Array;
  /** By CAUSES; likewise. */
  avoidable: Float64Array;
}

export interface Compared { comparison: Comparison; a: CourseOfSide; b: CourseOfSide; aligned: readonly Aligned<CourseOfSide>[] }

const SENTENCES_MAX = 1000;
const ROWS_MAX = 100_000;
const SLOTS_MAX = 4096;
const WAYS_MAX = 8;

export function compared(from: Fields<Wire.Compared>): Compared {
  const a = course(fields(from.a, "The course of A"));
  const b = course(fields(from.b, "The course of B"));
  if (a.widthNs !== b.widthNs) throw new FeedError("The slots of the two recordings are not equally long.");
  const ways = bounded("aligned", list(from, "aligned"), WAYS_MAX).map((way) => aligned(fields(way, "A way to align"), a, course));
  return { comparison: comparison(fields(from.comparison, "The comparison")), a, b, aligned: ways };
}

function course(from: Fields<Wire.ComparedCourse>): CourseOfSide {
  const slots = natural(from, "slots");
  if (slots < 1 || slots > SLOTS_MAX) throw new FeedError(`There are ${slots} slots.`);
  const functions = u32Column(from, "function");
  const rows = (name: "calls" | "parts" | "avoidable", count: number): Float64Array => {
    const column = f64Column(from, name);
    if (column.length !== count * slots && (name === "calls" || column.length !== 0)) {
      throw new FeedError(`The column "${name}" is ${column.length} long, with ${slots} slots.`);
    }
    return column;
  };
  return {
    durationNs: number(from, "duration_ns"),
    widthNs: number(from, "width_ns"),
    slots,
    functions,
    calls: rows("calls", functions.length),
    parts: rows("parts", PARTS.length),
    avoidable: rows("avoidable", CAUSES.length),
  };
}

function comparison(from: Fields<Wire.Comparison>): Comparison {
  const job = fields<Wire.JobChange>(from.job, "The job");
  const totals = fields<Wire.TotalsChange>(from.totals, "The totals");
  const quality = fields<Wire.QualityChange>(from.quality, "The quality");
  const basis = from.basis;
  if (basis !== "seconds" && basis !== "share") throw new FeedError("The figures are in what this page does not know.");
  const rows = <T, W>(name: keyof Wire.Comparison, read: (row: Fields<W>) => T): T[] =>
    bounded(name, list(from, name), ROWS_MAX).map((row) => read(fields<W>(row, `A row of "${name}"`)));
  return {
    answer: text(from, "answer"),
    remarks: bounded("remarks", texts(from, "remarks"), SENTENCES_MAX),
    basis,
    noise: text(fields<Wire.Noise>(from.noise, "The noise"), "sentence"),
    a: side(fields(from.a, "The side A")),
    b: side(fields(from.b, "The side B")),
    ranks: figure(job.ranks, "ranks"),
    nodes: figure(job.nodes, "nodes"),
    durationS: figure(job.duration_s, "duration_s"),
    cpuWaitShare: figure(quality.no_core_share, "no_core_share"),
    clockUncertaintyNs: figure(quality.clock_uncertainty_ns, "clock_uncertainty_ns"),
    totals: {
      calls: figure(totals.calls, "calls"),
      messages: figure(totals.messages, "messages"),
      bytes: figure(totals.bytes, "bytes"),
      intraMessages: figure(totals.intra_messages, "intra_messages"),
      interMessages: figure(totals.inter_messages, "inter_messages"),
      lostCalls: figure(totals.lost_calls, "lost_calls"),
      clockViolations: figure(totals.clock_violations, "clock_violations"),
    },
    functions: rows("functions", functionChange),
    sites: rows("sites", siteChange),
    usual: [...(from.criteria ? rows("criteria", criterion) : []), ...(from.collectives ? rows("collectives", collective) : [])],
    regions: from.regions ? rows("regions", region) : null,
    ofRank: from.of_rank ? budget(fields(from.of_rank, "The budget of a rank")) : null,
    alignedBy: alignBy(fields<Wire.Alignment>(from.alignment, "The alignment").by),
    verdict: from.verdict ? verdict(fields(from.verdict, "The verdicts")) : null,
  };
}

/** Figures and counts are read alike. */
export function figure(value: unknown, what: string): Figure {
  const from = fields<Wire.Figure>(value, `The figure "${what}"`);
  const known = (name: "a" | "b"): number | null => (from[name] === null || from[name] === undefined ? null : number(from, name));
  const change = from.change === null || from.change === undefined ? null : fields<Wire.Change>(from.change, `The change of "${what}"`);
  return {
    a: known("a"),
    b: known("b"),
    change: change && {
      difference: number(change, "difference"),
      ratio: change.ratio === null || change.ratio === undefined ? null : number(change, "ratio"),
      isChange: change.is_change === true,
    },
  };
}

function side(from: Fields<Wire.Side>): Side {
  return {
    folder: text(from, "folder"),
    isDiagnosed: from.is_judged === true,
    cause: from.cause === null || from.cause === undefined ? null : cause(from.cause),
    headline: text(from, "headline"),
    missing: bounded("missing", texts(from, "missing"), ROWS_MAX),
    exit: from.exit === null || from.exit === undefined ? null : number(from, "exit"),
    state: text(from, "state"),
  };
}

function functionChange(from: Fields<Wire.FunctionChange>): FunctionChange {
  return {
    id: natural(from, "id"),
    name: text(from, "name"),
    family: text(from, "family"),
    calls: figure(from.calls, "calls"),
    ofRank: figure(from.of_rank, "of_rank"),
    p50Ns: figure(from.p50_ns, "p50_ns"),
    p99Ns: figure(from.p99_ns, "p99_ns"),
    maxNs: figure(from.max_ns, "max_ns"),
    ranks: list(from, "ranks").map((ranks) => pair(ranks, "ranks")),
    why: text(from, "why"),
  };
}

function siteChange(from: Fields<Wire.SiteChange>): SiteChange {
  const line = fields<Wire.LinePair>(from.line, "The line");
  const known = (name: "a" | "b"): number | null => (line[name] === null || line[name] === undefined ? null : natural(line, name));
  return {
    place: text(from, "place"),
    lines: [known("a"), known("b")],
    callsFunction: from.calls_function === null || from.calls_function === undefined ? "?" : text(from, "calls_function"),
    calls: figure(from.calls, "calls"),
    ofRank: figure(from.of_rank, "of_rank"),
    waitingOfRank: figure(from.waiting_of_rank, "waiting_of_rank"),
    why: text(from, "why"),
  };
}

function criterion(from: Fields<Wire.CriterionChange>): Usual {
  const scope = text(from, "scope");
  const what = scope === "intra" ? "within" : "between";
  return { what, name: "", fromBytes: number(from, "size_from"), ranks: 0, isRoot: false, samples: figure(from.samples, "samples"), medianNs: figure(from.median_ns, "median_ns") };
}

function collective(from: Fields<Wire.CollectiveChange>): Usual {
  return {
    what: "collective", name: text(from, "function"), fromBytes: number(from, "bytes"), ranks: natural(from, "ranks"), isRoot: from.is_root === true,
    samples: figure(from.samples, "samples"), medianNs: figure(from.median_ns, "median_ns"),
  };
}

function region(from: Fields<Wire.RegionChange>): RegionChange {
  const ranges = (name: "a_ranks" | "b_ranks") => list(from, name).map((ranks) => pair(ranks, name));
  return { became: text(from, "became"), aRanks: ranges("a_ranks"), bRanks: ranges("b_ranks"), parts: [list(from, "a").length, list(from, "b").length], overlap: number(from, "overlap") };
}

function budget(from: Fields<Wire.BudgetChange>): Budget {
  const by = fields<Wire.ByChange>(from.waiting_by, "The split of the waiting");
  return {
    outside: figure(from.outside, "outside"),
    finished: figure(from.finished, "finished"),
    total: figure(from.total, "total"),
    transfer: figure(from.transfer, "transfer"),
    parts: Object.fromEntries(PARTS.map((name) => [name, figure(from[name], name)])) as Record<PartName, Figure>,
    waitingBy: Object.fromEntries(WAITS.map((name) => [name, figure(by[name], name)])) as Record<WaitName, Figure>,
  };
}

function verdict(from: Fields<Wire.VerdictChange>): Comparison["verdict"] {
  const causes = bounded("causes", list(from, "causes"), CAUSES.length).map((entry) => {
    const row = fields<Wire.CauseChange>(entry, "What a cause costs");
    return { cause: cause(row.cause), avoidableS: figure(row.avoidable_s, "avoidable_s") };
  });
  return { share: figure(from.share, "share"), avoidableWallS: figure(from.avoidable_wall_s, "avoidable_wall_s"), causes };
}

function cause(value: unknown): Cause {
  if (value !== "none" && !CAUSES.includes(value as (typeof CAUSES)[number])) throw new FeedError("There is a cause that this page does not know.");
  return value as Cause;
}
