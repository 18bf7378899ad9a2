// The critical path in words. Pure.

import type { Sites } from "../../feed/call-sites";
import { NONE } from "../../feed/calls";
import { type CriticalPath, endNs, kindOf, PATH_KINDS, type PathKind } from "../../feed/critical";
import type { RunState } from "../../state/run";
import { clock, count, duration, share } from "../../words";
import type { TipText } from "../../words/regions";

export const KIND_WORDS: Readonly<Record<PathKind, string>> = { compute: "Computing", call: "In the call", transfer: "Transfer", collective: "Collective" };

export interface PathPart { kind: PathKind; what: string; site: string; ns: number; steps: number }

export function partsOf({ parts }: CriticalPath, run: RunState, sites: Sites): PathPart[] {
  return Array.from({ length: parts.length }, (_, at) => {
    const kind = PATH_KINDS[parts.kind[at] ?? 0] ?? "compute";
    return { kind, what: whatWords(kind, parts.function[at] ?? NONE, run), site: sites.get(parts.site[at] ?? NONE) ?? "", ns: parts.ns[at] ?? 0, steps: parts.steps[at] ?? 0 };
  });
}

function nameOf(id: number, run: RunState): string {
  return id === NONE ? "" : run.functions.get(id)?.name ?? `function ${id}`;
}

/** "computing before MPI_Send", "in MPI_Wait", "transfer into MPI_Recv". */
export function whatWords(kind: PathKind, id: number, run: RunState): string {
  const name = nameOf(id, run);
  if (kind === "compute") return name ? `computing before ${name}` : "computing";
  if (kind === "call") return `in ${name || "a call"}`;
  if (kind === "transfer") return name ? `transfer into ${name}` : "transfer";
  return name || "a collective";
}

export function tellStep(path: CriticalPath, step: number, run: RunState, sites: Sites): TipText {
  const [kind, rank, other] = [kindOf(path, step), path.rank[step] ?? 0, path.other[step] ?? 0];
  const start = path.startNs[step] ?? 0;
  const site = sites.get(path.site[step] ?? NONE);
  return {
    title: `Rank ${rank}: ${whatWords(kind, path.function[step] ?? NONE, run)}`,
    rows: [
      ["From", clock(start, 6), ""], ["Length", duration(endNs(path, step) - start), path.isJoined ? "with shorter steps beside it" : ""],
      ...(other !== rank ? [["Waited for", `rank ${other}`, ""] as const] : []),
      ...(site ? [["Call site", site, ""] as const] : []),
    ],
  };
}

/** The length, and by kind its part: "Critical path 8.00 s: 71 % computing, 20 % transfer". */
export function pathWords(path: CriticalPath): string {
  const all = path.parts.ns.reduce((sum, ns) => sum + ns, 0);
  if (all === 0) return "The critical path is empty: no call lies in this range.";
  const sums = PATH_KINDS.map((kind, number) => [kind, path.parts.ns.reduce((sum, ns, at) => sum + (path.parts.kind[at] === number ? ns : 0), 0)] as const);
  const words = sums.filter(([, ns]) => ns > 0.005 * all).sort((one, other) => other[1] - one[1]).map(([kind, ns]) => `${share(ns, all)} ${SHORT[kind]}`);
  return `${duration(all)}: ${words.join(", ")}; ${count(ranksOf(path).length)} ranks`;
}

const SHORT: Readonly<Record<PathKind, string>> = { compute: "computing", call: "in calls", transfer: "transfer", collective: "collectives" };

/** Ranks on the path by their time on it, the most first. */
export function ranksOf(path: CriticalPath): [rank: number, ns: number][] {
  const sums = new Map<number, number>();
  for (let step = 0; step < path.length; step++) {
    const rank = path.rank[step] ?? 0;
    sums.set(rank, (sums.get(rank) ?? 0) + endNs(path, step) - (path.startNs[step] ?? 0));
  }
  return [...sums].sort((one, other) => other[1] - one[1] || one[0] - other[0]);
}
