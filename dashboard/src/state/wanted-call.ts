// The longest or latest call of some ranks and a function, in the selected range or the whole run.

import type { AnswerMessage, NextEvent } from "../feed/answer";
import { callText } from "../panels/particles/describe";
import type { CallText } from "../panels/view";
import type { RankRanges, Span } from "./perspective";
import { type AskCalls, callAt } from "./similar";
import { askedRange } from "./span";

export interface WantedCall {
  isLatest: boolean;
  /** Null: any. */
  function: number | null;
  /** Null: the selected ones, or all. */
  ranks: RankRanges | null;
}

export interface AskCall extends Pick<AskCalls, "calls"> {
  answer(name: "durations", fields: Record<string, unknown>): Promise<NonNullable<AnswerMessage["durations"]>>;
  nearest(timeNs: number, isBack: boolean, ranks: RankRanges | null, only: number | null): Promise<NextEvent>;
}

/** Null where there is none. */
export async function wantedCall(ask: AskCall, { isLatest, function: only, ranks }: WantedCall, rangeNs: Span | null, nameOf: (id: number) => string): Promise<CallText | null> {
  const range = askedRange(rangeNs);
  if (!isLatest) {
    const { longest } = await ask.answer("durations", { ...range, ranks, function: only, low_ns: 0, high_ns: Number.MAX_SAFE_INTEGER, most: 1 });
    return longest.length > 0 ? callText(longest, 0, nameOf(longest.function[0] ?? 0)) : null;
  }
  const { atNs, rank, function: id } = await ask.nearest(range.to_ns, true, ranks, only);
  return atNs === null || atNs < range.from_ns ? null : callAt(ask, atNs, { rank, function: id, name: nameOf(id) });
}
