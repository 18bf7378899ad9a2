// Sentences about call paths.

import type { Measure, Sums } from "../panels/paths/tree";
import { bytes, capital, count, counted, duration, share } from ".";

export const MEASURES: readonly { id: Measure; label: string; title: string }[] = [
  { id: "timeNs", label: "Time in MPI", title: "Functions are as wide as the time of the MPI calls that they lead to, over all ranks" },
  { id: "calls", label: "Calls", title: "Functions are as wide as the number of MPI calls that they lead to" },
  { id: "bytes", label: "Bytes", title: "Functions are as wide as what the MPI calls that they lead to sent, or received where they sent nothing" },
];

export function measured(measure: Measure, value: number): string {
  return measure === "timeNs" ? duration(value) : measure === "bytes" ? bytes(value) : count(value);
}

/** What all of it comes to. */
export function totalWords(sums: Sums): string {
  return `${duration(sums.timeNs)} in ${counted(sums.calls, "MPI call", "MPI calls")}, ${bytes(sums.bytes)}`;
}

/** How much of very many calls is counted yet; nothing where it is all. */
export function countedWords(part: number): string {
  return part < 1 ? `${share(part, 1)} of the calls are counted so far` : "";
}

export const NOT_RECORDED = "Call paths were not recorded: each call stands under the function that makes it. `mpiscope run --call-paths` records all functions from main on.";

export function partWords(measure: Measure, value: number, total: number): [string, string] {
  return [measured(measure, value), share(value, total)];
}

/** Why there is no source, as a sentence. */
export function noSource(why: string): string {
  return `${capital(why.replace(/\.$/, ""))}.`;
}
