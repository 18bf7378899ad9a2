// From feed messages to what the page knows of the run. No socket, no clock, no document.

import type { InFlight } from "../feed/calls";
import type { Compared } from "../feed/compared";
import type { Evolution, Pending } from "../feed/evolution";
import type { FindingsReport } from "../feed/found";
import type {
  Clock, Faults, FunctionRows, Job, Losses, NodeRows, RankRows, StateMessage, TimelineCells, Totals,
} from "../feed/message";
import type { Pairs, Regions } from "../feed/regions";
import type { Hangs } from "../feed/hangs";
import type { Switch } from "../feed/switch";
import { unchanged } from "../same";
import { snappedEvolution } from "./snap";

/** One function; the row is replaced when anything about it changes. */
export interface FunctionRow {
  id: number; name: string; family: string; calls: number; polls: number; bytes: number;
  timeNs: number; p50Ns: number; p99Ns: number; maxNs: number;
}

const RANK_COLUMNS = [
  "node", "calls", "sent", "received", "bytesSent", "mpiTimeNs", "runNs", "waitNs", "involuntary", "state", "endedNs",
] as const;
export type RankColumn = (typeof RANK_COLUMNS)[number];

/** Ranks as columns indexed by rank; jobs have thousands. `heard[rank]` is 1 once the rank was heard. */
export interface Ranks extends Record<RankColumn, Float64Array> {
  /** One more than the highest rank heard. */
  length: number;
  count: number;
  heard: Uint8Array;
}

/** One host; its clock's uncertainty is infinite while it is not known. */
/** The CPUs that the ranks of a node may use together. */
export interface NodeCpus { ranks: number; onHost: number; usable: number; isBound: boolean }

export interface NodeRow {
  node: number; name: string; clockUncertaintyNs: number; isSilent: boolean;
  /** Null while they are not known. */
  cpus: NodeCpus | null;
}

/** Counts of call starts by function, `counts.get(id)[window]`, over the whole run. */
export interface Timeline {
  windowNs: number;
  windows: number;
  counts: Map<number, Float64Array>;
}

export interface RunState {
  /** Of the newest message; -1 before any. */
  number: number;
  clock: Clock;
  job: Job;
  totals: Totals;
  losses: Losses;
  faults: Faults;
  functions: ReadonlyMap<number, FunctionRow>;
  /** Its columns are changed in place (and grown); a new wrapper says that they were. */
  ranks: Ranks;
  nodes: ReadonlyMap<number, NodeRow>;
  /** Its columns are changed in place (and grown); a new wrapper says that they were. */
  timeline: Timeline;
  inFlight: InFlight | null;
  /** The same by region; null where nobody said. */
  pending: Pending | null;
  /** Whether the job hangs or hung, and what it ended in; null where nobody said. */
  hangs: Hangs | null;
  /** Whether calls are recorded; null where nobody said. */
  switch: Switch | null;
  /** The newest diagnosis; null before the first. */
  found: FindingsReport | null;
  /** Who talks to whom, in groups; null before the first. */
  regions: Regions | null;
  /** How latency went by region; null before the first window. */
  evolution: Evolution | null;
  /** Who talks to whom, by ranks. */
  pairs: Pairs | null;
  longestNs: number;
  /** Two recordings that are compared; null where it is one that is shown. */
  compared: Compared | null;
}

/** More ranks than any job has, and more windows than any feed sends: a wrong number must not fill the memory. */
const RANKS_MAX = 1 << 22;
const WINDOWS_MAX = 1 << 17;

export function emptyRun(): RunState {
  return {
    number: -1,
    clock: { nowNs: 0, lagNs: 0 },
    job: { run: "", command: "", nodes: 0, ranks: 0, mpi: "", state: "waiting", exit: null, startedUnixNs: 0, source: "live", second: "" },
    totals: {
      calls: 0, polls: 0, messages: 0, bytes: 0, intraMessages: 0, interMessages: 0,
      unmatchedSends: 0, unmatchedReceives: 0, uncertainMessages: 0,
    },
    losses: { ringFull: 0, noRing: 0, unreadable: 0, unsaved: 0 },
    faults: { count: 0, newest: [] },
    functions: new Map(),
    ranks: emptyRanks(64),
    nodes: new Map(),
    timeline: { windowNs: 0, windows: 0, counts: new Map() },
    inFlight: null,
    pending: null,
    hangs: null,
    switch: null,
    found: null,
    regions: null,
    evolution: null,
    pairs: null,
    longestNs: 0,
    compared: null,
  };
}

function emptyRanks(capacity: number): Ranks {
  const columns = Object.fromEntries(RANK_COLUMNS.map((name) => [name, new Float64Array(capacity)])) as Record<RankColumn, Float64Array>;
  return { length: 0, count: 0, heard: new Uint8Array(capacity), ...columns };
}

/**
 * The state after a message. A delta that is not the next one changes nothing: the server sends a snapshot by itself
 * when a page fell behind.
 */
