// Whether a running job hangs: how many ranks are in which function since when, and which are in no call. Pure.

import type { HangCall, Hang } from "../feed/hangs";
import { edgeNs, over, type RunState } from "../state/run";
import { rankRanges } from "./hosts";
import { clock, counted } from "./index";
import { span } from "./time";

/** Calls that are in flight for less are nothing to speak of. */
const LONG_NS = 1e9;
/** How long there must be no call before the page mentions it. */
const QUIET_NS = 5e9;
/** No call for so long, while many ranks are inside one, may be a hang. */
const SUSPECT_NS = 10e9;
const SUSPECT_SHARE = 0.5;
const GROUPS_NAMED = 3;
/** More ranks than this outside of MPI are counted, not named. */
const OUTSIDE_NAMED = 16;
const LONGEST = 5;

export interface Group { name: string; ranks: readonly number[]; sinceNs: number }
export interface LongCall { rank: number; thread: number; name: string; sinceNs: number }

export interface QuietSpell {
  /** Calls are complete up to here. */
  edgeNs: number;
  /** When the newest call began that is known of; what follows is that no other did. */
  lastBeganNs: number;
  /** Ranks that run and are heard of. */
  ranks: number;
  /** Those in MPI by function, the most first; the time is when the first of them entered. */
  groups: readonly Group[];
  /** Those that are in no call. */
  outside: readonly number[];
  /** Not all calls in flight are listed, so who is in none is not known. */
  isCut: boolean;
  /** For a second or more, the longest first. */
  longest: readonly LongCall[];
}

/** Null while the job does not run, or nobody said what is in flight. */
export function quietSpell(run: RunState): QuietSpell | null {
  const { inFlight, ranks } = run;
  if (over(run) || run.job.state !== "running" || !inFlight) return null;
  const edge = edgeNs(run);
  const nameOf = (at: number): string => run.functions.get(inFlight.function[at] ?? -1)?.name ?? "a call";
  // A rank is where the last of its threads went: another one may wait all the time for work.
  const inside = new Map<number, { name: string; sinceNs: number }>();
  const longest: LongCall[] = [];
  let lastBeganNs = lastStartNs(run);
  for (let at = 0; at < inFlight.length; at++) {
    const rank = inFlight.rank[at] ?? 0;
    const sinceNs = inFlight.sinceNs[at] ?? 0;
    lastBeganNs = Math.max(lastBeganNs, sinceNs);
    if (longest.length < LONGEST && edge - sinceNs >= LONG_NS) longest.push({ rank, thread: inFlight.thread[at] ?? 0, name: nameOf(at), sinceNs });
    if (ranks.heard[rank] !== 1 || (ranks.state[rank] ?? 0) !== 0) continue;
    const known = inside.get(rank);
    if (!known || known.sinceNs < sinceNs) inside.set(rank, { name: nameOf(at), sinceNs });
  }
  const outside: number[] = [];
  let running = 0;
  for (let rank = 0; rank < ranks.length; rank++) {
    if (ranks.heard[rank] !== 1 || ranks.state[rank] !== 0) continue;
    running++;
    if (!inside.has(rank)) outside.push(rank);
  }
  const isCut = inFlight.length < inFlight.total;
  return { edgeNs: edge, lastBeganNs: Math.min(edge, lastBeganNs), ranks: running, groups: grouped(inside), outside: isCut ? [] : outside, isCut, longest };
}

function grouped(inside: ReadonlyMap<number, { name: string; sinceNs: number }>): Group[] {
  const found = new Map<string, { name: string; ranks: number[]; sinceNs: number }>();
  for (const [rank, { name, sinceNs }] of inside) {
    let group = found.get(name);
    if (!group) found.set(name, (group = { name, ranks: [], sinceNs }));
    group.ranks.push(rank);
    group.sinceNs = Math.min(group.sinceNs, sinceNs);
  }
  for (const { ranks } of found.values()) ranks.sort((one, other) => one - other);
  return [...found.values()].sort((one, other) => other.ranks.length - one.ranks.length || one.sinceNs - other.sinceNs);
}

/** The end of the last window in which a call began. */
function lastStartNs({ timeline: { windowNs, windows, counts } }: RunState): number {
  for (let window = windows - 1; window >= 0; window--) {
    for (const column of counts.values()) if ((column[window] ?? 0) > 0) return (window + 1) * windowNs;
  }
  return 0;
}

export function quietNs({ edgeNs: edge, lastBeganNs }: QuietSpell): number {
  return edge - lastBeganNs;
}

function inMpi({ groups }: QuietSpell): number {
  return groups.reduce((sum, { ranks }) => sum + ranks.length, 0);
}

