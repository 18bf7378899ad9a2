// The deep link: what is looked at, in the hash of the address. Never the token.

import type { Span } from "./perspective";

export interface Place {
  /** The time at which the clock stands; null: it moves or is live. */
  timeNs: number | null;
  rangeNs: Span | null;
  zoomNs: Span | null;
  tab: string;
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
  return parts.join("&");
}

export function fromHash(hash: string): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const time = nanoseconds(fields.get("t"));
  return { timeNs: time, rangeNs: span(fields.get("range")), zoomNs: span(fields.get("zoom")), tab: fields.get("tab") ?? "" };
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
