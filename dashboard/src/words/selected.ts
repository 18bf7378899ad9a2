// What figures are of, in words, wherever figures are shown. Pure.

import type { SelectedFigures, SelectedScope, Shown } from "../state/selected";
import { bytes, count, counted, duration, share, short } from "./index";
import type { Figure } from "./overview";
import { spanWords } from "./range";
import { ranksWords } from "./regions";

const WHOLE_RUN = "These are of the whole run.";

/** Null where nothing is selected: then all figures are of the whole run. What the selection is stands above all views. */
export function ofWhat(wanted: SelectedScope | null, { known, isAsking, why }: SelectedFigures, shown: Shown): { text: string; title: string } | null {
  if (!wanted) return null;
  if (!shown.selected || !known) {
    const text = why ? `The figures of the selection are missing: ${why.replace(/\.$/, "")}. ${WHOLE_RUN}` : `The figures of the selection are on their way. ${WHOLE_RUN}`;
    return { text, title: text };
  }
  const { rangeNs, ranks, hidden } = known.scope;
  const parts = [
    rangeNs ? spanWords([shown.selected.fromNs, shown.selected.toNs]) : "",
    ranks ? ranksWords(ranks, 2) : "",
    hidden.length > 0 ? `without ${counted(hidden.length, "hidden function", "hidden functions")}` : "",
  ];
  return { text: isAsking ? "of the selection, being updated" : "of the selection", title: parts.filter(Boolean).join("; ") };
}

/** The figures of a selection, in the place of the run's. */
export function selectionFigures({ run, selected, lengthNs, ranks }: Shown): Figure[] {
  if (!selected) return [];
  const { totals } = run;
  const longest = [...run.functions.values()].reduce<{ name: string; maxNs: number } | null>((found, row) => (row.maxNs > (found?.maxNs ?? 0) ? row : found), null);
  const ranksNs = ranks * lengthNs;
  return [
    { name: "Ranks", value: count(ranks), note: `of ${count(run.job.ranks)}` },
    { name: "Calls", value: count(totals.calls), note: totals.polls > 0 ? `and ${count(totals.polls)} polls` : "" },
    { name: "Mean rate", value: lengthNs > 0 ? `${short((totals.calls * 1e9) / lengthNs)} calls/s` : "\u2013", note: "of the selection" },
    { name: "Messages", value: count(totals.messages), note: totals.messages > 0 ? `${share(totals.intraMessages, totals.messages)} within nodes` : "" },
    { name: "Payload", value: bytes(totals.bytes), note: totals.messages > 0 ? `${bytes(totals.bytes / totals.messages)} a message` : "" },
    { name: "In MPI", value: duration(selected.mpiTimeNs), note: ranksNs > 0 ? `${share(selected.mpiTimeNs, ranksNs)} of ranks\u2019 time` : "" },
    { name: "Longest call", value: longest ? duration(longest.maxNs) : "\u2013", note: longest?.name ?? "" },
  ];
}
