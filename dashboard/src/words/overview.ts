// The overview in words: what to do next, where the ranks' time went as a sentence, and the run's figures. Pure.

import type { Course } from "../feed/evolution";
import type { Blame, Cause, FindingsReport, Parts, RangeBudget, RangeVerdict, Source } from "../feed/found";
import type { Between, Region, Regions } from "../feed/regions";
import type { Part } from "../palette/causes";
import type { RangeFigures } from "../state/range-budgets";
import { rangesOf } from "../state/ranks";
import { edgeNs, lost, over, type RunState } from "../state/run";
import { NO_REASON } from "./budget";
import { budgetRows, CAUSE_NAMES, isSettled, isWithheld, mostWaitedFor, part, partVerdict, type Row, seconds } from "./found";
import { nodeName, whereRanksRun } from "./hosts";
import { bytes, count, counted, duration, share, short, unbroken } from "./index";
import { rangesShort } from "./regions";

/** What to do, or where to look first; null where nothing is to be done. */
export interface Next { text: string; cost: string }

export function nextStep({ actions, details }: Pick<FindingsReport, "actions" | "details">): Next | null {
  const [cost] = details;
  const [text] = actions;
  return text === undefined ? null : { text, cost: cost ?? "" };
}

/** A part of the ranks' time: outside of MPI, after the last call, or of a kind of time in MPI. */
export interface Slice { part: Part | "outside" | "finished"; name: string; title: string; seconds: number }

export interface TimeSplit { ranksS: number; slices: readonly Slice[]; sentence: string }

/** What those who wait mostly wait for, to be read after "waiting". */
const WAITS_FOR: Readonly<Record<string, string>> = {
  compute: "for ranks that compute longer", cpuWait: "for ranks that waited for a CPU", base: "while messages took their expected time", distance: "while messages went between nodes",
  excess: "while messages were slower than expected", operation: "for collectives of others", other: "for other MPI calls", unknown: "for a reason that is not known",
};

/** `ranksS`: the ranks' time of the stretch that was diagnosed; `finishedS`: what of it is after the last call of a rank. */
export function timeSplit(budget: Parts, ranks: number, ranksS: number, finishedS: number): TimeSplit {
  const outsideS = ranksS - budget.totalS - finishedS;
  const outside: Slice = { part: "outside", name: "outside MPI", title: "What is left of the ranks\u2019 time; where several threads of a rank are in MPI at once, each of them counts", seconds: outsideS };
  const finished: Slice = { part: "finished", name: "finished", title: "After the last MPI call of ranks that had ended", seconds: finishedS };
  const slices = [...(outsideS > 0 ? [outside] : []), finished, ...budgetRows(budget)].filter((row) => row.seconds > 0);
  return { ranksS, slices, sentence: timeSentence(budget, ranks, ranksS, outsideS, finishedS) };
}

/** Less than this share of the ranks' time is not worth a word. */
const WORTH_A_WORD = 0.005;

function timeSentence(budget: Parts, ranks: number, ranksS: number, outsideS: number, finishedS: number): string {
  const amount = (value: number): string => unbroken(`${seconds(value)} (${part(value / ranksS)})`);
  const of = `Of ${unbroken(counted(ranks, "rank\u2019s", "ranks\u2019"))} ${unbroken(seconds(ranksS))}`;
  if (outsideS < 0) return `${unbroken(counted(ranks, "rank", "ranks"))} ran for ${unbroken(seconds(ranksS))} in all; their threads spent ${unbroken(seconds(budget.totalS))} in MPI, ${unbroken(seconds(budget.waitingS))} of it waiting${mostly(budget)}.`;
  const rest = budgetRows(budget).filter((row) => row.part !== "waiting" && row.seconds > 0).sort((one, other) => other.seconds - one.seconds)[0];
  const unknown = mostOf(budget)?.part === "unknown" ? ` The reason is not known where ${NO_REASON}: see Lost under \u201cThe run\u201d, and What it rests on in the tab Causes.` : "";
  const waiting = budget.waitingS > 0 ? `${amount(budget.waitingS)} waiting${mostly(budget)}` : "nothing known to be waiting";
  const finished = finishedS > WORTH_A_WORD * ranksS ? `, ${amount(finishedS)} after ranks had finished,` : "";
  return `${of}, ${amount(outsideS)} were outside MPI${finished} and ${waiting}${rest ? `; then ${amount(rest.seconds)} ${rest.name}` : ""}.${unknown}`;
}

