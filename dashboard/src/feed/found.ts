// Where time went and why, from the feed: checked and bounded. Seconds are those of threads unless a field names
// others.

import { bounded, FeedError, type Fields, fields, isNatural, list, natural, number, numbers, text, texts, truth } from "./columns";
import { type Evolution, evolution } from "./evolution";
import { type Regions, regions } from "./regions";
import type * as Wire from "./types";

export const CAUSES = ["mapping", "pattern", "background", "cpu"] as const;
/** What can be blamed. */
export type Blame = (typeof CAUSES)[number];
export type Cause = Blame | "none";

export interface FindingsReport {
  headline: string;
  /** The ranks that it blames; empty where it names none. */
  blamed: readonly number[];
  /** What it rests on and how sure it is. */
  details: readonly string[];
  /** Why another cause costs more than what ranks waited for most; empty where that is the cause. */
  waitingNote: string;
  /** What to do about it. */
  actions: readonly string[];
  /** The stretch of run time that was diagnosed. */
  fromS: number;
  untilS: number;
  leftOutCalls: number;
  isFinal: boolean;
  diagnosis: Diagnosis;
  /** How latency went by region. */
  evolution: Evolution;
}

export interface Diagnosis {
  budget: Parts;
  efficiency: Efficiency;
  /** The longest first. */
  waits: readonly Wait[];
  /** By kind, function and place, whoever it was; the longest first. */
  gathered: readonly GatheredWait[];
  /** From which ranks it comes, for causes that lie with ranks. */
  sources: readonly Source[];
  /** What the advised placement does; null where there is none that is better. */
  advised: Advised | null;
  /** The inter-node cost is not known, as expected transfer times are not. */
  isDistanceUnknown: boolean;
  /** The waiting by call site, the longest first. */
  sites: readonly SiteWait[];
  /** In order of time. */
  attribution: readonly Attribution[];
  /** When each cause is to blame, in order: the only beginnings and ends that are shown. */
  disturbances: readonly Disturbance[];
  /** When the network was quiet and when not, in order of time. */
  quiet: readonly Quiet[];
  verdict: Verdict;
  hasCpuContention: boolean;
  whatIf: WhatIf;
  /** Null while nobody knows any. */
  regions: Regions | null;
}

/** They sum to the total. */
export interface Parts {
  waitingS: number;
  baseS: number;
  distanceS: number;
  excessS: number;
  operationS: number;
  otherS: number;
  unknownS: number;
  totalS: number;
  waitingBy: By;
  excessInsideS: number;
  /** Of `otherS`: ranks waited for a CPU inside MPI. */
  cpuWaitS: number;
}

/** Sums to the waiting; a part may be negative. */
export interface By {
  /** With `cpuWait`. */
  compute: number;
  base: number;
  distance: number;
  excess: number;
  operation: number;
  other: number;
  unknown: number;
  cpuWait: number;
}

/** From 0 to 1; all are 0 while nothing was computed. */
export interface Efficiency { parallel: number; loadBalance: number; communication: number; transfer: number; serialization: number }

export interface Wait {
  state: string;
  function: string;
  /** The number of the call site; null where it is not known. */
  site: number | null;
  /** The same in words; empty where it is not known. */
  place: string;
  waiter: number;
  awaited: number;
  times: number;
  seconds: number;
  longestS: number;
  longestAtS: number;
}

export interface GatheredWait {
  state: string;
  function: string;
  site: number | null;
  place: string;
  /** How many ranks waited, and for how many. */
  waiters: number;
  awaited: number;
  /** For whom the longest, and how long. */
  mostAwaited: number;
  mostAwaitedS: number;
  times: number;
  seconds: number;
}

/** From which ranks a cause comes: those that have more to do than others, or that waited for a CPU. */
export interface Source {
  cause: Blame;
  /** What ranks did too much while others waited for it, or waited for a CPU. */
  totalS: number;
  /** The ranks that make up most of it, where they are at most half of all and the same all the time. */
  few: readonly number[];
  /** They are all ranks of this number of nodes, and no others; else 0. */
  fewNodes: number;
  /** Those with the most of it. */
  ranks: readonly { rank: number; seconds: number; computedS: number }[];
  /** What ranks computed on average. */
  computedS: number;
  /** Who had the most of it when, where that moves from rank to rank; else nothing. */
  times: readonly { fromS: number; toS: number; ranks: readonly number[] }[];
  /** Whether it is with other ranks in each step of the program. */
  differsByStep: boolean;
}

