// Single messages in the page: columns, never an object for each; checked and bounded. One message by itself, for words.

import { NO_TAG, NONE } from "./calls";
import { f64Column, FeedError, type Fields, i32Column, natural, number, sameLength, u32Column } from "./columns";
import type * as Wire from "./types";

/** Messages that are in a range, also in part. */
export interface MessageRows {
  fromNs: number;
  toNs: number;
  /** How many there are; `length` of them are here, chosen evenly. */
  total: number;
  /** The share (0..1] that is here. */
  share: number;
  length: number;
  src: Uint32Array;
  dst: Uint32Array;
  tag: Int32Array;
  comm: Uint32Array;
  bytes: Float64Array;
  /** The send's call began. */
  sendNs: Float64Array;
  /** The call that completed the receive ended. */
  recvNs: Float64Array;
  /** How long it was under way as the receiver felt it. */
  tMsgNs: Float64Array;
  lateSenderNs: Float64Array;
  lateReceiverNs: Float64Array;
  /** L: times as long as usual; not a number where it is not known what is usual. */
  latency: Float64Array;
  isInter: Uint32Array;
  isExact: Uint32Array;
}

export interface MessageText {
  src: number;
  dst: number;
  tag: number | null;
  comm: number | null;
  bytes: number;
  sendNs: number;
  recvNs: number;
  tMsgNs: number;
  lateSenderNs: number;
  /** Null: not known, as of `latency`. */
  lateReceiverNs: number | null;
  latency: number | null;
  isInter: boolean;
  isExact: boolean;
}

/** More ranks than any job has, and more messages than are ever asked for. */
const RANKS_MAX = 1 << 22;
const ROWS_MAX = 1 << 19;

export function messageRows(from: Fields<Wire.MessageRows>): MessageRows {
  const columns = {
    src: u32Column(from, "src"), dst: u32Column(from, "dst"), tag: i32Column(from, "tag"), comm: u32Column(from, "comm"), bytes: f64Column(from, "bytes"),
    sendNs: f64Column(from, "send_ns"), recvNs: f64Column(from, "recv_ns"), tMsgNs: f64Column(from, "t_msg_ns"),
    lateSenderNs: f64Column(from, "late_sender_ns"), lateReceiverNs: f64Column(from, "late_receiver_ns"), latency: f64Column(from, "latency"),
    isInter: u32Column(from, "is_inter"), isExact: u32Column(from, "is_exact"),
  };
  const length = sameLength("messages", columns);
  if (length > ROWS_MAX) throw new FeedError(`There are more than ${ROWS_MAX} messages.`);
  const share = number(from, "share");
  if (!(share > 0 && share <= 1)) throw new FeedError('The field "share" is no share.');
  const total = natural(from, "total");
  if (total < length) throw new FeedError("There are more messages than there should be.");
  checkRows(columns, length);
  return { fromNs: number(from, "from_ns"), toNs: number(from, "to_ns"), total, share, length, ...columns };
}

/** Receives may lie before their sends: clocks of hosts agree only so well. */
function checkRows(columns: Omit<MessageRows, "fromNs" | "toNs" | "total" | "share" | "length">, length: number): void {
  const { src, dst, bytes, sendNs, recvNs, tMsgNs, lateSenderNs, lateReceiverNs, latency } = columns;
  for (let row = 0; row < length; row++) {
    if ((src[row] ?? RANKS_MAX) >= RANKS_MAX || (dst[row] ?? RANKS_MAX) >= RANKS_MAX) throw new FeedError("A message names a rank that no job has.");
    if (!Number.isFinite((sendNs[row] ?? 0) + (recvNs[row] ?? 0) + (tMsgNs[row] ?? 0))) throw new FeedError(`Message ${row} has a time that is none.`);
    // Whether a receiver was late is not known of sends that do not wait for it: then it is not a number.
    const late = lateReceiverNs[row] ?? 0;
    const least = Math.min(bytes[row] ?? 0, lateSenderNs[row] ?? 0, Number.isNaN(late) ? 0 : late);
    // Else not a number is neither.
    if (!(least >= 0 && least < Infinity)) throw new FeedError(`Message ${row} has a size or a delay that is none.`);
    const times = latency[row] ?? 0;
    if (times < 0 || times === Infinity) throw new FeedError(`Message ${row} has a latency that is none.`);
  }
}

export function messageText(rows: MessageRows, at: number): MessageText {
  const known = <T>(value: number | undefined, none: T): number | null => (value === undefined || value === none ? null : value);
  const figure = (value = Number.NaN): number | null => (Number.isNaN(value) ? null : value);
  return {
    src: rows.src[at] ?? 0, dst: rows.dst[at] ?? 0, tag: known(rows.tag[at], NO_TAG), comm: known(rows.comm[at], NONE), bytes: rows.bytes[at] ?? 0,
    sendNs: rows.sendNs[at] ?? 0, recvNs: rows.recvNs[at] ?? 0, tMsgNs: rows.tMsgNs[at] ?? 0,
    lateSenderNs: rows.lateSenderNs[at] ?? 0, lateReceiverNs: figure(rows.lateReceiverNs[at]),
    latency: figure(rows.latency[at]), isInter: rows.isInter[at] === 1, isExact: rows.isExact[at] === 1,
  };
}
