// The slowest message among some ranks in the selected range or the whole run: that with the highest latency, or the longest
// where no latency is known.

import type { AnswerMessage } from "../feed/answer";
import type { GroupGraph } from "../feed/group-graph";
import { type MessageRows, messageText, type MessageText } from "../feed/messages";
import type { RankRanges, Span } from "./perspective";
import { askedRange } from "./span";

export interface AskMessage {
  answer(name: "group_graph", fields: Record<string, unknown>): Promise<NonNullable<AnswerMessage["group_graph"]>>;
  messages(rangeNs: Span, ranks: RankRanges | null, most: number): Promise<MessageRows>;
}

/** Messages that one rank sends in a nanosecond. */
const AT_ONCE_MAX = 1000;

/** Null where there is none. */
export async function slowestMessage(ask: AskMessage, ranks: RankRanges | null, rangeNs: Span | null): Promise<MessageText | null> {
  const { links } = await ask.answer("group_graph", { ...askedRange(rangeNs), ranks, by: "node" });
  const order = (link: number): readonly [number, number] => {
    const worst = links.worst[link] ?? Number.NaN;
    return [Number.isNaN(worst) ? -1 : worst, (links.worstRecvNs[link] ?? 0) - (links.worstSendNs[link] ?? 0)];
  };
  const all = Array.from({ length: links.length }, (_, link) => ({ link, order: order(link) }));
  const [first] = all.sort(({ order: one }, { order: other }) => other[0] - one[0] || other[1] - one[1]);
  return first ? worstOfLink(ask, links, first.link) : null;
}

/** The slowest message of a link between groups; null where it is not found again. */
export async function worstOfLink(ask: Pick<AskMessage, "messages">, links: GroupGraph["links"], link: number): Promise<MessageText | null> {
  const [src, dst, send, recv] = [links.worstSrc[link] ?? 0, links.worstDst[link] ?? 0, links.worstSendNs[link] ?? 0, links.worstRecvNs[link] ?? 0];
  const rows = await ask.messages([send, send + 1], [[src, src]], AT_ONCE_MAX);
  const row = rows.src.findIndex((each, at) => each === src && rows.dst[at] === dst && rows.sendNs[at] === send && rows.recvNs[at] === recv);
  return row >= 0 ? messageText(rows, row) : null;
}
