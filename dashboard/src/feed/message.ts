// The messages of feed protocol 2: bytes in, checked values out. Nothing of the page.

import { decode as unpack } from "@msgpack/msgpack";
import { type AccessMessage, accessMessage } from "./access";
import { type AnnotationsMessage, annotationsMessage } from "./annotations";
import { answer, type AnswerFields, type AnswerMessage } from "./answer";
import { type Calls, calls, type InFlight, inFlight } from "./calls";
import { FeedError, type Fields, f64Column, fields, list, number, numbers, pair, sameLength, text, texts, u32Column } from "./columns";
import { type Compared, compared } from "./compared";
import { type Pending, pending } from "./evolution";
import { type FindingsReport, found } from "./found";
import { type PanelMessage, panelMessage, type PanelsMessage, panelsMessage } from "./panels";
import { type Hangs, hangs } from "./hangs";
import { recordingSwitch, type Switch } from "./switch";
import type * as Wire from "./types";

export const PROTOCOL = 2;

export type JobState = "waiting" | "running" | "ended" | "killed";

export interface Job {
  run: string;
  command: string;
  nodes: number;
  ranks: number;
  mpi: string;
  state: JobState;
  exit: number | null;
  startedUnixNs: number;
  source: "live" | "replay";
  /** The folder of a second recording that programs receive; empty where there is none. */
  second: string;
}

export interface Totals {
  calls: number;
  polls: number;
  messages: number;
  bytes: number;
  intraMessages: number;
  interMessages: number;
  unmatchedSends: number;
  unmatchedReceives: number;
  uncertainMessages: number;
}

export interface Losses { ringFull: number; noRing: number; unreadable: number; unsaved: number }
export interface Fault { rank: number | null; atNs: number; text: string }
export interface Faults { count: number; newest: readonly Fault[] }

export interface FunctionRows {
  length: number;
  id: Uint32Array;
  name: readonly string[];
  family: readonly string[];
  calls: Float64Array;
  polls: Float64Array;
  bytes: Float64Array;
  timeNs: Float64Array;
  p50Ns: Float64Array;
  p99Ns: Float64Array;
  maxNs: Float64Array;
}

export interface RankRows {
  length: number;
  rank: Uint32Array;
  node: Uint32Array;
  calls: Float64Array;
  sent: Float64Array;
  received: Float64Array;
  bytesSent: Float64Array;
  mpiTimeNs: Float64Array;
  runNs: Float64Array;
  waitNs: Float64Array;
  involuntary: Float64Array;
  /** 0 running, 1 finalized, 2 aborted, 3 vanished, 4 silent. */
  state: Uint32Array;
  /** When its last call ended, if it makes no more; else 0. */
  endedNs: Float64Array;
}

export interface NodeRows {
  length: number;
  node: Uint32Array;
  name: readonly string[];
  /** Infinite while it is not known. */
  clockUncertaintyNs: Float64Array;
  /** 0 connected, 1 silent. */
  state: Uint32Array;
  /** Ranks that share its CPUs; 0 while that is not known, as in the next two. */
  ranks: Uint32Array;
  cpusOnHost: Uint32Array;
  cpusUsable: Float64Array;
  /** 1 where each rank is bound to a part of them. */
  bound: Uint32Array;
}

/** Counts of call starts of the whole run: one row for each window and function with calls. */
export interface TimelineCells {
  windowNs: number;
  length: number;
  startNs: Float64Array;
  function: Uint32Array;
  calls: Float64Array;
}

export interface Clock { nowNs: number; lagNs: number }

export interface StateMessage {
  kind: "snapshot" | "delta";
  number: number;
  clock: Clock;
  job?: Job;
  totals?: Totals;
  losses?: Losses;
  faults?: Faults;
  functions?: FunctionRows;
  ranks?: RankRows;
  nodes?: NodeRows;
  timeline?: TimelineCells;
  inFlight?: InFlight;
  pending?: Pending;
  hangs?: Hangs;
  switch?: Switch;
  found?: FindingsReport;
  calls?: Calls;
  compared?: Compared;
}

