// The dependency graph in words: what it is of, what is not shown, what a node is. Pure.

import type { Dag } from "../../feed/dag";
import { BARS_MAX, flatness } from "./glyph";
import { type Graph, listed } from "./graph";
import { NO_HOST } from "../../palette/hosts";
import type { DagScope, KnownDag } from "../../state/dag-questions";
import type { RankRanges } from "../../state/perspective";
import { RANGES_MAX } from "../../state/ranks";
import type { RunState } from "../../state/run";
import { nodeName } from "../../words/hosts";
import { bytes, clock, count, counted, duration, significant, unbroken } from "../../words";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";

export interface GraphWords {
  title: string;
  facts: string;
  /** What is not shown; empty where all is. */
  missing: string;
}

export function rankWords(ranks: RankRanges | null): string {
  return ranks ? ranksWords(ranks, RANGES_MAX) : "all ranks";
}

export function graphWords({ dag, scope }: KnownDag): GraphWords {
  const which = `${scope.isSelected ? "Selected range" : "Last second"}${dag.untilNs < dag.toNs ? ", its beginning" : ""}`;
  const open = dag.open > 0 ? ` (${count(dag.open)} with one end outside)` : "";
  return {
    title: spanWords([dag.fromNs, dag.untilNs]),
    facts: `${which}; ${rankWords(scope.ranks)}; ${counted(dag.total, "message", "messages")}${open} between ${counted(dag.nodes.length, "state", "states")}`,
    missing: missingWords(dag),
  };
}

function missingWords(dag: Dag): string {
  const found: string[] = [];
  if (dag.leftOut > 0) {
    const end = dag.untilNs < dag.toNs ? `The graph ends at ${unbroken(clock(dag.untilNs, 6))}, where it is full. ` : "";
    found.push(`${end}${counted(dag.leftOut, "message", "messages")} of the range ${dag.leftOut === 1 ? "is" : "are"} not shown: select a shorter range or fewer ranks.`);
  }
  if (dag.contradicted > 0) found.push(`${counted(dag.contradicted, "message has", "messages have")} no link: by the clocks it would lead back.`);
  if (!dag.hasCriteria && dag.nodes.length > 0) found.push("Expected transfer times are not known yet, so no bar has a latency.");
  return found.join(" ");
}

/** Why there is nothing to draw. */
export function emptyWords({ dag, scope }: KnownDag): { title: string; advice: string } {
  const where = scope.ranks ? ` on ${rankWords(scope.ranks)}` : "";
  return {
    title: `No message was sent or received${where} between ${clock(dag.fromNs, 6)} and ${clock(dag.toNs, 6)}`,
    advice: dag.leftOut > 0
      ? "There are messages, but none of them has room here: select a shorter range or fewer ranks."
      : `Collectives are no messages here. Brush another range in the timeline${scope.ranks ? ", or show all ranks" : ""}.`,
  };
}

export function askedWords({ rangeNs, ranks }: DagScope): string {
  return `Asking for ${spanWords(rangeNs)}, ${rankWords(ranks)}.`;
}

/** An upper bound is no proof of a delay. */
export function latencyWords(latency: number, isExact: boolean): string {
  if (Number.isNaN(latency)) return "not known";
  return isExact ? `${significant(latency)}${latency > 1 ? ", delayed" : ""}` : `at most ${significant(latency)}`;
}

export function hostName(run: RunState, host: number): string {
  return host === NO_HOST ? "not known" : nodeName(run, host);
}

export interface NodeRow { name: string; words: string; note: string }

/** What a node is; the same words in the same order everywhere. */
export function nodeRows(graph: Graph, node: number, run: RunState): NodeRow[] {
  const { nodes } = graph.dag;
  const [fromNs, toNs, load] = [nodes.beginNs[node] ?? 0, nodes.endNs[node] ?? 0, nodes.load[node] ?? 0];
  const rows: NodeRow[] = [
    { name: "Node", words: hostName(run, nodes.host[node] ?? NO_HOST), note: "" },
    { name: "From", words: clock(fromNs, 6), note: "" },
    { name: "To", words: clock(toNs, 6), note: duration(toNs - fromNs) },
    countRow(graph, node, "Received"),
    countRow(graph, node, "Sent"),
    {
      name: "Imbalance", words: `LB ${significant(load)}`,
      note: `${count(nodes.messages[node] ?? 0)} messages of its rank, ${significant(graph.dag.meanMessages)} on average; flatness ${flatness(load).toFixed(2)}`,
    },
  ];
  const message = graph.slowest[node] ?? -1;
  if (message >= 0) rows.push(...slowestRows(graph.dag, message));
  return rows;
}

/** How many messages, and what of them has no bar of its own. */
function countRow({ dag: { nodes, messages }, messages: lists }: Graph, node: number, name: "Received" | "Sent"): NodeRow {
  const wanted = name === "Sent" ? 1 : 0;
  const all = (name === "Sent" ? nodes.sent : nodes.received)[node] ?? 0;
  const drawn = listed(lists, node).filter((at) => messages.isSent[at] === wanted).length;
  const together = drawn > BARS_MAX ? `${count(drawn - BARS_MAX + 1)} in one bar` : "";
  const missing = all > drawn ? `${count(all - drawn)} without a bar` : "";
  return { name, words: counted(all, "message", "messages"), note: [together, missing].filter(Boolean).join(", ") };
}

function slowestRows({ messages }: Dag, at: number): NodeRow[] {
  const isExact = messages.isExact[at] === 1;
  const where = `${messages.isSent[at] === 1 ? "to" : "from"} rank ${messages.other[at] ?? 0}`;
  return [
    { name: "Slowest", words: `${isExact ? "" : "at most "}${duration(messages.tMsgNs[at] ?? 0)}`, note: `${where}, ${bytes(messages.bytes[at] ?? 0)}` },
    { name: "Its latency", words: latencyWords(messages.latency[at] ?? Number.NaN, isExact), note: isExact ? "times the expected transfer time" : "an upper bound: others completed in the same call" },
  ];
}

/** A node in one sentence, for whoever hears the page. */
export function nodeSentence(graph: Graph, node: number, hidden: number): string {
  const { nodes } = graph.dag;
  const fold = hidden > 0 ? `, folded: ${counted(hidden, "state that follows is", "states that follow are")} hidden` : "";
  return `Rank ${nodes.rank[node] ?? 0}, step ${(nodes.layer[node] ?? 0) + 1} of ${graph.layers}: ${count(nodes.received[node] ?? 0)} received, ${count(nodes.sent[node] ?? 0)} sent${fold}.`;
}
