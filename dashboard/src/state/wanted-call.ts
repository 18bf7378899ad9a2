// The longest or latest call of some ranks and a function, in the selected range or the whole run.

import type { AnswerMessage, NextEvent } from "../feed/answer";
import type { Calls } from "../feed/calls";
import { callText } from "../panels/particles/describe";
import type { CallText } from "../panels/view";
import type { RankRanges, Span } from "./perspective";

export interface WantedCall {
  isLatest: boolean;
  /** Null: any. */
  function: number | null;
  /** Null: the selected ones, or all. */
  ranks: RankRanges | null;
}

/** At one moment a rank has few calls. */
const SAME_MOMENT = 64;

export interface AskCall {
  answer(name: "durations", fields: Record<string, unknown>): Promise<NonNullable<AnswerMessage["durations"]>>;
  nearest(timeNs: number, isBack: boolean, ranks: RankRanges | null, only: number | null): Promise<NextEvent>;
  callsOf(fromNs: number, toNs: number, ranks: RankRanges | null, most: number): Promise<Calls>;
}

/** Null where there is none. */
export async function wantedCall(ask: AskCall, { isLatest, function: only, ranks }: WantedCall, rangeNs: Span | null, nameOf: (id: number) => string): Promise<CallText | null> {
  const [fromNs, toNs] = rangeNs ? [Math.floor(rangeNs[0]), Math.ceil(rangeNs[1])] : [0, Number.MAX_SAFE_INTEGER];
  const text = (calls: Calls, row: number): CallText => callText(calls, row, nameOf(calls.function[row] ?? 0));
  if (!isLatest) {
    const { longest } = await ask.answer("durations", { from_ns: fromNs, to_ns: toNs, ranks, function: only, low_ns: 0, high_ns: Number.MAX_SAFE_INTEGER, most: 1 });
    return longest.length > 0 ? text(longest, 0) : null;
  }
  const { atNs, rank, function: id } = await ask.nearest(toNs, true, ranks, only);
  if (atNs === null || atNs < fromNs) return null;
  const calls = await ask.callsOf(atNs, atNs + 1, [[rank, rank]], SAME_MOMENT);
  const row = calls.rank.findIndex((of, at) => of === rank && calls.function[at] === id && calls.startNs[at] === atNs);
  return row < 0 ? null : text(calls, row);
}