export interface Advised { moved: number; interMessages: number; interMessagesAfter: number; messages: number }

export interface SiteWait {
  /** As of a wait; all calls without a known call site are one. */
  site: number | null;
  place: string;
  seconds: number;
  /** By what kept those who were waited for. */
  by: By;
}

export interface Attribution {
  fromS: number;
  toS: number;
  /** Null: the whole job. */
  region: number | null;
  cause: Cause;
  avoidableS: number;
  confidence: number;
  /** Places in the list of waits. */
  evidence: readonly number[];
}

/** A time in which a cause is to blame. */
export interface Disturbance { cause: Cause; fromS: number; toS: number }

export interface Quiet {
  fromS: number;
  toS: number;
  isQuiet: boolean;
  /** How many times as long messages took as when it was quietest. */
  slower: number;
}

/** How much of a run a verdict is about: with the last three there is none. */
const BASES = ["whole", "part", "hung", "lost", "unseen"] as const;
export type BasisState = (typeof BASES)[number];

export interface Verdict {
  cause: Cause;
  avoidableS: number;
  avoidableWallS: number;
  /** Much of what ranks waited for is not known: it may well be more. */
  isAtLeast: boolean;
  share: number;
  confidence: number;
  /** The most first. */
  causes: readonly (readonly [Blame, number])[];
  remarks: readonly string[];
  /** How much of the run the recording supports a verdict on. */
  basis: BasisState;
}

/** What the run would take without its causes, by replays. */
export interface WhatIf {
  recordedS: number;
  /** An entry for each set of causes that cost something. */
  without: readonly Without[];
}

export interface Without { causes: ReadonlySet<Blame>; runS: number; leastS: number; mostS: number }

/** Where time in MPI went in a range, and what of it could be avoided. */
export interface RangeBudget {
  /** The range, as far as it was diagnosed. */
  fromNs: number;
  toNs: number;
  /** How long windows are. Of one that is cut by an end of the range a part counts. */
  windowNs: number;
  parts: Parts;
  /** The most first. */
  causes: readonly (readonly [Blame, number])[];
  /** Null where nobody gives one. */
  verdict: RangeVerdict | null;
}

/** What a part of the run suffers from most. */
export interface RangeVerdict {
  cause: Cause;
  sentence: string;
  details: readonly string[];
  actions: readonly string[];
  /** The ranks that the cause comes from. */
  ranks: readonly number[];
}

/** Longer lists than these no daemon makes, and no page should have to draw. */
const SENTENCES_MAX = 64;
const WAITS_MAX = 1000;
const SITES_MAX = 4096;
const SOURCES_MAX = 64;
/** A daemon merges the parts of a run down to this number (`MOST_PARTS` of daemon/verdict). */
const PARTS_MAX = 96;
const FEW_MAX = 1024;
const STRETCHES_MAX = 4096;

export function found(from: Fields<Wire.FindingsReport>): FindingsReport {
  const [fromS, untilS] = stretch(from, "from_s", "until_s");
  return {
    headline: text(from, "headline"),
    blamed: bounded("blamed", list(from, "blamed"), FEW_MAX).filter(isNatural),
    details: bounded("details", texts(from, "details"), SENTENCES_MAX),
    waitingNote: text(from, "waiting_note"),
    actions: bounded("actions", texts(from, "actions"), SENTENCES_MAX),
    fromS,
    untilS,
    leftOutCalls: natural(from, "left_out_calls"),
    isFinal: truth(from, "is_final"),
    diagnosis: diagnosis(fields(from.judgement, "The diagnosis")),
    evolution: evolution(fields(from.evolution, "The evolution of latency")),
  };
}

export function rangeBudget(from: Fields<Wire.RangeBudget>): RangeBudget {
  const [fromNs, toNs] = stretch(from, "from_ns", "to_ns");
  return {
    fromNs, toNs, windowNs: natural(from, "window_ns"), parts: parts(fields(from.parts, "The parts of the budget")), causes: costs(from),
    verdict: from.verdict ? rangeVerdict(fields(from.verdict, "The verdict on the range")) : null,
  };
}

function rangeVerdict(from: Fields<Wire.RangeVerdict>): RangeVerdict {
  return {
    cause: cause(from.cause),
    sentence: text(from, "sentence"),
    details: bounded("details", texts(from, "details"), SENTENCES_MAX),
    actions: bounded("actions", texts(from, "actions"), SENTENCES_MAX),
    ranks: bounded("ranks", list(from, "ranks"), FEW_MAX).filter(isNatural),
  };
}

