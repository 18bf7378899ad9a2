// What was found, in words: the line under the header, and the names of causes, parts and efficiency figures. Pure. The
// sentences about the run itself are the daemon's.

import type { Attribution, Blame, By, Cause, Efficiency, FindingsReport, Diagnosis, Parts, Quiet, RangeVerdict, Verdict, Wait } from "../feed/found";
import type { Part } from "../palette/causes";
import type { RangeFigures } from "../state/range-budgets";
import { edgeNs, over, type RunState } from "../state/run";
import { clock, counted, duration, share, unbroken } from "./index";
import { ranksWords } from "./regions";
import { span } from "./time";

export const CAUSE_NAMES: Readonly<Record<Cause, string>> = {
  mapping: "placement", pattern: "load imbalance", background: "network contention", cpu: "CPU contention", none: "no cause",
};

export const CAUSE_MEANINGS: Readonly<Record<Blame, string>> = {
  mapping: "ranks that communicate are on different nodes",
  pattern: "some ranks have more work, and others wait for them",
  background: "other jobs use the network, and messages are slower",
  cpu: "ranks are runnable but wait for a CPU",
};

/** Seconds as the page says durations. */
export function seconds(value: number): string {
  return value === 0 ? "0 s" : duration(value * 1e9).replace("-", "\u2212");
}

/** From 0 to 1, as a percentage; a share of nothing is a dash. */
export function part(value: number): string {
  return Number.isFinite(value) ? share(Math.max(0, value), 1) : "\u2013";
}

export interface VerdictLine {
  /** Null while nothing was diagnosed. */
  cause: Cause | null;
  /** What it is about, where that is a part of the run; else empty. */
  about: string;
  sentence: string;
  /** What to know beside it, each without a full stop. */
  notes: readonly string[];
}

const WHOLE = "of the whole run";
/** The page shows how far the analysis is behind if it is more than this. */
const BEHIND_NS = 5e9;

/** `figures`: those of the selection, with the verdict on it. */
export function verdictLine(run: RunState, figures: RangeFigures = { kind: "none" }): VerdictLine {
  const { found } = run;
  const nothing = (sentence: string): VerdictLine => ({ cause: null, about: "", sentence, notes: [] });
  if (!found) {
    if (run.job.source === "replay") return nothing("There is no verdict in this recording.");
    if (over(run)) return nothing("The job ended before the first verdict.");
    return nothing("No verdict yet: the first windows are not complete.");
  }
  if (!isSettled(found)) return nothing(`No verdict ${over(run) ? "so far" : "yet"}: expected transfer times are not known yet.`);
  const { verdict } = found.diagnosis;
  const notes: string[] = [];
  const ofPart = partVerdict(figures);
  if (ofPart) return { cause: ofPart.cause, about: aboutPart(figures), sentence: unbrokenShares(ofPart.sentence), notes: [`whole run: ${inShort(verdict)}`] };
  const when = diagnosedWhen(run, found);
  notes.push(...when);
  if (figures.kind !== "none" && !when.includes(WHOLE)) notes.push(WHOLE);
  const left = leftOut(found);
  if (left) notes.push(left);
  const cause = isWithheld(verdict) ? null : verdict.cause;
  return { cause, about: "", sentence: unbrokenShares(found.headline), notes };
}

/** The verdict on the selected part; null where there is none. */
export function partVerdict(figures: RangeFigures): RangeVerdict | null {
  return figures.kind === "known" ? figures.budget.verdict : null;
}

/** Which part of the run a verdict is about. */
function aboutPart(figures: RangeFigures): string {
  if (figures.kind !== "known") return "";
  const { budget: { fromNs, toNs }, scope: { rangeNs, ranks } } = figures;
  const range = rangeNs ? `Selected ${unbroken(`${clock(fromNs, 2)} to ${clock(toNs, 2)}`)}` : "Selected";
  return `${range}${ranks ? `${rangeNs ? "," : ""} ${ranksWords(ranks, 2)}` : ""}:`;
}

function inShort({ cause, share: ofTime }: Verdict): string {
  return cause === "none" ? "no avoidable time above 2\u00a0%" : `${Math.round(100 * ofTime)}\u00a0% avoidable, ${CAUSE_NAMES[cause]}`;
}

/** A number stays on one line with its sign. */
function unbrokenShares(sentence: string): string {
  return sentence.replaceAll(" %", "\u00a0%");
}

