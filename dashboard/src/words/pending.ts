// Messages in flight in words: how many, how large, since when; what a group of ranks is called; what is not counted. Pure.

import { NONE } from "../feed/calls";
import type { PendingEdges, PendingGroups, PendingMessages } from "../feed/pending";
import type { RunState } from "../state/run";
import { nodeName } from "./hosts";
import { bytes, capital, clock, count, counted, duration, unbroken } from "./index";

export type Grouping = "node" | "region" | "rank";

/** Digits behind the second: messages take microseconds. */
const DIGITS = 6;

function isPart({ firstKey, lastKey, length }: PendingGroups, at: number): boolean {
  const key = firstKey[at];
  return key === lastKey[at] && ((at > 0 && lastKey[at - 1] === key) || (at + 1 < length && firstKey[at + 1] === key));
}

function keyName(key: number, by: Grouping, run: RunState): string {
  if (by === "node") return nodeName(run, key);
  return key === NONE ? "no region" : `region ${key}`;
}

/** "node1–16": the common beginning of both names is not repeated. */
function fromTo(first: string, last: string): string {
  const [, stem = "", number = ""] = /^(.*?)(\d+)$/.exec(last) ?? [];
  return `${first}\u2013${stem !== "" && first.startsWith(stem) ? number : last}`;
}

function span(first: number, last: number): string {
  return first === last ? String(first) : `${first}\u2013${last}`;
}

/** The short name of a group: "7", "0–15", "node3". */
export function groupLabel(groups: PendingGroups, at: number, by: Grouping, run: RunState): string {
  const [first, last] = [groups.firstKey[at] ?? 0, groups.lastKey[at] ?? 0];
  const isRanks = groups.ranks[at] === 1 || by === "rank" || isPart(groups, at);
  if (isRanks) return span(groups.firstRank[at] ?? 0, groups.lastRank[at] ?? 0);
  return first === last ? keyName(first, by, run) : fromTo(keyName(first, by, run), keyName(last, by, run));
}

/** In a sentence: "rank 7", "ranks 0–15", "node3 (32 ranks)". */
export function groupWords(groups: PendingGroups, at: number, by: Grouping, run: RunState): string {
  const label = groupLabel(groups, at, by, run);
  const ranks = groups.ranks[at] ?? 0;
  if (ranks === 1) return `rank ${label}`;
  const numbers = (groups.lastRank[at] ?? 0) - (groups.firstRank[at] ?? 0) + 1;
  if (/^\d/.test(label) && (by === "rank" || isPart(groups, at))) return numbers === ranks ? `ranks ${label}` : `${counted(ranks, "rank", "ranks")} of ${label}`;
  return `${label} (${counted(ranks, "rank", "ranks")})`;
}

/** "3 messages, 12.0 KiB, oldest 4.20 ms". */
export function edgeLabel({ edges, atNs }: PendingMessages, edge: number): string {
  const age = duration(atNs - (edges.sinceNs[edge] ?? 0));
  return `${counted(edges.messages[edge] ?? 0, "message", "messages")}, ${bytes(edges.bytes[edge] ?? 0)}, oldest ${age}`;
}

export function edgeTitle({ groups, edges }: PendingMessages, edge: number, by: Grouping, run: RunState): string {
  const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
  const name = (at: number): string => groupWords(groups, at, by, run);
  return from === to ? `Within ${name(from)}` : capital(`${name(from)} to ${name(to)}`);
}

/** The oldest message of an edge, and when it was sent. */
export function oldestWords(edges: PendingEdges, edge: number): string {
  return `rank ${edges.src[edge] ?? 0} to ${edges.dst[edge] ?? 0}, ${bytes(edges.oldestBytes[edge] ?? 0)}, sent ${clock(edges.sinceNs[edge] ?? 0, DIGITS)}`;
}

export interface PendingWords { title: string; facts: string; missing: string }

/** `isSelected`: only messages from or to some ranks are counted. */
export function pendingWords(pending: PendingMessages, run: RunState, isSelected: boolean): PendingWords {
  const { atNs, messages, edges, oldest } = pending;
  const moment = unbroken(clock(atNs, DIGITS));
  const least = pending.isPartial ? "At least " : "";
  const whose = isSelected ? " from or to the selected ranks" : "";
  const title = messages === 0 && !pending.isPartial
    ? `No message${whose} is in flight at ${moment}`
    : `${least}${counted(messages, "message", "messages")}${whose} in flight at ${moment}`;
  const age = oldest < 0 ? "" : `; the oldest for ${duration(atNs - (edges.sinceNs[oldest] ?? 0))}: ${oldestWords(edges, oldest)}`;
  return { title, facts: messages === 0 ? "" : `${bytes(pending.bytes)}${age}`, missing: missingWords(pending, run) };
}

/** What is not drawn, and what is not counted. */
function missingWords(pending: PendingMessages, run: RunState): string {
  const found: string[] = [];
  if (pending.edgesLeftOut > 0) {
    found.push(`${counted(pending.messagesLeftOut, "message", "messages")} of ${counted(pending.edgesLeftOut, "pair", "pairs")} are not drawn.`);
  }
  if (pending.isPartial) found.push("Too many messages span this moment to read all.");
  if (pending.unreceived > 0) found.push(`${count(pending.unreceived)} without a receive so far.`);
  const uncounted = pending.leftOutSends ?? run.totals.unmatchedSends;
  if (uncounted > 0) found.push(`Not counted: ${counted(uncounted, "send", "sends")} without a receive.`);
  return found.join(" ");
}

/** What to do where nothing is in flight. */
export function emptyAdvice(run: RunState, isSelected: boolean): string {
  if (run.totals.messages === 0 && run.totals.unmatchedSends === 0) return "The run has sent no message from rank to rank so far.";
  return isSelected ? "Choose all ranks, or another moment." : "Go to another moment: play, drag the cursor, or go from call to call with , and .";
}

/** The node or region of a group. */
export function keyLabel(groups: PendingGroups, at: number, by: Grouping, run: RunState): string {
  return by === "rank" ? "" : keyName(groups.firstKey[at] ?? 0, by, run);
}
