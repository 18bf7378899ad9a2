// Regions, ranks and the traffic between them, in words: tooltips and the inspector say the same in the same order. Pure.

import { delayedMeaning, delayedOf } from "../state/delayed";
import type { Pairs, RankRange, Region, Regions } from "../feed/regions";
import type { RunState } from "../state/run";
import type { Place } from "../state/store";
import { bytes, count, counted, share, significant } from "./index";
import { nodeName, rankRanges } from "./hosts";
import { spanWords } from "./range";

/** A thing of the graph or the matrix. */
export type Target = { kind: "rank"; rank: number } | Place;
export type Row = readonly [name: string, value: string, note: string];
export interface TipText { title: string; rows: readonly Row[] }

const PARTNERS_NAMED = 3;
const NODES_NAMED = 2;

/** "0–15", "7", "0–3, 8–11", "0–3, 8–11, … (16 ranks)". */
export function rangesShort(ranges: readonly RankRange[], most = 2): string {
  const words = ranges.slice(0, most).map(([first, last]) => (first === last ? String(first) : `${first}\u2013${last}`)).join(", ");
  return ranges.length <= most ? words : `${words}, \u2026 (${counted(sizeOf(ranges), "rank", "ranks")})`;
}

/** With their word: "ranks 0–15", "rank 7". */
export function ranksWords(ranges: readonly RankRange[], most = 4): string {
  return `${sizeOf(ranges) === 1 ? "rank" : "ranks"} ${rangesShort(ranges, most)}`;
}

