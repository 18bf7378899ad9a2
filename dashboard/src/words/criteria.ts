// Expected transfer times, in words. Pure.

import type { Criteria, Criterion } from "../feed/criteria";
import { counted, duration, significant, unbroken } from "./index";
import { sizeWords } from "./courses";

const SCOPE_NAMES = { inter: "between nodes", intra: "within nodes" } as const;

/** How settled they are. */
export function statusWords({ version, isFinal }: Criteria): string {
  if (isFinal) return "final: learned from the whole run";
  return version === 0 ? "nothing learned yet" : `version ${version}, still being learned`;
}

/** What is known of messages between nodes and within, and what is not. */
export function criteriaSentence(criteria: Criteria): string {
  const scopes = (["inter", "intra"] as const).map((scope) => ({ scope, bins: criteria[scope] }));
  const known = scopes.filter(({ bins }) => bins.length > 0);
  const unknown = scopes.filter(({ bins }) => bins.length === 0).map(({ scope }) => `The expected transfer time of messages ${SCOPE_NAMES[scope]} is not known: no exact message of theirs was seen.`);
  return [...known.map(({ scope, bins }) => scopeWords(SCOPE_NAMES[scope], bins)), ratioWords(criteria), ...unknown].filter(Boolean).join(" ");
}

function scopeWords(name: string, bins: readonly Criterion[]): string {
  const [first, last] = [bins[0], bins.at(-1)];
  if (!first || !last) return "";
  const of = (bin: Criterion): string => `${unbroken(duration(bin.medianNs))} (${sizeWords(bin)})`;
  const samples = unbroken(counted(bins.reduce((sum, bin) => sum + bin.samples, 0), "exact message", "exact messages"));
  return first === last ? `Messages ${name} are expected to take ${of(first)}, by ${samples}.` : `Messages ${name} are expected to take ${of(first)} to ${of(last)}, by ${samples}.`;
}

/** How much longer messages take between nodes, where there are sizes of both. */
function ratioWords({ inter, intra }: Criteria): string {
  const within = new Map(intra.map((bin) => [bin.fromBytes, bin.medianNs]));
  const ratios = inter.flatMap(({ fromBytes, medianNs }) => {
    const other = within.get(fromBytes) ?? 0;
    return other > 0 ? [medianNs / other] : [];
  }).sort((one, other) => one - other);
  const median = ratios[Math.floor(ratios.length / 2)];
  return median === undefined ? "" : `For the same size, between nodes takes ${significant(median)} times as long as within (the median of ${unbroken(counted(ratios.length, "size", "sizes"))}).`;
}

/** One bin. */
export function binWords(bin: Criterion & { scope: "inter" | "intra" }, few: number): string {
  const samples = unbroken(counted(bin.samples, "sample", "samples"));
  return `${SCOPE_NAMES[bin.scope]}, ${sizeWords(bin)}: median ${unbroken(duration(bin.medianNs))}${bin.normalNs === null ? "" : `, normal up to ${unbroken(duration(bin.normalNs))}`} of ${samples}${bin.samples < few ? ", too few to stand alone: a line through its neighbours" : ""}`;
}
