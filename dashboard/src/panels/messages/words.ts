// What the rows show and what is pointed at, in words.

import { messageText } from "../../feed/messages";
import { edgeNs } from "../../state/run";
import type { Store } from "../../state/store";
import { clock, counted } from "../../words";
import { nodeName } from "../../words/hosts";
import { type Shown, tellShortly } from "../../words/messages";
import { rangesShort, type TipText as Said } from "../../words/regions";
import { callText, describe, inFlightText } from "../particles/describe";
import type { CallText } from "../view";
import type { Told } from "./picture";
import type { Pointed } from "./pointing";
import type { KnownTraffic } from "./questions";
import type { RowCamera } from "./rows";
import type { MessagesState } from "./state";

export function pictureOf(store: Store, state: MessagesState, { calls, messages, messagesWhy }: KnownTraffic, told: Told, view: { camera: RowCamera; ranksInSight: number }): Shown {
  const { functions } = store.figures.value;
  return {
    ranks: state.order.value.length, inSight: view.ranksInSight, isCrowded: view.camera.rowPixels < 1, isTime: told.isTime, calls: told.calls, allFromNs: calls.allFromNs, share: calls.share,
    arrows: state.arrows.value, drawn: told.drawn, messages: told.messages, messagesShare: messages?.share ?? 1, messagesWhy,
    hidden: [...store.perspective.value.hidden].filter((id) => functions.has(id)).length,
  };
}

/** What is said instead of a picture; null where there is one. */
export function emptyWords(store: Store, state: MessagesState, told: Told | null): { title: string; text: string } | null {
  const { known, isAsking, why } = state.figures.value;
  const { perspective, figures, zoom } = store;
  if (edgeNs(figures.value) === 0) return { title: "No call yet", text: "Rows appear as soon as the first rank has called MPI." };
  if (state.order.value.length === 0) return { title: "No rank is selected", text: "Name ranks above, or empty the field for all." };
  if (!known && why) return { title: "The calls cannot be shown", text: `${why.charAt(0).toUpperCase()}${why.slice(1).replace(/\.$/, "")}. A shorter part of the run, or fewer ranks, may be shown: zoom in with the wheel, or name ranks above.` };
  if (!known || !told) return { title: "The calls are on their way", text: "Each row will be a rank, each bar one of its calls, each arrow a message." };
  if (told.calls > 0 || isAsking) return null;
  const hidden = perspective.value.hidden.size > 0 ? " Hidden functions are not drawn." : "";
  const span = zoom.value;
  const where = span ? ` between ${clock(span[0], 6)} and ${clock(span[1], 6)}` : "";
  const inside = store.inFlight()?.length ?? 0;
  if (inside > 0) return null;
  return { title: `No call of ${perspective.value.ranks ? "these ranks" : "any rank"}${where}`, text: `Zoom out with a double click, or go elsewhere in the timeline below.${hidden}` };
}

function callRows(call: CallText, extra: Said["rows"]): Said {
  const [[, name] = ["", call.name], ...rows] = describe(call);
  return { title: name, rows: [...extra, ...rows.map(([label, value]) => [label, value, ""] as const)] };
}

export function tellPointed(store: Store, state: MessagesState, pointed: Pointed, isTime: boolean): Said | null {
  const run = store.figures.peek();
  const known = state.figures.peek().known;
  const name = (id: number): string => run.functions.get(id)?.name ?? `function ${id}`;
  switch (pointed.kind) {
    case "head":
      return headRows(store, state, pointed.rank);
    case "message":
      return known?.messages ? tellShortly(messageText(known.messages, pointed.message), run) : null;
    case "running": {
      const inFlight = store.inFlight();
      return inFlight && pointed.at < inFlight.length ? callRows(inFlightText(inFlight, pointed.at, name(inFlight.function[pointed.at] ?? 0)), []) : null;
    }
    case "call": {
      if (!known) return null;
      const { calls } = known;
      const rest = pointed.count > 1 && isTime ? [["Here", counted(pointed.count, "call", "calls"), calls.share < 1 ? "of those that are known; the longest" : "the longest"] as const] : [];
      return callRows(callText(calls, pointed.call, name(calls.function[pointed.call] ?? 0)), rest);
    }
  }
}

function headRows(store: Store, state: MessagesState, rank: number): Said {
  const run = store.figures.peek();
  const region = run.regions?.regions.find(({ id }) => id === state.regionOf.peek()[rank]);
  return {
    title: `Rank ${rank}`,
    rows: [
      ["Node", run.ranks.heard[rank] === 1 ? nodeName(run, run.ranks.node[rank] ?? 0) : "not heard yet", ""],
      ...(region ? [["Region", rangesShort(region.ranks), ""] as const] : []),
      ["Drag", "takes the row elsewhere", ""],
    ],
  };
}
