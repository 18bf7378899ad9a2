// Patterns in words. Pure.

import type { RankRange } from "../../feed/regions";
import { counted } from "../../words";
import { ranksWords, sizeOf } from "../../words/regions";
import type { PatternKind } from "./detect";

const RANGES_MOST = 4;

export const PATTERN_WORDS: Readonly<Record<PatternKind, { name: string; meaning: string }>> = {
  disparate: { name: "Disparate", meaning: "Some ranks take clearly longer or shorter than all others." },
  slanted: { name: "Slanted", meaning: "Calls take longer from rank to rank: often a root that serves one after the other." },
  logarithmic: { name: "Logarithmic", meaning: "Calls take longer along a curve over ranks, as in trees and linear queues." },
  noisy: { name: "Noisy", meaning: "Durations scatter widely: often contention for CPUs or the network." },
  horizontal: { name: "Horizontal", meaning: "Calls take nearly the same time on all ranks." },
};

/** The ranks of a pattern; of many ranges the first ones. */
export function patternRanks(ranges: readonly RankRange[]): string {
  const first = ranges.slice(0, RANGES_MOST);
  const rest = sizeOf(ranges) - sizeOf(first);
  return rest === 0 ? ranksWords(ranges, RANGES_MOST) : `${ranksWords(first, RANGES_MOST)} and ${counted(rest, "other", "others")}`;
}
