// Hangs of a job, and the calls that ranks were in when it ended. Checked and bounded.

import { bounded, FeedError, type Fields, fields, isNatural, list, natural, number, text } from "./columns";
import type * as Wire from "./types";

export interface StillSentence { text: string; ranks: readonly number[] }
export interface StillCall { rank: number; thread: number; call: string; place: string; sinceNs: number }
export interface StillStretch {
  kind: Wire.StillKind;
  sinceNs: number;
  /** Null where nothing moved again. */
  untilNs: number | null;
  sentences: readonly StillSentence[];
}

export interface Standing {
  count: number;
  /** The newest, oldest first. */
  stills: readonly StillStretch[];
  endedIn: readonly StillCall[];
  endedInCount: number;
}

/** More than any daemon tells. */
const STILLS_MAX = 1024;
const SENTENCES_MAX = 4096;
const RANKS_MAX = 4096;
const CALLS_MAX = 4096;

export function standing(from: Fields<Wire.Standing>): Standing {
  return {
    count: natural(from, "count"),
    stills: bounded("stills", list(from, "stills"), STILLS_MAX).map((entry) => stretch(fields(entry, "A hang"))),
    endedIn: bounded("ended_in", list(from, "ended_in"), CALLS_MAX).map((entry) => call(fields(entry, "A call that did not return"))),
    endedInCount: natural(from, "ended_in_count"),
  };
}

function stretch(from: Fields<Wire.Still>): StillStretch {
  const { kind } = from;
  if (kind !== "deadlock" && kind !== "gone" && kind !== "waits") throw new FeedError("The job hung in a way that this page does not know.");
  return {
    kind,
    sinceNs: number(from, "since_s") * 1e9,
    untilNs: from.until_s === null || from.until_s === undefined ? null : number(from, "until_s") * 1e9,
    sentences: bounded("sentences", list(from, "sentences"), SENTENCES_MAX).map((entry) => sentence(fields(entry, "A sentence"))),
  };
}

function sentence(from: Fields<Wire.StillSentence>): StillSentence {
  const ranks = bounded("ranks", list(from, "ranks"), RANKS_MAX);
  if (!ranks.every(isNatural)) throw new FeedError('The list "ranks" holds something that is not a rank.');
  return { text: text(from, "text"), ranks };
}

function call(from: Fields<Wire.StillCall>): StillCall {
  return { rank: natural(from, "rank"), thread: natural(from, "thread"), call: text(from, "call"), place: text(from, "place"), sinceNs: number(from, "since_s") * 1e9 };
}
