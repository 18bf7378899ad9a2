// Which groups of ranks are open, as an address keeps it, and which ranks a group has. Pure.

import type { PendingGroups } from "../../feed/pending";
import type { RankRanges } from "../../state/perspective";
import { RANGES_MAX, rangesOf } from "../../state/ranks";

/** A group by its first place in the order of the ranks, and how many ranks it has. */
export type Opened = readonly [place: number, ranks: number];

/** Nothing is open. */
export const CLOSED = "none";
const LEVELS_MAX = 3;
const OPEN = /^\d{1,7}-\d{1,7}(\.\d{1,7}-\d{1,7}){0,2}$/;

export function isOpenWord(word: string): boolean {
  return word === CLOSED || OPEN.test(word);
}

/** The outermost first. */
export function openedOf(word: string): readonly Opened[] {
  if (!OPEN.test(word)) return [];
  return word.split(".").map((part): Opened => {
    const [place = 0, ranks = 0] = part.split("-").map(Number);
    return [place, ranks];
  });
}

export function openWord(opened: readonly Opened[]): string {
  return opened.length === 0 ? CLOSED : opened.slice(0, LEVELS_MAX).map(([place, ranks]) => `${place}-${ranks}`).join(".");
}

/** With one more group: of the open ones those stay that it is a part of. */
export function opening(opened: readonly Opened[], [place, ranks]: Opened): readonly Opened[] {
  const around = opened.filter(([from, many]) => from <= place && place + ranks <= from + many && many > ranks);
  return [...around.slice(0, LEVELS_MAX - 1), [place, ranks]];
}

/** The ranks of some groups; null where they are in more pieces than can be selected. `keyOf`: the node or region of a rank. */
export function ranksOf(groups: PendingGroups, chosen: readonly number[], keyOf: (rank: number) => number): RankRanges | null {
  const found = new Set<number>();
  for (const at of chosen) {
    const [first, last] = [groups.firstKey[at] ?? 0, groups.lastKey[at] ?? 0];
    for (let rank = groups.firstRank[at] ?? 0; rank <= (groups.lastRank[at] ?? -1); rank++) {
      const key = keyOf(rank);
      if (key >= first && key <= last) found.add(rank);
    }
  }
  const ranges = rangesOf(found);
  return ranges.length > RANGES_MAX ? null : ranges;
}
