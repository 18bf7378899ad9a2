// How long calls took: of a selection, beside the whole run; and the longest of those between two durations. Checked.

import { type Calls, calls } from "./calls";
import { f64Column, type Fields, fields, natural, number, sameLength, u32Column } from "./columns";
import type * as Wire from "./types";

export interface CallDurations {
  fromNs: number;
  toNs: number;
  binsPerOctave: number;
  /** Bins with calls, in order: `floor(binsPerOctave * log2(1 + ns))`. */
  length: number;
  bin: Uint32Array;
  /** Calls of the selected ranks that begin in the range. */
  selected: Float64Array;
  /** Calls of all ranks in the whole run. */
  run: Float64Array;
  /** Longest first; `total` says how many took as long as was asked for. */
  longest: Calls;
}

export function callDurations(from: Fields<Wire.CallDurations>): CallDurations {
  const columns = { bin: u32Column(from, "bin"), selected: f64Column(from, "selected"), run: f64Column(from, "run") };
  return {
    fromNs: number(from, "from_ns"), toNs: number(from, "to_ns"), binsPerOctave: natural(from, "bins_per_octave"),
    length: sameLength("durations", columns), ...columns,
    longest: calls(fields(from.longest, "The longest calls")),
  };
}
