// What the rows show and what is pointed at, in words.

import { messageText } from "../../feed/messages";
import { finishedNs } from "../../state/finished";
import { edgeNs, type Ranks } from "../../state/run";
import type { Store } from "../../state/store";
import { KINDS, SHARE_KINDS, type Shares } from "../../feed/shares";
import { rangesOf } from "../../state/ranks";
import { clock, count, counted, duration, sentenceOf, share } from "../../words";
import { nodeName } from "../../words/hosts";
import { type Shown, tellShortly } from "../../words/messages";
import { rangesShort, ranksWords, type TipText as Said } from "../../words/regions";
import { callText, describe, inFlightText } from "../particles/describe";
import type { CallText } from "../view";
import type { PictureSummary } from "./picture";
import type { Pointed } from "./pointing";
import type { KnownTraffic } from "./questions";
import { ranksOfRow } from "./fold";
import { partsOf, summed, windowsOf } from "./raster-shares";
import type { RowCamera } from "./rows";
import { kindText, STACKED } from "./share-kinds";
import type { MessagesState } from "./state";
import type { MessagesView } from "./view";

export function pictureOf(store: Store, state: MessagesState, { calls, messages, shares, messagesWhy }: KnownTraffic, summary: PictureSummary, view: { camera: RowCamera; ranksInSight: number }): Shown {
  const { functions } = store.figures.value;
  return {
    ranks: state.order.value.length, inSight: view.ranksInSight, isCrowded: view.camera.rowPixels < 1, isTime: summary.isTime, isShares: summary.isShares, windowNs: shares?.widthNs ?? 0, calls: summary.calls, allFromNs: calls.allFromNs, share: calls.share,
    arrows: state.arrows.value, drawn: summary.drawn, messages: summary.messages, messagesShare: messages?.share ?? 1, messagesWhy,
    hidden: [...store.perspective.value.hidden].filter((id) => functions.has(id)).length,
  };
}

/** The text in place of a picture; null where there is one. */
export function emptyWords(store: Store, state: MessagesState, summary: PictureSummary | null): { title: string; text: string } | null {
  const { known, isAsking, why } = state.figures.value;
  const { perspective, figures, zoom } = store;
  if (edgeNs(figures.value) === 0) return { title: "No call yet", text: "Rows appear as soon as the first rank has called MPI." };
  if (state.order.value.length === 0) return { title: "No rank is selected", text: "Name ranks above, or empty the field for all." };
  if (!known && why) return { title: "The calls cannot be shown", text: `${sentenceOf(why)} A shorter part of the run, or fewer ranks, may be shown: zoom in with the wheel, or name ranks above.` };
  if (!known || !summary) return { title: "The calls are on their way", text: "Each row will be a rank, each bar one of its calls, each arrow a message." };
  if (summary.calls > 0 || isAsking) return null;
  const hidden = perspective.value.hidden.size > 0 ? " Hidden functions are not drawn." : "";
  const span = state.frozen.value ?? zoom.value;
  const where = span ? ` between ${clock(span[0], 6)} and ${clock(span[1], 6)}` : "";
  const inside = store.inFlight()?.length ?? 0;
  if (inside > 0) return null;
  return { title: `No call of ${perspective.value.ranks ? "these ranks" : "any rank"}${where}`, text: `Zoom out with a double click, or go elsewhere in the timeline below.${hidden}` };
}

function callRows(call: CallText, extra: Said["rows"]): Said {
  const [[, name] = ["", call.name], ...rows] = describe(call);
  return { title: name, rows: [...extra, ...rows.map(([label, value]) => [label, value, ""] as const)] };
}

export function tellPointed(store: Store, state: MessagesState, pointed: Pointed, view: MessagesView): Said | null {
  const run = store.figures.peek();
  const known = state.figures.peek().known;
  const name = (id: number): string => run.functions.get(id)?.name ?? `function ${id}`;
  switch (pointed.kind) {
    case "head":
      return headRows(store, state, pointed.rank, ranksOfRow(state.rows.peek(), view.frame.rowOf[pointed.rank] ?? -1));
    case "message":
      return known?.messages ? tellShortly(messageText(known.messages, pointed.message), run) : null;
    case "share":
      return known?.shares ? tellShare(known.shares, ranksOfRow(state.rows.peek(), pointed.row), pointed, run.ranks) : null;
    case "running": {
      const inFlight = store.inFlight();
      return inFlight && pointed.at < inFlight.length ? callRows(inFlightText(inFlight, pointed.at, name(inFlight.function[pointed.at] ?? 0)), []) : null;
    }
    case "call": {
      if (!known) return null;
      const { calls } = known;
      const rest = pointed.count > 1 && view.summary.peek()?.isTime ? [["Here", counted(pointed.count, "call", "calls"), calls.share < 1 ? "of those that are known; the longest" : "the longest"] as const] : [];
      return callRows(callText(calls, pointed.call, name(calls.function[pointed.call] ?? 0)), rest);
    }
  }
}

/** What ranks spent a pixel's time on: exact sums of the windows that it touches. */
export function tellShare(shares: Shares, ranks: Uint32Array, { startNs, endNs }: { startNs: number; endNs: number }, ended: Pick<Ranks, "endedNs">): Said {
  // A pixel may be less than a window: the words are about whole windows.
  const { fromNs, widthNs } = shares;
  const from = fromNs + Math.floor((startNs - fromNs) / widthNs) * widthNs;
  const to = Math.max(from + widthNs, fromNs + Math.ceil((endNs - fromNs) / widthNs) * widthNs);
  const sums = summed(shares, ranks, windowsOf(shares, from, to));
  const parts = new Float64Array(KINDS);
  partsOf(shares, sums, ranks.length, from, to, parts);
  const all = parts.reduce((sum, part) => sum + part, 0);
  const afterNs = ranks.reduce((sum, rank) => sum + finishedNs(ended, rank, [from, to]), 0);
  const finished = Math.min(Math.max(0, 1 - all), afterNs / Math.max(1, (to - from) * ranks.length));
  const rows = STACKED.map((kind) => [kindText(kind).label, parts[SHARE_KINDS.indexOf(kind)] ?? 0] as const).filter(([, part]) => part >= 0.0005);
  return {
    title: ranksWords(rangesOf(ranks), 3),
    rows: [
      ["From", clock(from, 6), ""], ["Length", duration(to - from), ""],
      ...rows.map(([label, part]) => [label, share(part, 1), ""] as const),
      ...(finished >= 0.0005 ? [["Finished", share(finished, 1), ""] as const] : []),
      ...(all + finished < 0.995 ? [["Not recorded", share(1 - all - finished, 1), ""] as const] : []),
    ],
  };
}

function headRows(store: Store, state: MessagesState, rank: number, ranks: Uint32Array): Said {
  if (ranks.length > 1) {
    return { title: ranksWords(rangesOf(ranks), 3), rows: [["Ranks", count(ranks.length), ""], ["Click", "shows them one by one", ""]] };
  }
  const run = store.figures.peek();
  const region = run.regions?.regions.find(({ id }) => id === state.regionOf.peek()[rank]);
  return {
    title: `Rank ${rank}`,
    rows: [
      ["Node", run.ranks.heard[rank] === 1 ? nodeName(run, run.ranks.node[rank] ?? 0) : "not heard yet", ""],
      ...(region ? [["Region", rangesShort(region.ranks), ""] as const] : []),
      ...(state.isOpen(rank) ? [["Click", "folds its group again", ""] as const] : []),
      ["Drag", "takes the row elsewhere", ""],
    ],
  };
}
