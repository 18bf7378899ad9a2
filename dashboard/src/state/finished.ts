// Time after the last MPI call of ranks that make no more: neither in MPI nor outside of it. Pure.

import { type Gaps, offNs } from "../feed/switch";
import type { RankRanges, Span } from "./perspective";
import type { Ranks } from "./run";

/** What of a stretch a rank had finished, without the time in which recording was off. */
export function finishedNs({ endedNs }: Pick<Ranks, "endedNs">, rank: number, [fromNs, toNs]: Span, gaps: Gaps = []): number {
  const ended = endedNs[rank] ?? 0;
  const begin = Math.max(fromNs, ended);
  return ended > 0 && begin < toNs ? toNs - begin - offNs(gaps, begin, toNs) : 0;
}

/** The same of some ranks together, or of all of them. */
export function finishedNsOf(ranks: Pick<Ranks, "endedNs" | "length">, only: RankRanges | null, span: Span, gaps: Gaps = []): number {
  let sum = 0;
  for (const [first, last] of only ?? [[0, ranks.length - 1]]) {
    for (let rank = first; rank <= Math.min(last, ranks.length - 1); rank++) sum += finishedNs(ranks, rank, span, gaps);
  }
  return sum;
}
