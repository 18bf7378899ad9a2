// What single calls look like in the page: columns, never an object for each call.

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
