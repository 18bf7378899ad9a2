// What another placement of the ranks would change, in words. Pure.

import type { Format } from "../feed/remap";
import { part, seconds } from "./found";

export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  rankfile: "rankfile (Open MPI)", machinefile: "machine file (MPICH)", slurm: "host list (Slurm)",
};

/** "62.0 % less"; where there was nothing before, there is no share. */
export function changeWords(before: number, after: number): string {
  if (before === after) return "as now";
  if (!(before > 0)) return "more";
  const change = Math.abs(before - after) / before;
  return `${part(change)} ${after < before ? "less" : "more"}`;
}

/** A command line as the daemon says it: what stands behind some blanks is not part of it. */
export function commandOf(text: string): { line: string; note: string } {
  const [line = "", ...rest] = text.split(/ {2,}/);
  return { line, note: rest.join(" ") };
}

/** Why nobody knows what placement costs, and what to do; the daemon's remark says the same. */
export const COST_NOT_KNOWN = "What placement costs is only roughly known, because transfer times within nodes or between them are not known; \u201cmpiscope calibrate\u201d measures them.";

/** What placement costs, wherever that is shown: of what is not known, at most the least that it is. */
export function placementCost(costS: number, isUnknown: boolean): string {
  if (!isUnknown) return seconds(costS);
  return costS > 0 ? `at least ${seconds(costS)}` : "not known";
}

export interface Gain { seconds: number; share: number; isUnknown: boolean }

/** Below this share of the ranks' time nobody should move ranks. */
export const WORTH_IT = 0.02;

/** What placed as advised the run would spare. */
export function gainWords(gain: Gain): string {
  const much = `${placementCost(Math.max(0, gain.seconds), gain.isUnknown)} of the ranks\u2019 time`;
  if (gain.isUnknown) return gain.seconds > 0 ? `Placed like that, the run would spare ${much}. ${COST_NOT_KNOWN}` : COST_NOT_KNOWN;
  const spared = `placed like that, the run would spare ${much}, ${part(gain.share)}.`;
  return gain.share >= WORTH_IT ? `P${spared.slice(1)}` : `It is not worth it: ${spared}`;
}
