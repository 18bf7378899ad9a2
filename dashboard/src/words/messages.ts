// Messages and what is shown of them, in words: tooltips and the inspector say the same in the same order. Pure.

import type { MessageText } from "../feed/messages";
import type { RunState } from "../state/run";
import { bytes, clock, count, counted, duration, share } from "./index";
import { nodeName } from "./hosts";
import { latencyMeaning, latencyWords, type TipText } from "./regions";

const RUN_TIME_DIGITS = 9;

export function tellMessage(message: MessageText, run: RunState): TipText {
  const node = (rank: number): string => (run.ranks.heard[rank] === 1 ? nodeName(run, run.ranks.node[rank] ?? 0) : "");
  const { src, dst, tag, comm, sendNs, recvNs, tMsgNs, lateSenderNs, lateReceiverNs, latency, isInter, isExact } = message;
  return {
    title: `Message from ${src} to ${dst}`,
    rows: [
      ["From", `rank ${src}`, node(src)],
      ["To", `rank ${dst}`, `${node(dst)}${isInter ? ", another node" : ""}`.replace(/^, /, "")],
      ["Bytes", message.bytes < 1024 ? bytes(message.bytes) : `${bytes(message.bytes)} (${count(message.bytes)})`, ""],
      ...(tag === null ? [] : [["Tag", String(tag), ""] as const]),
      ...(comm === null ? [] : [["Communicator", String(comm), ""] as const]),
      ["Sent", clock(sendNs, RUN_TIME_DIGITS), "when its call began"],
      ["Received", clock(recvNs, RUN_TIME_DIGITS), "when the receive was complete"],
      ["Time", `${isExact ? "" : "\u2264\u2009"}${duration(tMsgNs)}`, isExact ? "as the receiver felt it" : "at most: the receiver came late, or waited for several"],
      ["Latency L", latencyWords(latency), latencyMeaning(latency)],
      ...(lateSenderNs > 0 ? [["Late sender", duration(lateSenderNs), "that the receiver waited for it"] as const] : []),
      ...(lateReceiverNs !== null && lateReceiverNs > 0 ? [["Late receiver", duration(lateReceiverNs), "that the sender waited for it"] as const] : []),
    ],
  };
}

/** Beside the pointer there is no room for more. */
const SHORT = new Set(["From", "To", "Bytes", "Sent", "Received", "Time", "Latency L", "Late sender"]);

export function tellShortly(message: MessageText, run: RunState): TipText {
  const { title, rows } = tellMessage(message, run);
  return { title, rows: rows.filter(([name]) => SHORT.has(name)).map(([name, value]) => [name, value, ""] as const) };
}

/** "1 in 12 is", or "42 % are" where the first would not be true enough. */
export function partIs(part: number): string {
  return part > 0.34 ? `${share(part, 1)} are` : `1 in ${count(1 / part)} is`;
}

export interface Shown {
  ranks: number;
  /** Of these, as far as the view has scrolled. */
  inSight: number;
  /** Several ranks lie in one line of pixels. */
  isCrowded: boolean;
  isTime: boolean;
  /** Columns say what time was spent on, by sums in windows of this length. */
  isShares: boolean;
  windowNs: number;
  calls: number;
  /** Of the calls that are shorter than this the share is known. */
  allFromNs: number;
  share: number;
  arrows: "all" | "selection" | "none";
  drawn: number;
  messages: number;
  /** Of all messages the share that is known; 1 where none were asked for. */
  messagesShare: number;
  messagesWhy: string;
  hidden: number;
}

/** What a picture shows. */
export function shownWords({ ranks, inSight, isCrowded, isTime, isShares, windowNs, calls, share, arrows, drawn, messages }: Shown): string {
  const rows = `${inSight < ranks ? `${count(inSight)} of ` : ""}${counted(ranks, "rank", "ranks")}${isCrowded ? ", several to a line" : ""}`;
  if (isShares) return `${rows}; what time was spent on: exact sums of all calls, in windows of ${duration(windowNs)}. Zoom in for calls and arrows`;
  const bars = isTime ? "how much of the time was spent in MPI" : calls === 1 ? "a bar" : "each a bar";
  const arrowWords = arrows === "none" ? "no arrows" : arrows === "selection" ? "arrows of what is pointed at or selected"
    : drawn < messages ? `${count(drawn)} of ${counted(messages, "message", "messages")}` : counted(messages, "message", "messages");
  return `${rows}; ${share < 1 ? `${count(calls)} known calls` : counted(calls, "call", "calls")}, ${bars}; ${arrowWords}`;
}

/** What a picture leaves out; empty where it shows all. */
export function missingWords(shown: Shown): string {
  const sentences = [
    !shown.isShares && shown.share < 1 && `Calls under ${duration(shown.allFromNs)}: ${partIs(shown.share)} ${shown.isTime ? "known and counted for the others" : "drawn, longer ones all"}.`,
    !shown.isShares && shown.messagesShare < 1 && `Messages: ${partIs(shown.messagesShare)} known.`,
    !shown.isShares && shown.arrows === "all" && shown.drawn < shown.messages && "Arrows: the highest latencies, then the longest.",
    shown.messagesWhy && `Messages are missing: ${shown.messagesWhy.replace(/\.$/, "")}.`,
    !shown.isShares && shown.hidden > 0 && `${counted(shown.hidden, "function is", "functions are")} hidden.`,
  ];
  return sentences.filter(Boolean).join(" ");
}
