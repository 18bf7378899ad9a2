// Hosts in words: their names, which of them are silent, how well their clocks agree. Pure.

import { type NodeCpus, type NodeRow, over, type RunState } from "../state/run";
import { count, counted, duration, share } from "./index";

export const PROCESS_STATES = ["running", "finalized", "aborted", "vanished", "silent"];
/** The process state of a rank whose host is not heard of: it may run or not. */
export const SILENT = 4;

/** More hosts than this are counted, not named. */
const HOSTS_NAMED = 3;
/** More ranges than this are cut. */
const RANGES_NAMED = 6;

export function nodeName({ nodes }: Pick<RunState, "nodes">, node: number): string {
  return nodes.get(node)?.name || `node ${node}`;
}

/** The name of the node where a rank runs; empty where that is not known. */
export function nodeOfRank(run: RunState, rank: number): string {
  const node = run.ranks.node[rank];
  return node === undefined || rank >= run.ranks.length || !run.nodes.has(node) ? "" : nodeName(run, node);
}

/** The place of each host when they are ordered as people order names: node2 before node10. */
export function nodeOrder(run: RunState): ReadonlyMap<number, number> {
  const names = new Intl.Collator("en", { numeric: true });
  const sorted = [...run.nodes.values()].sort((a, b) => names.compare(a.name, b.name) || a.node - b.node);
  return new Map(sorted.map(({ node }, place) => [node, place]));
}

/** Ascending numbers of ranks as people name them: "rank 7", "ranks 8–11, 14". */
export function rankRanges(ranks: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const rank of ranks) {
    const range = ranges.at(-1);
    if (range && rank === range[1] + 1) range[1] = rank;
    else ranges.push([rank, rank]);
  }
  const named = ranges.slice(0, RANGES_NAMED);
  const rest = ranges.slice(RANGES_NAMED).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const words = named.map(([first, last]) => (first === last ? String(first) : `${first}\u2013${last}`)).join(", ");
  return `${ranks.length === 1 ? "rank" : "ranks"} ${words}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Which hosts are not heard of, with the ranks that nothing is known of; empty when all are heard. */
export function silence(run: RunState): string {
  const silent = [...run.nodes.values()].filter((node) => node.isSilent);
  if (silent.length === 0) return "";
  const ranks = new Map<number, number[]>(silent.map(({ node }) => [node, []]));
  for (let rank = 0; rank < run.ranks.length; rank++) {
    if (run.ranks.state[rank] === SILENT) ranks.get(run.ranks.node[rank] ?? -1)?.push(rank);
  }
  const line = (name: string, found: readonly number[]): string => `${name} silent${found.length > 0 ? `: ${rankRanges(found)}` : ""}`;
  const lines = silent.length > HOSTS_NAMED
    ? [line(counted(silent.length, "node", "nodes"), [...ranks.values()].flat().sort((a, b) => a - b))]
    : silent.map(({ node, name }) => line(name || `node ${node}`, ranks.get(node) ?? []));
  const one = silent.length === 1;
  const meaning = over(run)
    ? `Nothing was heard of ${one ? "it" : "them"} any more when the job ended: further calls of ${one ? "its" : "their"} ranks are neither recorded nor counted as lost.`
    : `What its ranks do is shown once it is heard of again.`;
  return `${lines.join("; ")}. ${one || over(run) ? meaning : "What their ranks do is shown once they are heard of again."}`;
}

/** The share of the time in which a rank could run that it waited for a processor; not of the run: sleeping is no waiting. */
export function cpuWaitOf(run: RunState, rank: number): { part: number; words: string; waited: string; switches: string } {
  const runNs = run.ranks.runNs[rank] ?? 0;
  const waitNs = run.ranks.waitNs[rank] ?? 0;
  const known = runNs + waitNs > 0;
  return {
    part: known ? waitNs / (runNs + waitNs) : 0,
    words: share(waitNs, runNs + waitNs) || "\u2013",
    waited: known ? `${duration(waitNs)} of the time it could run` : "not known",
    // A rank that yields while it polls gives its core away as well: the system counts both alike.
    switches: known ? `its core went to others ${counted(run.ranks.involuntary[rank] ?? 0, "time", "times")}` : "",
  };
}

/** A quota may leave a part of a CPU. */
const decimal = (n: number): string => (n < 100 ? String(Math.round(n * 10) / 10) : count(Math.round(n)));
const cpuCount = (usable: number): string => `${decimal(usable)} ${usable === 1 ? "CPU" : "CPUs"}`;

/** Where ranks run: "on 4 nodes, 2 CPUs each". Empty while no node is known. */
export function whereRanksRun({ job, nodes }: RunState): string {
  if (job.nodes === 0) return "";
  const known = [...nodes.values()].flatMap(({ cpus }) => (cpus ? [cpus.usable] : []));
  const on = `on ${counted(job.nodes, "node", "nodes")}`;
  if (known.length === 0 || known.length < job.nodes) return on;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const each = job.nodes > 1 ? " each" : "";
  return least === most ? `${on}, ${cpuCount(most)}${each}` : `${on}, ${decimal(least)} to ${cpuCount(most)}${each}`;
}

/** The node on which most ranks share a CPU, if some node has more ranks than CPUs. */
export function mostCrowded({ nodes }: RunState): NodeRow & { cpus: NodeCpus } | null {
  const crowded = [...nodes.values()].filter((node): node is NodeRow & { cpus: NodeCpus } => node.cpus !== null && node.cpus.ranks > node.cpus.usable);
  return crowded.reduce<NodeRow & { cpus: NodeCpus } | null>((found, node) => (!found || perCpu(node.cpus) > perCpu(found.cpus) ? node : found), null);
}

/** Ranks that share a CPU, if they are spread evenly. */
export function perCpu({ ranks, usable }: NodeCpus): number {
  return ranks / Math.max(usable, 1e-3);
}

/** The same for people. */
export function ranksPerCpu(cpus: NodeCpus): string {
  return decimal(perCpu(cpus));
}

/** One sentence about the CPUs of a node: how many there are, how many its ranks may use, and how they share them. */
export function cpuSentence({ ranks, onHost, usable, isBound }: NodeCpus): string {
  const limit = usable < onHost ? `${cpuCount(usable)} of ${count(onHost)}` : cpuCount(usable);
  const binding = isBound ? "each rank is bound to a part of them" : "ranks are not bound to single CPUs";
  return `${counted(ranks, "rank", "ranks")} may use ${limit}; ${binding}${ranks > usable ? `, and ${ranksPerCpu({ ranks, onHost, usable, isBound })} ranks share a CPU` : ""}.`;
}

/** How well the clock of a host agrees with that of the run. */
export function clockAgreement(run: RunState, node: number): string {
  const uncertaintyNs = run.nodes.get(node)?.clockUncertaintyNs ?? Infinity;
  if (uncertaintyNs === 0) return "the run\u2019s own";
  return Number.isFinite(uncertaintyNs) ? `\u00b1 ${duration(uncertaintyNs)}` : "not compared yet";
}