/** A headline cut behind how sure it is, where that is explained; the second piece is empty where it says nothing of it. */
export function cutAtConfidence(sentence: string): [upTo: string, rest: string] {
  const found = /\d+[\s\u00a0]%[\s\u00a0]sure|confidence[\s\u00a0]\d+[\s\u00a0]%/.exec(sentence);
  const at = found ? found.index + found[0].length : -1;
  return at < 0 ? [sentence, ""] : [sentence.slice(0, at), sentence.slice(at)];
}

/** Whether there is anything to say of it. */
export function isSettled(found: FindingsReport): boolean {
  return found.headline !== "" && found.untilS > found.fromS;
}

/** Whether the recording supports no verdict. */
export function isWithheld({ basis }: Verdict): boolean {
  return basis !== "whole" && basis !== "part";
}

function diagnosedWhen(run: RunState, found: FindingsReport): string[] {
  // Of anything else the sentence says what it is about.
  if (found.isFinal) return found.diagnosis.verdict.basis === "whole" ? [WHOLE] : [];
  if (over(run)) return ["from the live analysis, not final"];
  const untilNs = found.untilS * 1e9;
  const behindNs = edgeNs(run) - untilNs;
  return behindNs > BEHIND_NS ? [`analysis ${Math.round(behindNs / 1e9)}\u00a0s behind`] : [];
}

/** Where the diagnosis begins, and why not earlier; empty when all was diagnosed. */
export function leftOut({ fromS, leftOutCalls }: FindingsReport): string {
  const calls = leftOutCalls > 0 ? `${unbroken(counted(leftOutCalls, "call", "calls"))} came faster than they could be analysed` : "";
  if (fromS <= 0) return calls;
  return `analysed from ${unbroken(fromS < 120 ? seconds(fromS) : span(fromS * 1e9))} on${calls && `: before that ${calls}`}`;
}

/** Less than this part of a cause's cost is measured call by call: the rest is found by replay. */
const MEASURED = 0.5;

/** Where the verdict's cost is more than parts of the time in MPI show of it: what views of those parts say. Null elsewhere. */
export function replayNote({ verdict, budget }: Diagnosis): string | null {
  const { cause, avoidableS } = verdict;
  if ((cause !== "background" && cause !== "mapping") || isWithheld(verdict) || !(avoidableS > 0)) return null;
  const { waitingBy: by } = budget;
  const measuredS = cause === "background" ? budget.excessS + Math.max(0, by.excess) : budget.distanceS + Math.max(0, by.distance);
  if (measuredS >= MEASURED * avoidableS) return null;
  return `Of the whole run\u2019s time in these parts, ${unbroken(seconds(avoidableS))} is what the verdict calls ${CAUSE_NAMES[cause]}: found by replay, not measured call by call.`;
}

/** A sentence cut at its backquotes: every second piece is something to type. */
export function pieces(sentence: string): { text: string; isCommand: boolean }[] {
  return sentence.split("`").map((text, at) => ({ text, isCommand: at % 2 === 1 })).filter(({ text }) => text !== "");
}

export interface Row {
  part: Part;
  name: string;
  title: string;
  seconds: number;
}

/** What time in MPI was made of. */
export function budgetRows(budget: Parts): Row[] {
  const row = (name: string, part: Part, value: number, title: string): Row => ({ name, part, seconds: value, title });
  return [
    row("waiting for others", "waiting", budget.waitingS, "Until the message was sent, its receive was posted, or the others had entered the collective"),
    row("expected transfer time", "base", budget.baseS, "Expected time of messages of that size within a node"),
    row("inter-node cost", "distance", budget.distanceS, "Expected extra time of messages between nodes"),
    row("slower than expected", "excess", budget.excessS, "Time above the expected transfer time"),
    row("collective operations", "operation", budget.operationS, "In collectives, once all who were awaited had entered"),
    row("waiting for a CPU in MPI", "cpuWait", budget.cpuWaitS, "A rank was runnable inside MPI, but another program or rank used the CPU"),
    row("other MPI calls", "other", budget.otherS - budget.cpuWaitS, "Calls that transfer nothing, such as MPI_Init, calls whose messages had arrived before, and calls on windows, on files and among neighbours, whose waiting is not told apart"),
    row("unknown", "unknown", budget.unknownS, "Where records are missing, or the other side of a message was never seen"),
  ];
}

