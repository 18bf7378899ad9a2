// How pictures of the rows are made: bars and arrows on a canvas each, of calls that are put in order once.

import type { Calls } from "../../feed/calls";
import type { MessageRows } from "../../feed/messages";
import type { Shares } from "../../feed/shares";
import type { Context } from "../canvas";
import type { Recipe } from "../painter/recipe";
import type { MessageColumns } from "./arrows";
import { paint, paintMarks, type Picture, sizeOf, type PictureSummary, Traffic } from "./picture";
import type { CallColumns, Tracks } from "./tracks";

export interface RowKinds {
  source: { calls: CallColumns; messages: MessageColumns; shares: Shares | null; allFromNs: number; share: number };
  scene: Traffic;
  facts: Tracks;
  picture: Picture;
  summary: PictureSummary;
  sheets: readonly [bars: Context, arrows: Context];
}

export const ROWS: Recipe<RowKinds> = {
  sheets: 2,
  scene: ({ calls, messages, shares, allFromNs, share }) => new Traffic(calls, messages, shares, allFromNs, share),
  facts: ({ tracks }) => tracks,
  size: sizeOf,
  paint: ([bars, arrows], traffic, picture, ratio) => paint(bars, arrows, picture, traffic, ratio),
  marks: ([bars, arrows], traffic, picture) => paintMarks(bars, arrows, picture, traffic),
};

const NO_MESSAGES: MessageColumns = {
  length: 0, src: new Uint32Array(0), dst: new Uint32Array(0), sendNs: new Float64Array(0), recvNs: new Float64Array(0), latency: new Float64Array(0), lateSenderNs: new Float64Array(0),
};

/** What the worker needs; the rest stays on the page. */
export function sourceOf({ length, rank, thread, function: called, startNs, durationNs, allFromNs, share }: Calls, messages: MessageRows | null, shares: Shares | null): RowKinds["source"] {
  return { calls: { length, rank, thread, function: called, startNs, durationNs }, messages: messages ? messageColumns(messages) : NO_MESSAGES, shares, allFromNs, share };
}

function messageColumns({ length, src, dst, sendNs, recvNs, latency, lateSenderNs }: MessageRows): MessageColumns {
  return { length, src, dst, sendNs, recvNs, latency, lateSenderNs };
}
