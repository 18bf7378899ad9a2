// What the 3D view shows, in sentences. Pure.

import type { RankMetrics, Suggestion } from "../../feed/ranks";
import { counted, clock, unbroken } from "../../words";
import { metricOf, type Unit, valueWords } from "../../words/metrics";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { filterEnds, type Filter, isFiltering, type Scale } from "./scale";
import { NONE } from "./choices";
import type { MetricsScope } from "./state";

const HOSTS_NAMED = 3;
/** So many neighbours have to stand out too. */
const CLUSTERED = 0.25;

export interface Drawn {
  layout: string;
  ranks: number;
  hidden: number;
  color: string;
  size: string;
  height: string;
  opacity: string;
  functionName: string | null;
}

export function labelOf(id: string, functionName: string | null): string {
  const metric = metricOf(id);
  if (!metric) return "the layout\u2019s own value";
  return functionName && metric.isOfFunction ? (metric.id === "mpi_time" ? `time in ${functionName}` : `${metric.label} of ${functionName}`) : metric.label;
}

export function unitOf(id: string): Unit | null {
  return metricOf(id)?.unit ?? null;
}

/** "512 ranks, sphere; colour: waiting for late senders, 0 s to 3.2 s." */
export function drawnWords(drawn: Drawn, scale: Scale | null): string {
  const parts = [`${counted(drawn.ranks, "rank", "ranks")}, ${drawn.layout}`];
  const unit = unitOf(drawn.color);
  const range = scale ? `, ${valueWords(scale.least, unit)} to ${valueWords(scale.most, unit)}` : "";
  parts.push(`colour: ${labelOf(drawn.color, drawn.functionName)}${unbroken(range)}`);
  for (const [name, id] of [["size", drawn.size], ["height", drawn.height], ["opacity", drawn.opacity]] as const) {
    if (id !== NONE) parts.push(`${name}: ${labelOf(id, drawn.functionName)}`);
  }
  if (drawn.hidden > 0) parts.push(`${counted(drawn.hidden, "rank", "ranks")} filtered out`);
  return `${parts.join("; ")}.`;
}

/** Which stretch of the run figures are of. */
export function whenWords({ when, metrics }: MetricsScope, answer: RankMetrics): string {
  const span = spanWords([answer.fromNs, answer.toNs]);
  const isJudged = answer.judgedToNs > answer.judgedFromNs && metrics.some((id) => ["waiting", "waiting_compute", "mapping", "pattern", "background", "cpu"].includes(id));
  const windows = isJudged && (answer.judgedFromNs !== answer.fromNs || answer.judgedToNs !== answer.toNs)
    ? ` Judged in whole windows, ${unbroken(`${clock(answer.judgedFromNs, 3)} to ${clock(answer.judgedToNs, 3)}`)}.` : "";
  switch (when.kind) {
    case "range": return `Selected range ${span}.${windows}`;
    case "lately": return `The last 30 s.${windows}`;
    default: return `Whole run.${windows}`;
  }
}

/** "Ranks 4-11 stand out in waiting for a CPU, 1.00 s, others 11 ms: they are all ranks of node1 and node2." */
export function suggestionWords({ metric, layout, ranks, count: number, mean, median, share, hosts, isCorners }: Suggestion, hostName: (host: number) => string): string {
  const value = (of: number): string => valueWords(of, unitOf(metric));
  const who = ranksWords(ranks, 3).replace(/^r/, "R");
  const lead = `${who} ${number === 1 ? "stands" : "stand"} out in ${labelOf(metric, null)}: ${unbroken(value(mean))}, the median is ${unbroken(value(median))}.`;
  const named = hosts.slice(0, HOSTS_NAMED).map(hostName).join(", ");
  if (hosts.length > 0) return `${lead} They are all ranks of ${hosts.length > HOSTS_NAMED ? `${hosts.length} nodes, ${named}, \u2026` : named}.`;
  if (isCorners) return `${lead} They are corners of the program\u2019s grid.`;
  if (number === 1 || share < CLUSTERED) return lead;
  return `${lead} In the layout ${layout} they lie together.`;
}

export function filterWords(filter: Filter, scale: Scale | null, id: string): string {
  if (!scale || !isFiltering(filter)) return "all values are drawn";
  const [from, to] = filterEnds(filter, scale).map((value) => valueWords(value, unitOf(id)));
  return filter.isInverse ? `up to ${from ?? ""} and from ${to ?? ""}` : `${from ?? ""} to ${to ?? ""}`;
}
