// Whether calls are recorded, and when they were not. Checked and bounded.

import { bounded, FeedError, type Fields, list, natural, truth } from "./columns";
import type * as Wire from "./types";

export interface Switch {
  isOn: boolean;
  /** Of how many seconds calls are held back while recording is off; null where they are not. */
  heldS: number | null;
  unrecordedCalls: number;
  /** Since when they were not, and until when; null for to the end or until now. */
  gapsNs: readonly (readonly [number, number | null])[];
}

export type Gaps = Switch["gapsNs"];

export const NO_GAPS: Gaps = [];

/** For how much of a stretch recording was off. */
export function offNs(gaps: Gaps, fromNs: number, toNs: number): number {
  return gaps.reduce((sum, [from, until]) => sum + Math.max(0, Math.min(until ?? Infinity, toNs) - Math.max(from, fromNs)), 0);
}

/** More than any daemon tells. */
const GAPS_MAX = 8192;

export function recordingSwitch(from: Fields<Wire.Switch>): Switch {
  const gapsNs = bounded("gaps_s", list(from, "gaps_s"), GAPS_MAX).map((entry): readonly [number, number | null] => {
    const [since, until] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof since !== "number" || (typeof until !== "number" && until !== null)) throw new FeedError('The list "gaps_s" holds something that is no stretch.');
    return [since * 1e9, until === null ? null : until * 1e9];
  });
  const heldS = typeof from.held_s === "number" ? from.held_s : null;
  return { isOn: truth(from, "is_on"), heldS, unrecordedCalls: natural(from, "unrecorded_calls"), gapsNs };
}
