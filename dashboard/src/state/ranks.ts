// Ranks as people write them, "0-15, 40", and as all else has them: ranges in order, each rank once. Pure.

import type { RankRanges } from "./perspective";

type Range = [first: number, last: number];

/** What the server keeps of a selection. */
export const RANGES_MAX = 256;
/** Longer numbers are no ranks, though somebody may write them. */
const DIGITS_MAX = 7;

/** Ranks in any order as ranges. */
export function rangesOf(ranks: Iterable<number>): Range[] {
  return joined(Array.from(ranks, (rank): Range => [rank, rank]));
}

export function rangesText(all: RankRanges, between = ","): string {
  return all.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(between);
}

/** Ranges with commas between them; null when it is no such list. */
export function ranges(text: string): RankRanges | null {
  const found: Range[] = [];
  for (const part of text.split(",").map((each) => each.trim()).filter((each) => each !== "")) {
    const range = rangeIn(part);
    if (!range || String(range[1]).length > DIGITS_MAX) return null;
    found.push(range);
  }
  const all = joined(found);
  return all.length > 0 && all.length <= RANGES_MAX ? all : null;
}

/** Ranges of a job with a number of ranks, with whatever between them; null: all of them; a text says what is wrong. */
export function parseRanks(text: string, ranks: number): RankRanges | null | string {
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  if (parts.length === 0) return null;
  const found: Range[] = [];
  for (const part of parts) {
    const range = rangeIn(part);
    if (!range) return `\u201c${part}\u201d is neither a rank nor a range such as 0-31.`;
    const [first, last] = range;
    if (first >= ranks) return `There is no rank ${first}: the last one is ${ranks - 1}.`;
    found.push([first, Math.min(last, ranks - 1)]);
  }
  const all = joined(found);
  return all.length > RANGES_MAX ? `At most ${RANGES_MAX} ranges of ranks can be selected; these are ${all.length}.` : all;
}

/** "7", "0-15", "15 \u2013 0". */
function rangeIn(text: string): Range | null {
  const [, one, other = one] = /^(\d+)(?:\s*[-\u2013]\s*(\d+))?$/.exec(text) ?? [];
  if (one === undefined || other === undefined) return null;
  return [Math.min(Number(one), Number(other)), Math.max(Number(one), Number(other))];
}

function joined(all: readonly Range[]): Range[] {
  const found: Range[] = [];
  for (const [first, last] of [...all].sort(([one], [other]) => one - other)) {
    const before = found.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else found.push([first, last]);
  }
  return found;
}
