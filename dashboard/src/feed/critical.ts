// The critical path of a range: what ended each wait, from the last event backwards. Checked.

import { FeedError, f64Column, type Fields, natural, sameLength, u32Column } from "./columns";
import type * as Wire from "./types";

/** In the order of their numbers. */
export const PATH_KINDS = ["compute", "call", "transfer", "collective"] as const;
export type PathKind = (typeof PATH_KINDS)[number];

export interface CriticalPath {
  fromNs: number;
  toNs: number;
  length: number;
  rank: Uint32Array;
  kind: Uint32Array;
  startNs: Float64Array;
  function: Uint32Array;
  site: Uint32Array;
  /** Where the path came from, of a transfer or a collective. */
  other: Uint32Array;
  /** Steps stand for others beside them that are too short to be seen. */
  isJoined: boolean;
  /** What it is made of, the most first; exact. */
  parts: { length: number; kind: Uint32Array; function: Uint32Array; site: Uint32Array; ns: Float64Array; steps: Float64Array };
}

export function criticalPath(from: Fields<Wire.CriticalPath>): CriticalPath {
  const steps = {
    rank: u32Column(from, "rank"), kind: u32Column(from, "kind"), startNs: f64Column(from, "start_ns"), function: u32Column(from, "function"),
    site: u32Column(from, "site"), other: u32Column(from, "other"),
  };
  const parts = {
    kind: u32Column(from, "part_kind"), function: u32Column(from, "part_function"), site: u32Column(from, "part_site"), ns: f64Column(from, "part_ns"), steps: f64Column(from, "part_steps"),
  };
  if ([...steps.kind, ...parts.kind].some((kind) => kind >= PATH_KINDS.length)) throw new FeedError("The critical path has a kind of step that is not known.");
  return {
    fromNs: natural(from, "from_ns"), toNs: natural(from, "to_ns"), length: sameLength("critical path", steps), ...steps, isJoined: from.is_joined === true,
    parts: { length: sameLength("parts of the critical path", parts), ...parts },
  };
}

export function kindOf(path: CriticalPath, step: number): PathKind {
  return PATH_KINDS[path.kind[step] ?? 0] ?? "compute";
}

export function endNs(path: CriticalPath, step: number): number {
  return path.startNs[step + 1] ?? path.toNs;
}

/** The step at a moment; -1 where the path is not. */
export function stepAt(path: CriticalPath, ns: number): number {
  if (path.length === 0 || ns < path.fromNs || ns >= path.toNs) return -1;
  let [low, high] = [0, path.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((path.startNs[middle] ?? 0) <= ns) low = middle;
    else high = middle;
  }
  return low;
}