export function apply(before: RunState, message: StateMessage): RunState {
  const snapshot = message.kind === "snapshot";
  if (!snapshot && message.number !== before.number + 1) return before;
  const state: RunState = { ...(snapshot ? emptyRun() : before), number: message.number, clock: message.clock };
  if (message.job) state.job = message.job;
  if (message.totals) state.totals = message.totals;
  if (message.losses) state.losses = message.losses;
  if (message.faults) state.faults = message.faults;
  if (message.inFlight) state.inFlight = message.inFlight;
  if (message.pending) state.pending = message.pending;
  if (message.hangs) state.hangs = message.hangs;
  if (message.switch) state.switch = message.switch;
  if (message.compared) state.compared = message.compared;
  if (message.found) {
    state.found = message.found;
    state.regions = unchanged(state.regions, message.found.diagnosis.regions);
    state.evolution = withEvolution(state.evolution, snappedEvolution(message.found.evolution, message.found.diagnosis.disturbances));
  }
  if (message.functions) {
    state.functions = withFunctions(state.functions, message.functions);
    for (const row of state.functions.values()) state.longestNs = Math.max(state.longestNs, row.maxNs);
  }
  if (message.ranks) state.ranks = withRanks(state.ranks, message.ranks);
  if (message.nodes) state.nodes = withNodes(state.nodes, message.nodes);
  if (message.timeline) state.timeline = withCells(state.timeline, message.timeline);
  if (over(state)) state.inFlight = state.pending = null;
  return state;
}

/** The job has ended, or had before this page's server started: the run time stops. */
export function over(state: RunState): boolean {
  return state.job.source === "replay" || state.job.state === "ended" || state.job.state === "killed";
}

/** Calls are complete up to here. */
export function edgeNs(state: RunState): number {
  return over(state) ? state.clock.nowNs : Math.max(0, state.clock.nowNs - state.clock.lagNs);
}

export function lost(losses: Losses): number {
  return losses.ringFull + losses.noRing + losses.unreadable + losses.unsaved;
}

function withFunctions(before: ReadonlyMap<number, FunctionRow>, part: FunctionRows): ReadonlyMap<number, FunctionRow> {
  const after = new Map(before);
  for (let index = 0; index < part.length; index++) {
    const id = part.id[index] ?? 0;
    after.set(id, {
      id,
      name: part.name[index] ?? "",
      family: part.family[index] ?? "",
      calls: part.calls[index] ?? 0,
      polls: part.polls[index] ?? 0,
      bytes: part.bytes[index] ?? 0,
      timeNs: part.timeNs[index] ?? 0,
      p50Ns: part.p50Ns[index] ?? 0,
      p99Ns: part.p99Ns[index] ?? 0,
      maxNs: part.maxNs[index] ?? 0,
    });
  }
  return after;
}

/** Room for `length` values, doubling. */
function wider<T extends Float64Array | Uint8Array>(column: T, length: number): T {
  if (length <= column.length) return column;
  const make = column.constructor as new (capacity: number) => T;
  const grown = new make(2 ** Math.ceil(Math.log2(length)));
  grown.set(column);
  return grown;
}

/** Nothing is known as long as no window is. */
function withEvolution(before: Evolution | null, now: Evolution): Evolution | null {
  return now.regions.length + now.links.length > 0 ? unchanged(before, now) : null;
}

function withRanks(before: Ranks, part: RankRows): Ranks {
  const after = { ...before };
  for (let index = 0; index < part.length; index++) {
    const rank = part.rank[index] ?? 0;
    if (rank >= RANKS_MAX) continue;
    after.length = Math.max(after.length, rank + 1);
    after.heard = wider(after.heard, after.length);
    if (after.heard[rank] === 0) after.count++;
    after.heard[rank] = 1;
    for (const name of RANK_COLUMNS) {
      after[name] = wider(after[name], after.length);
      after[name][rank] = part[name][index] ?? 0;
    }
  }
  return after;
}

function nodeCpus(part: NodeRows, index: number): NodeCpus | null {
  const onHost = part.cpusOnHost[index] ?? 0;
  return onHost === 0 ? null : { ranks: part.ranks[index] ?? 0, onHost, usable: part.cpusUsable[index] ?? 0, isBound: part.bound[index] === 1 };
}

function withNodes(before: ReadonlyMap<number, NodeRow>, part: NodeRows): ReadonlyMap<number, NodeRow> {
  const after = new Map(before);
  for (let index = 0; index < part.length; index++) {
    const node = part.node[index] ?? 0;
    after.set(node, {
      node,
      name: part.name[index] ?? "",
      clockUncertaintyNs: part.clockUncertaintyNs[index] ?? Infinity,
      isSilent: part.state[index] === 1,
      cpus: nodeCpus(part, index),
    });
  }
  return after;
}

function withCells(before: Timeline, part: TimelineCells): Timeline {
  const same = part.windowNs === before.windowNs;
  const after: Timeline = same ? { ...before } : { windowNs: part.windowNs, windows: 0, counts: new Map() };
  if (!(part.windowNs > 0)) return after;
  for (let index = 0; index < part.length; index++) {
    const window = Math.round((part.startNs[index] ?? 0) / part.windowNs);
    if (!(window >= 0 && window < WINDOWS_MAX)) continue;
    const id = part.function[index] ?? 0;
    const column = wider(after.counts.get(id) ?? new Float64Array(256), window + 1);
    column[window] = part.calls[index] ?? 0;
    after.counts.set(id, column);
    after.windows = Math.max(after.windows, window + 1);
  }
  return after;
}