/** More than half of the waiting is for one thing, or it is not said what for. */
function mostly(budget: Parts): string {
  const most = mostOf(budget);
  return most ? `, mostly ${WAITS_FOR[most.part] ?? ""}` : "";
}

function mostOf({ waitingS, waitingBy }: Parts): Row | null {
  const most = mostWaitedFor(waitingBy);
  return waitingS > 0 && most.seconds > waitingS / 2 ? most : null;
}

/** Those whom the verdict blames. */
export interface Blamed {
  cause: Blame;
  ranks: readonly number[];
  seconds: number;
  /** When which of them are to blame; empty where they are so all the time. */
  turns: Source["times"];
}

/** Who is to blame when, of some that are so by turns: "19–25 at first, 8–12 halfway, 17 at last". */
export function turnsWords(turns: Source["times"]): string {
  const known = turns.filter(({ ranks }) => ranks.length > 0);
  const who = (at: number): string => rangesShort(rangesOf([...(known[at]?.ranks ?? [])].sort((one, other) => one - other)));
  if (known.length < 2) return "";
  const halfway = known.length > 2 ? `, ${who(Math.floor(known.length / 2))} halfway` : "";
  return `${who(0)} at first${halfway}, ${who(known.length - 1)} at last`;
}

/** The ranks that the headline blames for its cause; null where it blames none. */
export function blamedRanks({ blamed, diagnosis: { verdict, sources } }: FindingsReport): Blamed | null {
  const { cause } = verdict;
  if (isWithheld(verdict) || cause === "none" || blamed.length === 0) return null;
  const source = sources.find((each) => each.cause === cause);
  return { cause, ranks: blamed, seconds: source?.totalS ?? verdict.avoidableS, turns: source?.times ?? [] };
}

/** The ranks that the verdict on a selected part blames; null where it blames none. */
export function blamedInPart({ cause, ranks }: RangeVerdict, causes: RangeBudget["causes"]): Blamed | null {
  if (cause === "none" || ranks.length === 0) return null;
  return { cause, ranks, seconds: new Map(causes).get(cause) ?? 0, turns: [] };
}

/** What to say where the verdict names a cause and no ranks; null where there is nothing to explain. */
export function noBlamedWords(cause: Cause): string | null {
  if (cause === "none") return null;
  const why = cause === "mapping" || cause === "background" ? "lies between nodes, not with single ranks" : "is spread over the ranks";
  return `The verdict, ${CAUSE_NAMES[cause]}, ${why}.`;
}

/** Whom the verdict on what is shown blames, or why nobody. */
export function blamedAndWhy(found: FindingsReport | null, figures: RangeFigures): { blamed: Blamed | null; noBlamed: string | null } {
  const ofPart = partVerdict(figures);
  if (ofPart && figures.kind === "known") return { blamed: blamedInPart(ofPart, figures.budget.causes), noBlamed: noBlamedWords(ofPart.cause) };
  if (!found || !isSettled(found) || isWithheld(found.diagnosis.verdict)) return { blamed: null, noBlamed: null };
  return { blamed: blamedRanks(found), noBlamed: noBlamedWords(found.diagnosis.verdict.cause) };
}

export interface Figure { name: string; value: string; note: string }

/** So far back it is looked for how many calls begin a second. */
const RATE_NS = 2e9;

/** Calls that began a second: just now, or on average for finished runs. */
export function callRate(run: RunState): number | null {
  const { timeline: { windowNs, counts }, totals } = run;
  const edge = edgeNs(run);
  if (over(run)) return edge > 0 ? (totals.calls * 1e9) / edge : null;
  if (!(windowNs > 0)) return null;
  // Windows without calls may not be there.
  const last = Math.floor(edge / windowNs);
  const first = Math.max(0, last - Math.max(1, Math.round(RATE_NS / windowNs)));
  if (last <= first) return null;
  let calls = 0;
  for (const column of counts.values()) for (let window = first; window < last; window++) calls += column[window] ?? 0;
  return (calls * 1e9) / ((last - first) * windowNs);
}