export function sizeOf(ranges: readonly RankRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** L with its digits, or that it is not known. */
export function latencyWords(latency: number | null): string {
  return latency === null || Number.isNaN(latency) ? "not known" : significant(latency);
}

/** Why the latency of a region is not known. */
export function whyNoLatency({ messages }: Region): string {
  return messages === 0 ? "no messages inside" : latencyMeaning(null);
}

/** What a latency means. */
export function latencyMeaning(latency: number | null): string {
  if (latency === null || Number.isNaN(latency)) return "no message with an exact transfer time, or nothing to compare it with";
  if (latency < 0.995) return "messages are faster than expected for their size";
  if (latency < 1.005) return "as expected for the size of the messages";
  return `messages take ${significant(latency)} times as long as expected for their size`;
}

export function regionOfRank(regions: Regions, rank: number): Region | null {
  return regions.regions.find(({ ranks }) => ranks.some(([first, last]) => rank >= first && rank <= last)) ?? null;
}

export function sameTarget(one: Target | null, other: Target | null): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf(target: Target | null): string {
  switch (target?.kind) {
    case "rank": return `rank ${target.rank}`;
    case "region": return `region ${target.id}`;
    case "between": return `between ${Math.min(target.a, target.b)} ${Math.max(target.a, target.b)}`;
    case "pair": return `pair ${target.src} ${target.dst}`;
    default: return "";
  }
}

/** Null when it is not there any more. */
export function tell(target: Target, run: RunState): TipText | null {
  const { regions, pairs } = run;
  if (!regions) return null;
  switch (target.kind) {
    case "rank": return rankTold(target.rank, run, regions);
    case "region": {
      const region = regions.regions.find(({ id }) => id === target.id);
      return region ? regionTold(region, run, regions) : null;
    }
    case "between": return betweenTold(target.a, target.b, run, regions);
    case "pair": return pairs ? pairTold(target.src, target.dst, run, regions, pairs) : null;
  }
}

function regionTold(region: Region, run: RunState, regions: Regions): TipText {
  const size = sizeOf(region.ranks);
  const partners = regions.between.filter(({ a, b }) => a === region.id || b === region.id).sort((one, other) => other.messages - one.messages);
  const named = partners.slice(0, PARTNERS_NAMED).map(({ a, b }) => rangesShort(regions.regions.find(({ id }) => id === (a === region.id ? b : a))?.ranks ?? [])).join("; ");
  const rest = partners.length - Math.min(partners.length, PARTNERS_NAMED);
  return {
    title: `Region of ${ranksWords(region.ranks)}`,
    rows: [
      ["Ranks", count(size), nodesWords(region.ranks, run)],
      ["Latency L", latencyWords(region.latency), region.latency === null ? whyNoLatency(region) : `mean of the exact messages inside, ${share(region.exactShare, 1)} of all`],
      delayedRow(region, run),
      ["Messages", count(region.messages), "inside the region"],
      ["Talks to", partners.length === 0 ? "no other" : counted(partners.length, "region", "regions"), named && `${rest > 0 ? "most with " : ""}ranks ${named}`],
    ],
  };
}

function rankTold(rank: number, run: RunState, regions: Regions): TipText {
  const region = regionOfRank(regions, rank);
  const partners = run.pairs ? partnersOf(run.pairs, rank) : [];
  const messages = partners.reduce((sum, row) => sum + row.messages, 0);
  return {
    title: `Rank ${rank}`,
    rows: [
      ["Node", run.ranks.heard[rank] === 1 ? nodeName(run, run.ranks.node[rank] ?? 0) : "not heard yet", ""],
      ["Region", region ? rangesShort(region.ranks) : "in none", ""],
      ["Latency L", latencyWords(meanLatency(partners)), knownWords(partners, messages)],
      ["Messages", count(messages), bytes(partners.reduce((sum, row) => sum + row.bytes, 0))],
      ["Talks to", counted(partners.length, "rank", "ranks"), partnersWords(partners)],
    ],
  };
}

function betweenTold(a: number, b: number, run: RunState, regions: Regions): TipText | null {
  const row = regions.between.find((each) => (each.a === a && each.b === b) || (each.a === b && each.b === a));
  const [one, other] = [a, b].map((id) => regions.regions.find((region) => region.id === id));
  if (!one || !other) return null;
  const title = `Between ranks ${rangesShort(one.ranks)} and ${rangesShort(other.ranks)}`;
  if (!row) return { title, rows: [["Messages", "none", ""]] };
  return {
    title,
    rows: [
      ["Latency L", latencyWords(row.latency), row.latency === null ? latencyMeaning(null) : "mean of the exact messages, both ways"],
      delayedRow(row, run),
      ["Messages", count(row.messages), "both ways"],
    ],
  };
}

function pairTold(src: number, dst: number, run: RunState, regions: Regions, pairs: Pairs): TipText {
  const sameNode = run.ranks.node[src] === run.ranks.node[dst];
  const known = run.ranks.heard[src] === 1 && run.ranks.heard[dst] === 1;
  const [one, other] = [regionOfRank(regions, src), regionOfRank(regions, dst)];
  const where = known ? (sameNode ? `both on ${nodeName(run, run.ranks.node[src] ?? 0)}` : `${nodeName(run, run.ranks.node[src] ?? 0)} and ${nodeName(run, run.ranks.node[dst] ?? 0)}`) : "not known";
  const rows: Row[] = [
    ["Nodes", where, ""],
    ["Regions", one === other ? "the same" : `ranks ${rangesShort(one?.ranks ?? [])} and ${rangesShort(other?.ranks ?? [])}`, ""],
  ];
  for (const [from, to] of [[src, dst], [dst, src]] as const) {
    const sent = sumOf(pairs, from, to);
    rows.push([`${from} to ${to}`, sent ? counted(sent.messages, "message", "messages") : "nothing", sent ? `${bytes(sent.bytes)}, L ${latencyWords(sent.latency)}` : ""]);
  }
  return { title: `Ranks ${src} and ${dst}`, rows };
}

function delayedRow(region: Counted, run: RunState): Row {
  if (region.latency === null) return ["Delayed", "not known", ""];
  return ["Delayed", delayedShare(region), `${counted(delayedOf(region), "message", "messages")}, of the exact ones: they took ${delayedMeaning(run.evolution?.hasNormal ?? true)}`];

}

type Counted = Pick<Region, "latency" | "exactShare" | "messages" | "delayed" | "aboveExpected">;

/** The share of delayed messages among the exact ones: of the others nobody knows how long they took. The same in all views. */
export function delayedShare(region: Counted): string {
  return region.latency === null ? "\u2013" : share(delayedOf(region), region.exactShare * region.messages) || "0";
}

function nodesWords(ranges: readonly RankRange[], run: RunState): string {
  const nodes = new Set<number>();
  for (const [first, last] of ranges) {
    for (let rank = first; rank <= Math.min(last, run.ranks.length - 1); rank++) if (run.ranks.heard[rank] === 1) nodes.add(run.ranks.node[rank] ?? 0);
  }
  if (nodes.size === 0) return "";
  return nodes.size <= NODES_NAMED ? `on ${[...nodes].map((node) => nodeName(run, node)).join(" and ")}` : `on ${counted(nodes.size, "node", "nodes")}`;
}

interface Partner { rank: number; messages: number; bytes: number; known: number; weighted: number }

/** Whom a rank sends to or receives from, the most messages first. */
export function partnersOf(pairs: Pairs, rank: number): Partner[] {
  const found = new Map<number, Partner>();
  for (let at = 0; at < pairs.src.length; at++) {
    const [src, dst] = [pairs.src[at] ?? 0, pairs.dst[at] ?? 0];
    if (src !== rank && dst !== rank) continue;
    const other = src === rank ? dst : src;
    let row = found.get(other);
    if (!row) found.set(other, (row = { rank: other, messages: 0, bytes: 0, known: 0, weighted: 0 }));
    const messages = pairs.messages[at] ?? 0;
    const latency = pairs.latency[at] ?? Number.NaN;
    row.messages += messages;
    row.bytes += pairs.bytes[at] ?? 0;
    if (Number.isNaN(latency)) continue;
    const exact = pairs.exact[at] ?? 0;
    row.known += exact;
    row.weighted += exact * latency;
  }
  return [...found.values()].sort((one, other) => other.messages - one.messages || one.rank - other.rank);
}

function meanLatency(rows: readonly Partner[]): number | null {
  const known = rows.reduce((sum, row) => sum + row.known, 0);
  return known > 0 ? rows.reduce((sum, row) => sum + row.weighted, 0) / known : null;
}

function knownWords(partners: readonly Partner[], messages: number): string {
  const known = partners.reduce((sum, row) => sum + row.known, 0);
  if (known === 0) return latencyMeaning(null);
  return `mean of the exact messages, ${share(known, messages)} of all`;
}

function partnersWords(partners: readonly Partner[]): string {
  if (partners.length === 0) return "";
  const named = partners.slice(0, PARTNERS_NAMED).map(({ rank }) => count(rank)).join(", ");
  return partners.length > PARTNERS_NAMED ? `most with ${named}` : named;
}

function sumOf(pairs: Pairs, from: number, to: number): { messages: number; bytes: number; latency: number } | null {
  for (let at = 0; at < pairs.src.length; at++) {
    if (pairs.src[at] === from && pairs.dst[at] === to) return { messages: pairs.messages[at] ?? 0, bytes: pairs.bytes[at] ?? 0, latency: pairs.latency[at] ?? Number.NaN };
  }
  return null;
}

/** What the regions are, in a line. */
export function regionsLine(regions: Regions, pairs: Pairs | null, drawn: { links: number; leftOut: number } | null): string {
  const many = regions.count;
  const parts = [many === 1
    ? "All ranks are one region."
    : `${counted(many, "region", "regions")} of ranks that communicate mostly with each other.`];
  if (many > regions.regions.length) parts.push(`The first ${count(regions.regions.length)} of them are shown.`);
  if (regions.regions.every(({ latency }) => latency === null)) {
    const what = regions.between.every(({ latency }) => latency === null) ? "No latency is known yet" : "Inside regions no latency is known";
    parts.push(`${what}: there are no messages with an exact transfer time, or nothing to compare them with.`);
  }
  if (regions.withCollectives) parts.push("Collectives count as traffic.");
  if (drawn && drawn.leftOut > 0) parts.push(`The ${count(drawn.links)} links with the most messages are drawn, ${count(drawn.leftOut)} are not.`);
  if (pairs && pairs.leftOut > 0) parts.push(`${counted(pairs.leftOut, "message", "messages")} of pairs with little traffic ${pairs.leftOut === 1 ? "is" : "are"} not shown.`);
  return parts.join(" ");
}

/** The range of the traffic by pairs. */
export function scopeLine(pairs: Pairs | null, isSelected: boolean): string {
  if (!pairs) return "Who sends to whom is being asked.";
  const range = spanWords([pairs.fromNs, pairs.toNs]);
  return `Regions are those of the whole run; links and pairs are of ${isSelected ? "the selected range" : "what arrived from"} ${range}.`;
}

/** Why there is nothing to see, and when there will be. */
export function nothingYet(run: RunState, isOver: boolean): { title: string; text: string } {
  if (run.regions) return { title: "No region", text: isOver ? "No rank sent a message that was recorded." : "No rank sent a message so far. Regions appear when ranks begin to talk." };
  if (isOver) return { title: "Who talks to whom is not known", text: "Nothing of it was recorded." };
  return { title: "Who talks to whom is not known yet", text: "The first regions of ranks appear some seconds after ranks begin to talk." };
}

/** A cell of many pairs. */
export function cellTold(senders: readonly number[], receivers: readonly number[], pairs: Pairs): TipText {
  const [from, to] = [new Set(senders), new Set(receivers)];
  let [many, messages, sent, known, weighted] = [0, 0, 0, 0, 0];
  for (let at = 0; at < pairs.src.length; at++) {
    if (!from.has(pairs.src[at] ?? 0) || !to.has(pairs.dst[at] ?? 0)) continue;
    many++;
    messages += pairs.messages[at] ?? 0;
    sent += pairs.bytes[at] ?? 0;
    const latency = pairs.latency[at] ?? Number.NaN;
    if (Number.isNaN(latency)) continue;
    known += pairs.exact[at] ?? 0;
    weighted += latency * (pairs.exact[at] ?? 0);
  }
  const name = (ranks: readonly number[]): string => rankRanges([...ranks].sort((a, b) => a - b));
  return {
    title: `${name(senders).replace(/^r/, "R")} to ${name(receivers)}`,
    rows: many === 0 ? [["Messages", "none", ""]] : [
      ["Messages", count(messages), `${counted(many, "pair", "pairs")} of ${count(senders.length * receivers.length)}`],
      ["Bytes", bytes(sent), ""],
      ["Latency L", latencyWords(known > 0 ? weighted / known : null), known > 0 ? `mean of the exact messages, ${share(known, messages)} of all` : ""],
    ],
  };
}
