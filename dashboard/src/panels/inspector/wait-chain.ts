// Whom a call waited for, and whom those waited for: by late senders, back to the one that waited for nobody.

import { type MessageRows, messageText, type MessageText } from "../../feed/messages";
import type { Span } from "../../state/perspective";

/** Longer chains nobody follows in a list. */
const STEPS_MOST = 8;
/** An earlier wait explains a later one if it lasted at least this share of it. */
const EXPLAINS = 0.5;
/** How far to look back before the send, in waits. */
const LOOK_BACK = 4;
/** More messages of one rank in so short a time are not needed. */
const MESSAGES_MOST = 2000;

export type AskMessages = (span: Span, rank: number, most: number) => Promise<MessageRows>;

export interface WaitChain {
  /** The message that decided when the call returned; null where it received none. */
  first: MessageText | null;
  /** Each sender's own wait before it sent, in order. */
  steps: MessageText[];
  /** Further steps were left out. */
  isCut: boolean;
}

export async function waitChain(ask: AskMessages, rank: number, startNs: number, endNs: number): Promise<WaitChain> {
  const first = decisive(await received(ask, rank, [startNs, endNs]));
  const steps: MessageText[] = [];
  let last = first;
  while (last && last.lateSenderNs > 0 && steps.length < STEPS_MOST) {
    const before: MessageText = last;
    const from = Math.max(0, before.sendNs - LOOK_BACK * before.lateSenderNs);
    const explains = (await received(ask, before.src, [from, before.sendNs])).filter(({ lateSenderNs }) => lateSenderNs >= EXPLAINS * before.lateSenderNs);
    last = explains.sort((one, other) => other.recvNs - one.recvNs)[0] ?? null;
    if (last) steps.push(last);
  }
  return { first, steps, isCut: last !== null && steps.length === STEPS_MOST };
}

/** What a rank received in calls that ended in a span. */
async function received(ask: AskMessages, rank: number, [fromNs, toNs]: Span): Promise<MessageText[]> {
  const rows = await ask([fromNs, toNs + 1], rank, MESSAGES_MOST);
  return Array.from({ length: rows.length }, (_, row) => row)
    .filter((row) => rows.dst[row] === rank && (rows.recvNs[row] ?? 0) > fromNs && (rows.recvNs[row] ?? 0) <= toNs)
    .map((row) => messageText(rows, row));
}

/** An exact message is the one that decided; else the one that was waited for longest is most likely. */
function decisive(messages: readonly MessageText[]): MessageText | null {
  const order = (message: MessageText): number => Number(message.isExact);
  return [...messages].sort((one, other) => order(other) - order(one) || other.lateSenderNs - one.lateSenderNs)[0] ?? null;
}
