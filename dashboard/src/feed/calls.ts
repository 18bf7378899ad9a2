// What single calls look like in the page: columns, never an object for each call; and how they are read.

import { type Fields, f64Column, i32Column, number, sameLength, u32Column } from "./columns";
import type * as Wire from "./types";

/** Calls that overlap a range of run time (tiles), or that ended within it (the live tail). */
export interface Calls {
  fromNs: number;
  toNs: number;
  /** How many calls there were; `length` of them are here. */
  total: number;
  /** The share (0..1] of the calls shorter than `allFromNs` that is here. */
  share: number;
  /** Every call at least this long is here; 0: all calls are. */
  allFromNs: number;
  length: number;
  rank: Uint32Array;
  thread: Uint32Array;
  function: Uint32Array;
  startNs: Float64Array;
  durationNs: Float64Array;
  peer: Uint32Array;
  tag: Int32Array;
  bytes: Float64Array;
  comm: Uint32Array;
  count: Float64Array;
}

/** In `peer` and `comm`: there is none. */
export const NONE = 0xffffffff;
/** In `tag`: there is none. */
export const NO_TAG = -2147483648;

/** Calls that are inside MPI right now, longest first. */
export interface InFlight {
  /** How many there are; `length` of them are listed. */
  total: number;
  length: number;
  rank: Uint32Array;
  thread: Uint32Array;
  function: Uint32Array;
  sinceNs: Float64Array;
}

/** How many calls ended in a range, by rows of ranks, function and duration. */
export interface History {
  fromNs: number;
  toNs: number;
  binsPerOctave: number;
  ranksPerRow: number;
  length: number;
  row: Uint32Array;
  function: Uint32Array;
  bin: Uint32Array;
  count: Float64Array;
  total: number;
}

export function calls(from: Fields<Wire.Calls>): Calls {
  const columns = {
    rank: u32Column(from, "rank"),
    thread: u32Column(from, "thread"),
    function: u32Column(from, "function"),
    startNs: f64Column(from, "start_ns"),
    durationNs: f64Column(from, "duration_ns"),
    peer: u32Column(from, "peer"),
    tag: i32Column(from, "tag"),
    bytes: f64Column(from, "bytes"),
    comm: u32Column(from, "comm"),
    count: f64Column(from, "count"),
  };
  return {
    fromNs: number(from, "from_ns"),
    toNs: number(from, "to_ns"),
    total: number(from, "total"),
    share: number(from, "share"),
    allFromNs: number(from, "all_from_ns"),
    length: sameLength("calls", columns),
    ...columns,
  };
}

export function inFlight(from: Fields<Wire.InFlight>): InFlight {
  const columns = {
    rank: u32Column(from, "rank"),
    thread: u32Column(from, "thread"),
    function: u32Column(from, "function"),
    sinceNs: f64Column(from, "since_ns"),
  };
  return { total: number(from, "total"), length: sameLength("in_flight", columns), ...columns };
}