export function runFigures(run: RunState): Figure[] {
  const { job, totals, functions } = run;
  const rate = callRate(run);
  const longest = [...functions.values()].reduce<{ name: string; maxNs: number } | null>((found, row) => (row.maxNs > (found?.maxNs ?? 0) ? row : found), null);
  const inMpiNs = [...functions.values()].reduce((sum, { timeNs }) => sum + timeNs, 0);
  const ranksNs = job.ranks * edgeNs(run);
  const missing = lost(run.losses);
  return [
    { name: "Ranks", value: count(job.ranks), note: whereRanksRun(run) },
    { name: "Calls", value: count(totals.calls), note: totals.polls > 0 ? `and ${count(totals.polls)} polls` : "" },
    { name: over(run) ? "Mean rate" : "Rate now", value: rate === null ? "\u2013" : `${short(rate)} calls/s`, note: over(run) ? "of the whole run" : "in the last 2 s" },
    { name: "Messages", value: count(totals.messages), note: totals.messages > 0 ? `${share(totals.intraMessages, totals.messages)} within nodes` : "" },
    { name: "Payload", value: bytes(totals.bytes), note: totals.messages > 0 ? `${bytes(totals.bytes / totals.messages)} a message` : "" },
    { name: "In MPI", value: duration(inMpiNs), note: ranksNs > 0 ? `${share(inMpiNs, ranksNs)} of ranks\u2019 time` : "" },
    { name: "Longest call", value: longest ? duration(longest.maxNs) : "\u2013", note: longest?.name ?? "" },
    { name: "Lost", value: missing === 0 ? "no call" : counted(missing, "call", "calls"), note: missing > 0 ? `${share(missing, missing + totals.calls + totals.polls)} of all` : "" },
    clocks(run),
  ];
}

/** How well the clocks of the hosts agree: the worst of them. */
function clocks(run: RunState): Figure {
  if (run.nodes.size <= 1) return { name: "Clocks", value: "one", note: "" };
  const worst = [...run.nodes.values()].reduce((found, node) => (node.clockUncertaintyNs > found.clockUncertaintyNs ? node : found));
  if (!Number.isFinite(worst.clockUncertaintyNs)) return { name: "Clocks", value: over(run) ? "not compared" : "not yet compared", note: nodeName(run, worst.node) };
  return { name: "Clocks", value: `\u00b1 ${duration(worst.clockUncertaintyNs)}`, note: `at worst, ${nodeName(run, worst.node)}` };
}

/** The region with the slowest messages; the first one where that is not known. */
export function worstCourse(courses: readonly Course[]): Course | null {
  return courses.reduce<Course | null>((found, course) => ((course.latency ?? -1) > (found?.latency ?? -1) ? course : found), null) ?? courses[0] ?? null;
}

/** Up to here messages take about as long as expected. */
const ABOUT_EXPECTED = 1.05;

export interface Pair { a: Region; b: Region; between: Between }

/** The two regions between which messages are slowest, if they are slower than those inside of the worst or nothing is known of these. */
export function slowestPair({ regions, between }: Regions, [worst]: readonly Region[]): Pair | null {
  const inside = worst?.latency ?? null;
  const than = inside === null ? 0 : Math.max(ABOUT_EXPECTED, inside);
  const [slowest] = between.filter(({ latency }) => (latency ?? 0) > than).sort((one, other) => (other.latency ?? 0) - (one.latency ?? 0));
  const [a, b] = [slowest?.a, slowest?.b].map((wanted) => regions.find(({ id }) => id === wanted));
  return slowest && a && b ? { a, b, between: slowest } : null;
}

/** Heads the worst regions, by latency. */
export function slowestWords(worst: readonly Region[], regionCount: number, pair: Pair | null): string {
  const all = counted(regionCount, "region", "regions");
  if (pair) return (pair.between.latency ?? 0) > ABOUT_EXPECTED ? `${all}, slowest between two` : `${all}, none slower than expected between them`;
  const isKnown = worst.some(({ latency }) => latency !== null);
  if (!isKnown) return `${all}, latency not known`;
  if (worst.every(({ latency }) => (latency ?? 0) <= ABOUT_EXPECTED)) return `${all}, none slower than expected inside`;
  return `${worst.length < regionCount ? `the slowest ${worst.length} of ` : ""}${all} of ranks`;
}
