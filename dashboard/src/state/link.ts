// The deep link: what is looked at, in the hash of the address. Never the token.

import { isSetting } from "./arrangement";
import type { RankRanges, Span } from "./perspective";
import { RANGES_MAX, ranges, rangesText } from "./ranks";
import type { SelectionKey } from "./store";

export interface Place {
  /** The time at which the clock stands; null: it moves or is live. */
  timeNs: number | null;
  rangeNs: Span | null;
  zoomNs: Span | null;
  ranks: RankRanges | null;
  hidden: readonly number[];
  selection: SelectionKey | null;
  tab: string;
  settings: ReadonlyMap<string, string>;
}

/** Seconds with as many digits as are not zero. */
function seconds(ns: number): string {
  return String(Number((ns / 1e9).toFixed(9)));
}

export function toHash(place: Place): string {
  const parts: string[] = [];
  if (place.tab) parts.push(`tab=${place.tab}`);
  if (place.timeNs !== null) parts.push(`t=${seconds(place.timeNs)}`);
  if (place.rangeNs) parts.push(`range=${place.rangeNs.map(seconds).join("-")}`);
  if (place.zoomNs) parts.push(`zoom=${place.zoomNs.map(seconds).join("-")}`);
  if (place.ranks) parts.push(`ranks=${rangesText(place.ranks)}`);
  if (place.hidden.length > 0) parts.push(`off=${place.hidden.join(",")}`);
  if (place.selection) parts.push(`sel=${selectionText(place.selection)}`);
  for (const [name, word] of place.settings) parts.push(`${name}=${word}`);
  return parts.join("&");
}

export function fromHash(hash: string): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const time = nanoseconds(fields.get("t"));
  return {
    timeNs: time, rangeNs: span(fields.get("range")), zoomNs: span(fields.get("zoom")), tab: fields.get("tab") ?? "",
    ranks: ranges(fields.get("ranks") ?? ""), hidden: naturals(fields.get("off") ?? "", ","), selection: selection(fields.get("sel") ?? ""),
    settings: new Map([...fields].filter(([name, word]) => isSetting(name, word))),
  };
}

export function selectionText(kept: SelectionKey): string {
  switch (kept.kind) {
    case "rank":
      return `rank:${kept.rank}`;
    case "region":
      return `region:${kept.id}`;
    case "between":
      return `between:${kept.a}:${kept.b}`;
    case "pair":
      return `pair:${kept.src}:${kept.dst}`;
    case "moment":
      return `moment:${[kept.region, ...(kept.other === null ? [] : [kept.other]), kept.fromNs, kept.toNs].join(":")}`;
    case "site":
      return `site:${kept.site}`;
    case "message":
      return `message:${kept.src}:${kept.dst}:${kept.sendNs}`;
    case "call":
      return `call:${kept.rank}:${kept.thread}:${kept.startNs}`;
  }
}

function selection(text: string): SelectionKey | null {
  const [kind = "", ...rest] = text.split(":");
  const numbers = naturals(rest.join(":"), ":");
  const [one, two, three, four] = numbers;
  if (one === undefined) return null;
  if (kind === "rank") return { kind, rank: one };
  if (kind === "region") return { kind, id: one };
  if (kind === "site") return { kind, site: one };
  if (two === undefined) return null;
  if (kind === "between") return { kind, a: one, b: two };
  if (kind === "pair") return { kind, src: one, dst: two };
  if (three === undefined) return null;
  if (kind === "moment") return four === undefined ? { kind, region: one, other: null, fromNs: two, toNs: three } : { kind, region: one, other: two, fromNs: three, toNs: four };
  if (kind === "message") return { kind, src: one, dst: two, sendNs: three };
  return kind === "call" ? { kind, rank: one, thread: two, startNs: three } : null;
}

/** None where one of them is no such number. */
function naturals(text: string, between: string): number[] {
  if (text === "") return [];
  const all = text.split(between).map((word) => (/^\d{1,15}$/.test(word) ? Number(word) : -1));
  return all.length <= RANGES_MAX && all.every((each) => each >= 0) ? all : [];
}

function nanoseconds(text: string | null): number | null {
  if (text === null || !/^\d+(\.\d+)?$/.test(text)) return null;
  return Math.round(Number(text) * 1e9);
}

function span(text: string | null): Span | null {
  const [from, to, ...rest] = (text ?? "").split("-").map(nanoseconds);
  if (typeof from !== "number" || typeof to !== "number" || rest.length > 0 || !(from < to)) return null;
  return [from, to];
}