/** Whether no call began for a while. */
export function isQuiet(spell: QuietSpell): boolean {
  return quietNs(spell) >= QUIET_NS;
}

export function isSuspect(spell: QuietSpell): boolean {
  return quietNs(spell) >= SUSPECT_NS && inMpi(spell) > 0 && inMpi(spell) >= SUSPECT_SHARE * spell.ranks;
}

/** Whether calls go on, in a sentence. */
export function quietSentence(spell: QuietSpell): string {
  const { groups, ranks, edgeNs: edge, lastBeganNs } = spell;
  if (!isQuiet(spell)) {
    const [first] = spell.longest;
    return first ? `Calls go on; the longest in flight is ${first.name} of rank ${first.rank}, for ${span(edge - first.sinceNs)}.` : "Calls go on, and none is in flight for a second.";
  }
  const since = `No call began for ${span(quietNs(spell))}, since ${clock(lastBeganNs, 1)}, polls apart`;
  if (groups.length === 0) return `${since}: ${ranks === 1 ? "the rank is" : `all ${counted(ranks, "rank is", "ranks are")}`} in no MPI call.`;
  const named = groups.slice(0, GROUPS_NAMED).map(({ name, ranks: own, sinceNs }, at) => {
    const many = at === 0 ? `${own.length} of ${counted(ranks, "rank", "ranks")} ${own.length === 1 ? "is" : "are"}` : String(own.length);
    return `${many} in ${name}, ${own.length === 1 ? "" : "the first "}for ${span(edge - sinceNs)}`;
  });
  const rest = groups.slice(GROUPS_NAMED).reduce((sum, group) => sum + group.ranks.length, 0);
  return `${since}: ${named.join("; ")}${rest > 0 ? `; ${rest} in others` : ""}${outsideWords(spell)}`;
}

/** Who is in no call; whether the others wait for them is a guess, and asked. */
function outsideWords({ outside, groups, isCut }: QuietSpell): string {
  if (isCut) return ". Not all calls in flight are listed, so who is in none is not known.";
  const inside = groups.reduce((sum, { ranks }) => sum + ranks.length, 0);
  if (outside.length === 0) return inside > 1 ? ". All are in MPI: do they wait for each other?" : ".";
  const who = outside.length <= OUTSIDE_NAMED ? rankRanges(outside) : counted(outside.length, "rank", "ranks");
  const question = outside.length < inside ? `: ${inside === 1 ? "does the other one wait" : "do the others wait"} for ${outside.length === 1 ? "it" : "them"}?` : ".";
  return `; ${who} ${outside.length === 1 ? "is" : "are"} in no MPI call${question}`;
}

/** The stretch that goes on, in which the daemon knows who waits for whom. */
export function stretchNow(run: RunState): Hang | null {
  const last = run.hangs?.newest.at(-1);
  return last && last.untilNs === null && !over(run) ? last : null;
}

/** The last hang, once it ended. */
export function stretchBefore(run: RunState): { sentence: string; stretch: Hang } | null {
  const { hangs } = run;
  const last = hangs?.newest.at(-1);
  if (!hangs || !last || stretchNow(run)) return null;
  const often = hangs.count > 1 ? `, the last of ${hangs.count} times` : "";
  const how = last.untilNs === null ? "to the end" : `for ${span(last.untilNs - last.sinceNs)}`;
  return { sentence: `The job hung from ${clock(last.sinceNs, 1)} on, ${how}${often}.`, stretch: last };
}

/** What ranks were in when their processes ended. */
export function endedWords(run: RunState): string {
  const count = run.hangs?.endedInCount ?? 0;
  return count === 0 ? "" : `When their processes ended, ranks were in ${counted(count, "call", "calls")} that had not returned.`;
}

export function endedCallWords({ call, place }: HangCall): string {
  return place === "" ? call : `${call} at ${place}`;
}

const SUSPICIONS = { deadlock: "The job hangs: ranks wait for each other.", gone: "The job hangs: ranks wait for a process that is gone.", waits: "" } as const;

/** The line under the header; empty while nothing is suspected. */
export function suspicion(run: RunState): string {
  const now = stretchNow(run);
  if (now && now.kind !== "waits") return SUSPICIONS[now.kind];
  const spell = quietSpell(run);
  if (!spell || !isSuspect(spell)) return "";
  return `The job may hang: no call began for ${span(quietNs(spell))}, and ${inMpi(spell)} of ${counted(spell.ranks, "rank", "ranks")} ${inMpi(spell) === 1 ? "is" : "are"} inside one.`;
}