export type Mode = "live" | "paused" | "playing";

export interface PerspectiveMessage {
  kind: "perspective";
  version: number;
  mode: Mode;
  timeNs: number;
  rate: number;
  rangeNs: readonly [number, number] | null;
  ranks: readonly (readonly [number, number])[] | null;
  hidden: readonly number[];
  pages: number;
  followers: number;
}

export type Message = StateMessage | PerspectiveMessage | AnswerMessage | AnnotationsMessage | AccessMessage | PanelsMessage | PanelMessage;

/** The server speaks another version; no snapshot helps. */
export class ProtocolMismatch extends Error {}

export function decode(buffer: ArrayBuffer): Message {
  const value = unpackChecked(buffer);
  const { kind } = fields<{ kind: string }>(value, "The message");
  switch (kind) {
    case "snapshot":
    case "delta":
      return stateMessage(value as Fields<Wire.Message>, kind);
    case "perspective":
      return perspective(value as Fields<Wire.PerspectiveMessage>);
    case "answer":
      return answer(value as AnswerFields);
    case "access":
      return accessMessage(value as Fields<Wire.Access>);
    case "panels":
      return panelsMessage(value as Fields<Wire.Panels>);
    case "panel_message":
      return panelMessage(value as Fields<Wire.PanelMessage>);
    case "annotations":
      return annotationsMessage(value as Fields<Wire.Annotations>);
    default:
      throw new FeedError("The message is of a kind that this page does not know.");
  }
}

function unpackChecked(buffer: ArrayBuffer): unknown {
  try {
    return unpack(buffer);
  } catch {
    throw new FeedError("The message is not whole MessagePack.");
  }
}

function stateMessage(value: Fields<Wire.Message>, kind: "snapshot" | "delta"): StateMessage {
  if (value.protocol !== PROTOCOL) throw new ProtocolMismatch(`The server speaks feed protocol ${String(value.protocol)}.`);
  const clock = fields<Wire.Clock>(value.clock, "The clock");
  const message: StateMessage = {
    kind,
    number: number(value, "number"),
    clock: { nowNs: number(clock, "now_ns"), lagNs: number(clock, "lag_ns") },
  };
  const part = <W, T>(name: keyof Wire.Message, read: (from: Fields<W>) => T): T | undefined =>
    value[name] === undefined || value[name] === null ? undefined : read(fields(value[name], `The part "${name}"`));
  const parts = {
    job: part("job", job),
    totals: part("totals", totals),
    losses: part("losses", losses),
    faults: part("faults", faults),
    functions: part("functions", functionRows),
    ranks: part("ranks", rankRows),
    nodes: part("nodes", nodeRows),
    timeline: part("timeline", timelineCells),
    inFlight: part("in_flight", inFlight),
    pending: part("pending", pending),
    // words: allow the key of the feed
    hangs: part("standing", hangs),
    switch: part("switch", recordingSwitch),
    found: part("found", found),
    calls: part("calls", calls),
    compared: part("compared", compared),
  };
  return Object.assign(message, Object.fromEntries(Object.entries(parts).filter(([, read]) => read !== undefined)));
}

function job(from: Fields<Wire.Job>): Job {
  const state = from.state;
  if (state !== "waiting" && state !== "running" && state !== "ended" && state !== "killed") {
    throw new FeedError("The job is in a state that this page does not know.");
  }
  return {
    run: text(from, "run"),
    command: text(from, "command"),
    nodes: number(from, "nodes"),
    ranks: number(from, "ranks"),
    mpi: text(from, "mpi"),
    state,
    exit: from.exit === null || from.exit === undefined ? null : number(from, "exit"),
    startedUnixNs: number(from, "started_unix_ns"),
    source: from.source === "replay" ? "replay" : "live",
    second: text(from, "second"),
  };
}

