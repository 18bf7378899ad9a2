// The call after or before one that is selected: of the same rank and function.

import type { Calls } from "../feed/calls";
import type { CallText } from "../panels/view";
import { callText } from "../panels/particles/describe";
import type { RankRanges, Span } from "./perspective";

/** At one moment a rank has few calls. */
const SAME_MOMENT = 64;

export interface AskCalls {
  /** When the next call of a rank and a function begins; null where there is none. */
  nextOf(call: CallText, isBack: boolean): Promise<number | null>;
  calls(range: Span, ranks: RankRanges, most: number): Promise<Calls>;
}

export async function similarCall(ask: AskCalls, call: CallText, isBack: boolean): Promise<CallText | null> {
  const atNs = await ask.nextOf(call, isBack);
  if (atNs === null) return null;
  return callAt(ask, atNs, call);
}

/** The call of a rank and a function that begins at a moment. */
export async function callAt(ask: Pick<AskCalls, "calls">, atNs: number, call: Pick<CallText, "rank" | "function" | "name">): Promise<CallText | null> {
  const calls = await ask.calls([atNs, atNs + 1], [[call.rank, call.rank]], SAME_MOMENT);
  const row = calls.rank.findIndex((rank, at) => rank === call.rank && calls.function[at] === call.function && calls.startNs[at] === atNs);
  return row < 0 ? null : callText(calls, row, call.name);
}
