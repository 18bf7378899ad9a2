// What all views show: the run, or the part of it that is selected. One question to the server has the figures of a part:
// views cannot differ. Pure.

import type { Selected } from "../feed/selected";
import type { RankRanges, Span } from "./perspective";
import type { Figures } from "./questions";
import { edgeNs, over, type FunctionRow, type RunState } from "./run";

/** Of what figures are asked for, and how much of it there was then. */
export interface SelectedScope {
  /** Null: the whole run. */
  rangeNs: Span | null;
  /** Null: all. */
  ranks: RankRanges | null;
  hidden: readonly number[];
  isOver: boolean;
  isFinal: boolean;
  /** How far the run, or the range, went, and how far it was diagnosed. */
  untilS: number;
  diagnosedS: number;
}

export type SelectedFigures = Figures<SelectedScope, Selected>;

/** What views show, and of what it is. */
export interface Shown {
  run: RunState;
  /** Null: figures are of the whole run, because nothing is selected, or because those of the selection are not known. */
  selected: Selected | null;
  /** How long that is. */
  lengthNs: number;
  ranks: number;
}

/** A run that goes on: what is selected of it has grown after so long. */
const GROWTH_NS = 1e9;

export function selectedScope(run: RunState, { rangeNs, ranks, hidden }: { rangeNs: Span | null; ranks: RankRanges | null; hidden: ReadonlySet<number> }): SelectedScope | null {
  if (!rangeNs && !ranks && hidden.size === 0) return null;
  const { found } = run;
  return {
    rangeNs, ranks, hidden: [...hidden].sort((one, other) => one - other), isOver: over(run), isFinal: found?.isFinal ?? false,
    untilS: growthS(run, rangeNs),
    diagnosedS: found ? Math.min(found.untilS, rangeNs ? rangeNs[1] / 1e9 : Infinity) : 0,
  };
}

/** How much of a range, or of the run, is worth a new question. */
export function growthS(run: RunState, rangeNs: Span | null): number {
  const edge = edgeNs(run);
  const endNs = rangeNs ? Math.min(rangeNs[1], edge) : edge;
  // A range that ends between two questions is asked for to its end once the run is past it.
  return over(run) ? edge / 1e9 : Math.min(endNs, Math.floor(edge / GROWTH_NS) * GROWTH_NS) / 1e9;
}

/** Scopes of one subject differ only by how much there is of it. What came last of a run is asked for at once. */
export function subjectOf({ rangeNs, ranks, hidden, isOver, isFinal }: SelectedScope): string {
  return JSON.stringify([rangeNs, ranks, hidden, isOver, isFinal]);
}

/** Whether two scopes are of the same range, ranks and functions. */
export function isSameChoice(one: SelectedScope, other: SelectedScope): boolean {
  const choice = ({ rangeNs, ranks, hidden }: SelectedScope): string => JSON.stringify([rangeNs, ranks, hidden]);
  return choice(one) === choice(other);
}

/** The figures to show: of the choice before as long as those of the new one are on their way. */
export function knownOf(wanted: SelectedScope | null, { known, isAsking }: SelectedFigures): Selected | null {
  return wanted && known && (isAsking || isSameChoice(known.scope, wanted)) ? known.answer : null;
}

/** The run as the views show it. */
export function shownOf(run: RunState, selected: Selected | null): Shown {
  if (!selected) return { run, selected, lengthNs: run.clock.nowNs, ranks: run.job.ranks };
  const totals = { ...run.totals, ...pick(selected) };
  return {
    run: { ...run, totals, functions: functionsOf(run, selected), ranks: ranksOf(run, selected), regions: regionsOf(run, selected) },
    selected,
    lengthNs: selected.toNs - selected.fromNs,
    ranks: selected.ranks.length,
  };
}

function pick({ calls, polls, messages, intraMessages, interMessages, bytes }: Selected): Partial<RunState["totals"]> {
  return { calls, polls, messages, intraMessages, interMessages, bytes };
}

function functionsOf(run: RunState, { functions }: Selected): ReadonlyMap<number, FunctionRow> {
  const rows = new Map<number, FunctionRow>();
  functions.function.forEach((id, at) => {
    const before = run.functions.get(id);
    const figure = (column: Float64Array): number => column[at] ?? 0;
    rows.set(id, {
      id, name: before?.name ?? `function ${id}`, family: before?.family ?? "", calls: figure(functions.calls), polls: figure(functions.polls), bytes: figure(functions.bytes),
      timeNs: figure(functions.timeNs), p50Ns: figure(functions.p50Ns), p99Ns: figure(functions.p99Ns), maxNs: figure(functions.maxNs),
    });
  });
  return rows;
}

const RANK_FIGURES = ["calls", "mpiTimeNs", "sent", "received", "bytesSent"] as const;

function ranksOf(run: RunState, { ranks }: Selected): RunState["ranks"] {
  const after = { ...run.ranks };
  for (const name of RANK_FIGURES) {
    const column = new Float64Array(after.heard.length);
    ranks.rank.forEach((rank, at) => (column[rank] = ranks[name][at] ?? 0));
    after[name] = column;
  }
  return after;
}

function regionsOf({ regions }: RunState, { regions: found }: Selected): RunState["regions"] {
  if (!regions) return null;
  const places = new Map([...found.id].map((id, at) => [id, at]));
  const all = regions.regions.map((region) => {
    const at = places.get(region.id);
    if (at === undefined) return { ...region, messages: 0, delayed: 0, aboveExpected: 0, exactShare: 0, latency: null };
    const [messages, exact, latency] = [found.messages[at] ?? 0, found.exact[at] ?? 0, found.latency[at] ?? Number.NaN];
    return { ...region, messages, delayed: found.delayed[at] ?? 0, aboveExpected: found.aboveExpected[at] ?? 0, exactShare: messages > 0 ? exact / messages : 0, latency: Number.isNaN(latency) ? null : latency };
  });
  return { ...regions, regions: all };
}
