// What another placement of the ranks would change, in words. Pure.

import type { Format } from "../feed/remap";
import { part } from "./found";

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