function diagnosis(from: Fields<Wire.Diagnosis>): Diagnosis {
  const waits = bounded("waits", list(from, "waits"), WAITS_MAX).map((each) => wait(fields(each, "A wait")));
  const attribution = bounded("attribution", list(from, "attribution"), STRETCHES_MAX)
    .map((each) => stretchOf(fields(each, "A stretch of the attribution"), waits.length));
  return {
    budget: parts(fields(from.budget, "The budget")),
    efficiency: efficiency(fields(from.efficiency, "The efficiency")),
    waits,
    isDistanceUnknown: truth(from, "is_distance_unknown"),
    gathered: bounded("gathered", list(from, "gathered"), WAITS_MAX).map((each) => gathered(fields(each, "A gathered wait"))),
    sources: bounded("sources", list(from, "sources"), CAUSES.length).map((each) => source(fields(each, "A source"))),
    advised: from.advised === null || from.advised === undefined ? null : advised(fields(from.advised, "The advised placement")),
    sites: bounded("sites", list(from, "sites"), SITES_MAX).map((each) => siteWait(fields(each, "A call site"))),
    attribution,
    disturbances: bounded("disturbances", list(from, "disturbances"), STRETCHES_MAX).map((each) => disturbance(fields(each, "A disturbance"))),
    quiet: bounded("quiet", list(from, "quiet"), STRETCHES_MAX).map((each) => quiet(fields(each, "A stretch of the network"))),
    verdict: verdict(fields(from.verdict, "The verdict")),
    hasCpuContention: from.cpu_shortage !== null && from.cpu_shortage !== undefined,
    // Older recordings have none.
    whatIf: from.whatif === undefined ? { recordedS: 0, without: [] } : whatIf(fields(from.whatif, "The replays")),
    regions: known(regions(fields(from.regions, "The regions"))),
  };
}

function whatIf(from: Fields<Wire.WhatIf>): WhatIf {
  const without = bounded("without", list(from, "without"), 2 ** CAUSES.length).map((each): Without => {
    const of = fields<Wire.Without>(each, "A replay");
    const causes = bounded("causes", texts(of, "causes"), CAUSES.length).map(blamed);
    return { causes: new Set(causes), ...numbers(of, "run_s", "least_s", "most_s") };
  });
  return { ...numbers(from, "recorded_s"), without };
}

function known(found: Regions): Regions | null {
  return found.version > 0 && found.regions.length > 0 ? found : null;
}

function parts(from: Fields<Wire.Parts>): Parts {
  return {
    ...numbers(
      from,
      "waiting_s", "base_s", "distance_s", "excess_s", "operation_s", "other_s", "unknown_s", "total_s",
      "excess_inside_s", "cpu_wait_s",
    ),
    waitingBy: by(fields(from.waiting_by, "The split of the waiting")),
  };
}

function by(from: Fields<Wire.By>): By {
  return { ...numbers(from, "compute", "base", "distance", "excess", "operation", "other", "unknown"), cpuWait: number(from, "no_core") };
}

function efficiency(from: Fields<Wire.Efficiency>): Efficiency {
  return numbers(from, "parallel", "load_balance", "communication", "transfer", "serialization");
}

function wait(from: Fields<Wire.Wait>): Wait {
  return {
    state: text(from, "state"),
    function: text(from, "function"),
    site: siteNumber(from),
    place: text(from, "place"),
    waiter: natural(from, "waiter"),
    awaited: natural(from, "awaited"),
    times: natural(from, "times"),
    ...numbers(from, "seconds", "longest_s", "longest_at_s"),
  };
}

function gathered(from: Fields<Wire.GatheredWait>): GatheredWait {
  return {
    state: text(from, "state"),
    function: text(from, "function"),
    site: siteNumber(from),
    place: text(from, "place"),
    waiters: natural(from, "waiters"),
    awaited: natural(from, "awaited"),
    mostAwaited: natural(from, "most_awaited"),
    times: natural(from, "times"),
    ...numbers(from, "seconds", "most_awaited_s"),
  };
}