function totals(from: Fields<Wire.Totals>): Totals {
  return numbers(
    from,
    "calls", "polls", "messages", "bytes", "intra_messages", "inter_messages",
    "unmatched_sends", "unmatched_receives", "uncertain_messages",
  );
}

function losses(from: Fields<Wire.Losses>): Losses {
  return numbers(from, "ring_full", "no_ring", "unreadable", "unsaved");
}

function faults(from: Fields<Wire.Faults>): Faults {
  const newest = list(from, "newest").map((entry): Fault => {
    const row = fields<Wire.Fault>(entry, "A fault");
    const rank = row.rank;
    return { rank: typeof rank === "number" ? rank : null, atNs: number(row, "at_ns"), text: text(row, "text") };
  });
  return { count: number(from, "count"), newest };
}

function functionRows(from: Fields<Wire.Functions>): FunctionRows {
  const columns = {
    id: u32Column(from, "id"),
    name: texts(from, "name"),
    family: texts(from, "family"),
    calls: f64Column(from, "calls"),
    polls: f64Column(from, "polls"),
    bytes: f64Column(from, "bytes"),
    timeNs: f64Column(from, "time_ns"),
    p50Ns: f64Column(from, "p50_ns"),
    p99Ns: f64Column(from, "p99_ns"),
    maxNs: f64Column(from, "max_ns"),
  };
  return { length: sameLength("functions", columns), ...columns };
}

function rankRows(from: Fields<Wire.Ranks>): RankRows {
  const columns = {
    rank: u32Column(from, "rank"),
    node: u32Column(from, "node"),
    calls: f64Column(from, "calls"),
    sent: f64Column(from, "sent"),
    received: f64Column(from, "received"),
    bytesSent: f64Column(from, "bytes_sent"),
    mpiTimeNs: f64Column(from, "mpi_time_ns"),
    runNs: f64Column(from, "run_ns"),
    waitNs: f64Column(from, "wait_ns"),
    involuntary: f64Column(from, "involuntary"),
    state: u32Column(from, "state"),
    endedNs: f64Column(from, "ended_ns"),
  };
  return { length: sameLength("ranks", columns), ...columns };
}

function nodeRows(from: Fields<Wire.Nodes>): NodeRows {
  const columns = {
    node: u32Column(from, "node"),
    name: texts(from, "name"),
    clockUncertaintyNs: f64Column(from, "clock_uncertainty_ns"),
    state: u32Column(from, "state"),
    ranks: u32Column(from, "ranks"),
    cpusOnHost: u32Column(from, "cpus_on_host"),
    cpusUsable: f64Column(from, "cpus_usable"),
    bound: u32Column(from, "bound"),
  };
  return { length: sameLength("nodes", columns), ...columns };
}

function timelineCells(from: Fields<Wire.TimelineCells>): TimelineCells {
  const columns = { startNs: f64Column(from, "start_ns"), function: u32Column(from, "function"), calls: f64Column(from, "calls") };
  return { windowNs: number(from, "window_ns"), length: sameLength("timeline", columns), ...columns };
}

function perspective(value: Fields<Wire.PerspectiveMessage>): PerspectiveMessage {
  const mode = value.mode;
  if (mode !== "live" && mode !== "paused" && mode !== "playing") throw new FeedError("The shared clock is in a mode that this page does not know.");
  const range = value.range_ns;
  const ranks = value.ranks;
  return {
    kind: "perspective",
    version: number(value, "version"),
    mode,
    timeNs: number(value, "time_ns"),
    rate: number(value, "rate"),
    rangeNs: range === null || range === undefined ? null : pair(range, "range_ns"),
    ranks: ranks === null || ranks === undefined ? null : list(value, "ranks").map((entry) => pair(entry, "ranks")),
    hidden: list(value, "hidden").filter((id): id is number => typeof id === "number"),
    pages: number(value, "pages"),
    followers: number(value, "followers"),
  };
}
