// Hangs of a job, and the calls that ranks were in when it ended. Checked and bounded.

import { bounded, FeedError, type Fields, fields, isNatural, list, natural, number, text } from "./columns";
import type * as Wire from "./types";

export interface HangSentence { text: string; ranks: readonly number[] }
export interface HangCall { rank: number; thread: number; call: string; place: string; sinceNs: number }
export interface Hang {
  kind: Wire.HangKind;
  sinceNs: number;
  /** Null where nothing moved again. */
  untilNs: number | null;
  sentences: readonly HangSentence[];
}

export interface Hangs {
  count: number;
  /** The newest, oldest first. */
  newest: readonly Hang[];
  endedIn: readonly HangCall[];
  endedInCount: number;
}

/** More than any daemon sends. */
const HANGS_MAX = 1024;
const SENTENCES_MAX = 4096;
const RANKS_MAX = 4096;
const CALLS_MAX = 4096;

export function hangs(from: Fields<Wire.Hangs>): Hangs {
  return {
    count: natural(from, "count"),
    newest: bounded("stills", list(from, "stills"), HANGS_MAX).map((entry) => hang(fields(entry, "A hang"))),
    endedIn: bounded("ended_in", list(from, "ended_in"), CALLS_MAX).map((entry) => call(fields(entry, "A call that did not return"))),
    endedInCount: natural(from, "ended_in_count"),
  };
}

function hang(from: Fields<Wire.Hang>): Hang {
  const { kind } = from;
  if (kind !== "deadlock" && kind !== "gone" && kind !== "waits") throw new FeedError("The job hung in a way that this page does not know.");
  return {
    kind,
    sinceNs: number(from, "since_s") * 1e9,
    untilNs: from.until_s === null || from.until_s === undefined ? null : number(from, "until_s") * 1e9,
    sentences: bounded("sentences", list(from, "sentences"), SENTENCES_MAX).map((entry) => sentence(fields(entry, "A sentence"))),
  };
}

function sentence(from: Fields<Wire.HangSentence>): HangSentence {
  const ranks = bounded("ranks", list(from, "ranks"), RANKS_MAX);
  if (!ranks.every(isNatural)) throw new FeedError('The list "ranks" holds something that is not a rank.');
  return { text: text(from, "text"), ranks };
}

function call(from: Fields<Wire.HangCall>): HangCall {
  return { rank: natural(from, "rank"), thread: natural(from, "thread"), call: text(from, "call"), place: text(from, "place"), sinceNs: number(from, "since_s") * 1e9 };
}