function source(from: Fields<Wire.Source>): Source {
  return {
    cause: blamed(from.cause),
    ...numbers(from, "total_s", "computed_s"),
    few: bounded("few", list(from, "few"), FEW_MAX).filter(isNatural),
    fewNodes: natural(from, "few_nodes"),
    ranks: bounded("ranks", list(from, "ranks"), SOURCES_MAX).map((each) => {
      const of = fields<Wire.SourceRank>(each, "A rank that a cause comes from");
      return { rank: natural(of, "rank"), ...numbers(of, "seconds", "computed_s") };
    }),
    times: bounded("times", list(from, "times"), PARTS_MAX).map((each) => {
      const of = fields<Wire.SourceTime>(each, "A part of the run");
      const [fromS, toS] = stretch(of, "from_s", "to_s");
      return { fromS, toS, ranks: bounded("ranks", list(of, "ranks"), SOURCES_MAX).filter(isNatural) };
    }),
    differsByStep: from.differs_by_step === true,
  };
}

function advised(from: Fields<Wire.Advised>): Advised {
  return {
    moved: natural(from, "moved"),
    interMessages: natural(from, "inter_messages"),
    interMessagesAfter: natural(from, "inter_messages_after"),
    messages: natural(from, "messages"),
  };
}

function siteWait(from: Fields<Wire.SiteWait>): SiteWait {
  const seconds = number(from, "seconds");
  return { site: siteNumber(from), place: text(from, "place"), seconds, by: by(fields(from.by, "The split of a place's waiting")) };
}

function siteNumber<T extends { site: unknown }>(from: Fields<T>): number | null {
  return from.site === null || from.site === undefined ? null : natural(from, "site" as keyof T & string);
}

function quiet(from: Fields<Wire.Quiet>): Quiet {
  const [fromS, toS] = stretch(from, "from_s", "to_s");
  return { fromS, toS, isQuiet: truth(from, "is_quiet"), slower: number(from, "slower") };
}

function disturbance(from: Fields<Wire.Disturbance>): Disturbance {
  const [fromS, toS] = stretch(from, "from_s", "to_s");
  return { cause: cause(from.cause), fromS, toS };
}

function stretchOf(from: Fields<Wire.Attribution>, waits: number): Attribution {
  const [fromS, toS] = stretch(from, "from_s", "to_s");
  const evidence = bounded("evidence", list(from, "evidence"), WAITS_MAX).map((place) => {
    if (!isNatural(place) || place >= waits) throw new FeedError('The list "evidence" names a wait that is not there.');
    return place;
  });
  return {
    fromS,
    toS,
    region: from.region === null || from.region === undefined ? null : natural(from, "region"),
    cause: cause(from.cause),
    avoidableS: number(from, "avoidable_s"),
    confidence: number(from, "confidence"),
    evidence,
  };
}

function verdict(from: Fields<Wire.Verdict>): Verdict {
  return {
    isAtLeast: truth(from, "is_at_least"),
    cause: cause(from.cause),
    ...numbers(from, "avoidable_s", "avoidable_wall_s", "share", "confidence"),
    basis: basis(from.basis),
    causes: costs(from),
    remarks: bounded("remarks", texts(from, "remarks"), SENTENCES_MAX),
  };
}

function basis(value: unknown): BasisState {
  const { state } = fields<Wire.Basis>(value, "The basis");
  const known = BASES.find((each) => each === state);
  if (known === undefined) throw new FeedError("There is a basis of a verdict that this page does not know.");
  return known;
}

/** What each cause costs. */
function costs<T extends { causes: unknown }>(from: Fields<T>): readonly (readonly [Blame, number])[] {
  return bounded("causes", list(from, "causes"), CAUSES.length).map((entry): readonly [Blame, number] => {
    const [name, seconds] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const blame = cause(name);
    if (blame === "none" || typeof seconds !== "number" || !Number.isFinite(seconds)) {
      throw new FeedError('The list "causes" holds something that is not a cause and its seconds.');
    }
    return [blame, seconds];
  });
}

function cause(value: unknown): Cause {
  if (value !== "none" && !CAUSES.includes(value as Blame)) throw new FeedError("There is a cause that this page does not know.");
  return value as Cause;
}

function blamed(value: unknown): Blame {
  const blame = cause(value);
  if (blame === "none") throw new FeedError('There is "none" where a cause is expected.');
  return blame;
}

/** Two times, the first not after the second. */
function stretch<T>(from: Fields<T>, first: keyof T & string, last: keyof T & string): [number, number] {
  const ends: [number, number] = [number(from, first), number(from, last)];
  if (ends[0] > ends[1]) throw new FeedError(`"${first}" is after "${last}".`);
  return ends;
}
