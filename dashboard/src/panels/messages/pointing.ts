// What is under the pointer, selected or gone to by keys: a call, a message, one that still runs, the head of a row; and
// which messages are meant by it. Pure.

import type { InFlight } from "../../feed/calls";
import type { MessageText } from "../../feed/messages";
import type { Shares } from "../../feed/shares";
import type { Selection } from "../../state/store";
import { type ArrowFrame, arrowAt, type MessageColumns, relatedTo } from "./arrows";
import type { Rows } from "./fold";
import { rowAt, yOfRow } from "./rows";
import { type CallColumns, callUnder, type Tracks } from "./tracks";

export type Pointed =
  | { kind: "head"; rank: number }
  /** How many calls are at that place: the longest of them is meant. */
  | { kind: "call"; rank: number; call: number; count: number }
  | { kind: "running"; rank: number; at: number }
  | { kind: "message"; message: number }
  /** What the ranks of a row spent a pixel of time on. */
  | { kind: "share"; rank: number; row: number; startNs: number; endNs: number };

/** What can be pointed at. */
export interface Scene {
  frame: ArrowFrame;
  rows: Rows;
  /** What is drawn instead of calls; null where calls are. */
  shares: Shares | null;
  hidden: ReadonlySet<number>;
  calls: CallColumns | null;
  tracks: Tracks | null;
  messages: MessageColumns | null;
  /** The messages that are drawn. */
  arrows: Uint32Array;
  inFlight: InFlight | null;
  edgeNs: number;
}

/** How near to an arrow the pointer means it: less over bars, which are below. */
const REACH = { overBar: 1.6, beside: 5 };
const BESIDE_TIME_PIXELS = 1;

/** Pixels from the upper left corner of the rows. */
export function pointedAt(scene: Scene, x: number, y: number): Pointed | null {
  const { frame, rows, messages, arrows } = scene;
  const row = rowAt(frame.camera, rows.heads.length, y);
  const rank = rows.heads[row] ?? -1;
  if (x < 0) return row < 0 ? null : { kind: "head", rank };
  if (scene.shares && row >= 0) return shareAt(scene.shares, frame, row, rank, x);
  const under = row < 0 ? null : callAt(scene, row, rank, x, y);
  const near = messages ? arrowAt(messages, arrows, frame, x, y, under ? REACH.overBar : REACH.beside) : null;
  return near && near.message >= 0 ? { kind: "message", message: near.message } : under;
}

function shareAt({ untilNs }: Shares, { span, width }: ArrowFrame, row: number, rank: number, x: number): Pointed | null {
  const nsPerPixel = (span[1] - span[0]) / width;
  const startNs = span[0] + Math.floor(x) * nsPerPixel;
  return x < width && startNs >= 0 && startNs < untilNs ? { kind: "share", rank, row, startNs, endNs: startNs + nsPerPixel } : null;
}

function callAt({ frame, hidden, calls, tracks, inFlight, edgeNs }: Scene, row: number, rank: number, x: number, y: number): Pointed | null {
  const nsPerPixel = (frame.span[1] - frame.span[0]) / frame.width;
  const ns = frame.span[0] + x * nsPerPixel;
  if (calls && tracks) {
    const lanes = tracks.lanes[rank] ?? 1;
    const lane = Math.min(lanes - 1, Math.floor(((y - yOfRow(frame.camera, row)) / frame.camera.rowPixels) * lanes));
    const aside = BESIDE_TIME_PIXELS * nsPerPixel;
    const under = callUnder(tracks, calls, hidden, rank, lane, ns - aside, ns + aside);
    if (under.call >= 0) return { kind: "call", rank, ...under };
  }
  for (let at = 0; inFlight && at < inFlight.length; at++) {
    if (inFlight.rank[at] === rank && ns >= (inFlight.sinceNs[at] ?? 0) && ns <= edgeNs && !hidden.has(inFlight.function[at] ?? 0)) return { kind: "running", rank, at };
  }
  return null;
}

/** The row of a message that is known; -1 where it is not. */
export function findMessage(messages: MessageColumns, { src, dst, sendNs, recvNs }: MessageText): number {
  for (let at = 0; at < messages.length; at++) {
    if (messages.sendNs[at] === sendNs && messages.recvNs[at] === recvNs && messages.src[at] === src && messages.dst[at] === dst) return at;
  }
  return -1;
}

/** The messages of what is pointed at, else of what is selected. */
export function meantMessages({ calls, messages }: Pick<Scene, "calls" | "messages">, pointed: Pointed | null, selection: Selection): number[] {
  if (!messages) return [];
  if (pointed?.kind === "message") return [pointed.message];
  if (pointed?.kind === "call" && calls) {
    const start = calls.startNs[pointed.call] ?? 0;
    return relatedTo(messages, pointed.rank, start, start + (calls.durationNs[pointed.call] ?? 0));
  }
  if (selection?.kind === "message") {
    const at = findMessage(messages, selection.message);
    return at < 0 ? [] : [at];
  }
  if (selection?.kind !== "call") return [];
  const { rank, startNs, endNs } = selection.call;
  return relatedTo(messages, rank, startNs, endNs ?? Infinity);
}