/** What those who were waited for were doing meanwhile. Parts may be negative. */
export function waitingRows(by: By): Row[] {
  const row = (name: string, part: Part, value: number, title: string): Row => ({ name, part, seconds: value, title });
  return [
    row("they were computing", "compute", by.compute - by.cpuWait, "Work outside MPI of those who were waited for, or of whoever they waited for themselves"),
    row("they waited for a CPU", "cpuWait", by.cpuWait, "They were runnable, but another program or rank used the CPU"),
    row("expected transfer time", "base", by.base, "Expected time of messages within a node"),
    row("inter-node cost", "distance", by.distance, "Expected extra time of messages between nodes"),
    row("slower than expected", "excess", by.excess, "Time above the expected transfer time"),
    row("collective operations", "operation", by.operation, "Collectives, once all who were awaited had entered"),
    row("other MPI calls", "other", by.other, "Calls that transfer nothing"),
    row("unknown", "unknown", by.unknown, "Where records are missing, or the other side of a message was never seen"),
  ];
}

/** What was waited for longest. */
export function mostWaitedFor(by: By): Row {
  return waitingRows(by).reduce((most, row) => (row.seconds > most.seconds ? row : most));
}

/** A part in one phrase. */
export function pieceWords({ name, seconds: value }: Row): string {
  return `${name} ${seconds(value)}`;
}

export interface Factor {
  key: keyof Efficiency;
  name: string;
  /** What the figure is of, to be read after it. */
  reads: string;
  /** What brings it below 100 %. */
  explains: string;
  title: string;
}

/** The figures that are multiplied; the first is what comes out. */
export const FACTORS: Readonly<Record<keyof Efficiency, Factor>> = {
  parallel: { key: "parallel", name: "parallel efficiency", reads: "of the ranks\u2019 time is computing", explains: "The rest is MPI and idle time: the product of what follows.", title: "Computing, of all the ranks\u2019 time: load balance times communication" },
  loadBalance: { key: "loadBalance", name: "load balance", reads: "of the busiest rank\u2019s work is done on average", explains: "Below 100\u00a0% where some ranks have more work than others.", title: "How evenly computing is spread: 100 % when all ranks compute equally long" },
  communication: { key: "communication", name: "communication", reads: "of the run the busiest rank computes", explains: "Below 100\u00a0% where even the busiest rank stands in MPI.", title: "What MPI leaves of the run to the rank that computes most: serialization times transfer" },
  serialization: { key: "serialization", name: "serialization", reads: "is left after ranks wait for each other\u2019s turn", explains: "Below 100\u00a0% where ranks depend on each other in turn.", title: "What would be left if data moved in no time: below 100 % because ranks depend on each other in turn" },
  transfer: { key: "transfer", name: "transfer", reads: "is left after data has to move", explains: "Below 100\u00a0% where messages are many, large or slow.", title: "What the run would take if nothing had to be transferred, of what it takes" },
};

/** A run in which nothing was computed yet has no efficiency. */
export function isKnown(efficiency: Efficiency): boolean {
  return efficiency.parallel > 0;
}

/** One wait of the evidence. */
export function waitWords({ waiter, awaited, function: name, seconds: long }: Wait): string {
  return `rank ${waiter} for rank ${awaited} in ${name}, ${seconds(long)}`;
}

/** A stretch of the run, with the share of its ranks' time that could be avoided. */
export function stretchWords(stretch: Attribution, avoidable: number): string {
  const when = `${clock(stretch.fromS * 1e9, 1)} to ${clock(stretch.toS * 1e9, 1)}`;
  if (stretch.cause === "none") return `${when}: nothing stands out`;
  return `${when}: ${CAUSE_NAMES[stretch.cause]}, ${seconds(stretch.avoidableS)} avoidable, ${part(avoidable)} of the ranks\u2019 time, confidence ${stretch.confidence.toFixed(2)}`;
}

/** How much network contention there was in a stretch; nothing where it was quiet. */
export function networkWords(stretch: Attribution, quiet: readonly Quiet[]): string | null {
  const there = quiet.filter(({ isQuiet, fromS, toS }) => !isQuiet && fromS < stretch.toS && toS > stretch.fromS);
  const slower = Math.max(0, ...there.map((each) => each.slower));
  return there.length > 0 ? `messages took ${slower.toFixed(1)} times as long as when the network was quietest` : null;
}

/** What the known names mean; one that is not known here speaks for itself. */
export const STATE_MEANINGS: Readonly<Record<string, string>> = {
  "late sender": "The receive was ready before its message was sent",
  "late receiver": "The send was ready before its receive was posted",
  "wait at barrier": "Others had not reached the barrier",
  "wait at n-to-n": "All wait for the last of all to enter the collective",
  "late broadcast": "The root had not entered the collective",
  "early reduce": "The root entered before those whose data it needs",
  "wait in scan": "Ranks before had not entered the scan",
};
