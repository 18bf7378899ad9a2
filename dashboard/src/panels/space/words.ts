// What the 3D view shows, in sentences. Pure.

import type { RankMetrics, Suggestion } from "../../feed/ranks";
import { counted, clock, significant, unbroken } from "../../words";
import { metricOf, type Unit, valueWords } from "../../words/metrics";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { filterEnds, type Filter, isFiltering, type Scale } from "./scale";
import { NONE } from "./choices";
import type { MetricsScope } from "./state";

const MEMBERS_NAMED = 3;
/** The share of neighbours that have to stand out too. */
const CLUSTERED = 0.25;

export interface Drawn {
  layout: string;
  ranks: number;
  hidden: number;
  color: string;
  size: string;
  height: string;
  opacity: string;
  of: Restriction;
}

/** What figures are of: calls of one function or call site, and one phase; null where they are of all. */
export interface Restriction { function: string | null; site: string | null; phase: string | null }

export const UNRESTRICTED: Restriction = { function: null, site: null, phase: null };

export function labelOf(id: string, of: Restriction): string {
  const metric = metricOf(id);
  if (!metric) return "the layout\u2019s own value";
  const whose = of.function && metric.isOfFunction ? (metric.id === "mpi_time" ? `time in ${of.function}` : `${metric.label} of ${of.function}`) : metric.label;
  const site = of.site && metric.isOfFunction ? ` at ${of.site}` : "";
  return `${whose}${site}${of.phase && metric.isOfPhase ? ` in phase ${of.phase}` : ""}`;
}

export function unitOf(id: string): Unit | null {
  return metricOf(id)?.unit ?? null;
}

/** "512 ranks, sphere; colour: waiting for late senders, 0 s to 3.2 s." */
export function drawnWords(drawn: Drawn, scale: Scale | null): string {
  const parts = [`${counted(drawn.ranks, "rank", "ranks")}, ${drawn.layout}`];
  const unit = unitOf(drawn.color);
  const range = scale ? `, ${valueWords(scale.least, unit)} to ${valueWords(scale.most, unit)}` : "";
  parts.push(`colour: ${labelOf(drawn.color, drawn.of)}${unbroken(range)}`);
  for (const [name, id] of [["size", drawn.size], ["height", drawn.height], ["opacity", drawn.opacity]] as const) {
    if (id !== NONE) parts.push(`${name}: ${labelOf(id, drawn.of)}`);
  }
  if (drawn.hidden > 0) parts.push(`${counted(drawn.hidden, "rank", "ranks")} filtered out`);
  return `${parts.join("; ")}.`;
}

/** Which stretch of the run figures are of. */
export function whenWords({ when, metrics }: MetricsScope, answer: RankMetrics): string {
  const span = spanWords([answer.fromNs, answer.toNs]);
  const isDiagnosed = answer.diagnosedToNs > answer.diagnosedFromNs && metrics.some((id) => metricOf(id)?.isDiagnosed);
  const windows = isDiagnosed && (answer.diagnosedFromNs !== answer.fromNs || answer.diagnosedToNs !== answer.toNs)
    ? ` Diagnosed in whole windows, ${unbroken(`${clock(answer.diagnosedFromNs, 3)} to ${clock(answer.diagnosedToNs, 3)}`)}.` : "";
  switch (when.kind) {
    case "range": return `Selected range ${span}.${windows}`;
    case "lately": return `The last 30 s.${windows}`;
    case "moment": return `At the clock, ${span}.${windows}`;
    default: return `Whole run.${windows}`;
  }
}

/** "Ranks 4-11 stand out in waiting for a CPU, 1.00 s, others 11 ms: they are all ranks of node1 and node2." */
export function suggestionWords({ metric, layout, ranks, count: number, mean, median, share, group, members, isCorners }: Suggestion): string {
  const value = (of: number): string => valueWords(of, unitOf(metric));
  const who = ranksWords(ranks, 3).replace(/^r/, "R");
  const lead = `${who} ${number === 1 ? "stands" : "stand"} out in ${labelOf(metric, UNRESTRICTED)}: ${unbroken(value(mean))}, the median is ${unbroken(value(median))}.`;
  if (group !== "") return `${lead} They are ${groupWords(group, members)}.`;
  if (isCorners) return `${lead} They are corners of the program\u2019s grid.`;
  if (number === 1 || share < CLUSTERED) return lead;
  return `${lead} In the layout ${layout} they lie together: neighbours share ${Math.round(share * 100)} % of the variance.`;
}

const GROUP_NAMES: Record<string, readonly [one: string, many: string]> = {
  rack: ["rack", "racks"], switch: ["switch", "switches"], switch1: ["upper switch", "upper switches"], block: ["block", "blocks"], group: ["group", "groups"],
  region_index: ["region", "regions"], host: ["node", "nodes"], numa: ["NUMA node", "NUMA nodes"], package: ["package", "packages"], core: ["core", "cores"], slot: ["slot of each node", "slots of each node"],
};

/** "one rack, R5"; "2 nodes, node1, node2"; "the plane x = 3 of the grid". */
function groupWords(group: string, members: readonly string[]): string {
  const named = members.slice(0, MEMBERS_NAMED).join(", ") + (members.length > MEMBERS_NAMED ? ", \u2026" : "");
  const axis = /^(cart|torus)_(\w)$/.exec(group);
  if (axis) return `the ${members.length === 1 ? "plane" : "planes"} ${axis[2]} = ${named} of the ${axis[1] === "cart" ? "program\u2019s grid" : "torus"}`;
  const [one, many] = GROUP_NAMES[group] ?? [group, group];
  return members.length === 1 ? `one ${one}, ${named}` : `${members.length} ${many}, ${named}`;
}

/** "Slice x = 3, y = 2: 4 ranks, mean 1.20 s." */
export function sliceWords(cuts: readonly (number | null)[], scene: { radius: ArrayLike<number>; ranks: number; pointsPerRank: number; values: ArrayLike<number> }, id: string): string {
  const named = cuts.flatMap((cut, axis) => (cut === null ? [] : [`${"xyz"[axis] ?? ""} = ${significant(cut)}`]));
  if (named.length === 0) return "";
  let [ranks, known, sum] = [0, 0, 0];
  for (let rank = 0; rank < scene.ranks; rank++) {
    if (!hasPoint(scene, rank)) continue;
    ranks++;
    const value = scene.values[rank] ?? NaN;
    if (Number.isFinite(value)) [known, sum] = [known + 1, sum + value];
  }
  const mean = known > 0 ? `, ${ranks === 1 ? "value" : "mean"} ${unbroken(valueWords(sum / known, unitOf(id)))}` : "";
  return `Slice ${named.join(", ")}: ${counted(ranks, "rank", "ranks")}${mean}.`;
}

function hasPoint({ radius, pointsPerRank }: { radius: ArrayLike<number>; pointsPerRank: number }, rank: number): boolean {
  for (let point = rank * pointsPerRank; point < (rank + 1) * pointsPerRank; point++) if ((radius[point] ?? 0) > 0) return true;
  return false;
}

export function filterWords(filter: Filter, scale: Scale | null, id: string): string {
  if (!scale || !isFiltering(filter)) return "all values are drawn";
  const [from, to] = filterEnds(filter, scale).map((value) => valueWords(value, unitOf(id)));
  return filter.isInverse ? `up to ${from ?? ""} and from ${to ?? ""}` : `${from ?? ""} to ${to ?? ""}`;
}
