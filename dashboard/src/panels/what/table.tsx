// The graph as a list of its states, in their order, for whoever reads rather than looks.

import { useComputed } from "@preact/signals";
import type { Store } from "../../state/store";
import { hostName, nodeSentence } from "./words";
import { clock, count, duration, significant } from "../../words";
import { type Column, Table } from "../tables/table";
import { HIDDEN, marksOf } from "./graph";
import type { Model } from "./paint";

export function NodeTable({ store, model: { graph }, folded, selected }: { store: Store; model: Model; folded: ReadonlySet<number>; selected: number }) {
  const { dag } = graph;
  const { nodes, messages } = dag;
  // Names of hosts come once; figures several times a second.
  void useComputed(() => store.figures.value.nodes.size).value;
  const run = store.figures.peek();
  const marks = marksOf(graph, folded, -1);
  const rows = [...graph.inLayer.items].filter((node) => ((marks[node] ?? 0) & HIDDEN) === 0);
  const order = new Map(rows.map((node, at) => [node, at]));
  const select = (node: number): void => void (store.selection.value = { kind: "dag-node", dag, node });
  const number = (key: "received" | "sent", title: string): Column<number> => ({
    key, label: key, title, sort: (node) => nodes[key][node] ?? 0, cell: (node) => count(nodes[key][node] ?? 0),
  });
  const timeOf = (node: number): number => messages.tMsgNs[graph.slowest[node] ?? -1] ?? -1;
  const columns: Column<number>[] = [
    { key: "step", label: "step", title: "As they follow each other", sort: (node) => order.get(node) ?? 0, ascending: true, cell: (node) => count((nodes.layer[node] ?? 0) + 1) },
    {
      key: "rank", label: "rank", title: "Sort by rank", sort: (node) => nodes.rank[node] ?? 0, ascending: true,
      cell: (node) => <button type="button" class="rank" title={nodeSentence(graph, node, 0)} onClick={() => select(node)}>{nodes.rank[node]}</button>,
    },
    { key: "node", label: "node", title: "Sort by node", sort: (node) => nodes.host[node] ?? 0, ascending: true, cell: (node) => hostName(run, nodes.host[node] ?? 0) },
    { key: "from", label: "from", title: "Its first event", sort: (node) => nodes.beginNs[node] ?? 0, ascending: true, cell: (node) => clock(nodes.beginNs[node] ?? 0, 6) },
    { key: "length", label: "length", title: "From its first event to its last", sort: (node) => (nodes.endNs[node] ?? 0) - (nodes.beginNs[node] ?? 0), cell: (node) => duration((nodes.endNs[node] ?? 0) - (nodes.beginNs[node] ?? 0)) },
    number("received", "Messages received"),
    number("sent", "Messages sent"),
    { key: "load", label: "LB", title: "How far the messages of its rank are from the mean, in mean deviations", sort: (node) => nodes.load[node] ?? 0, cell: (node) => significant(nodes.load[node] ?? 0) },
    { key: "slowest", label: "slowest", title: "The message that took longest", sort: timeOf, cell: (node) => (timeOf(node) < 0 ? "\u2013" : duration(timeOf(node))) },
    {
      key: "latency", label: "L", title: "The highest latency L of its exact messages: transfer time divided by the expected one", sort: (node) => (Number.isNaN(graph.worst[node]) ? -1 : (graph.worst[node] ?? -1)),
      cell: (node) => (Number.isNaN(graph.worst[node]) ? "\u2013" : significant(graph.worst[node] ?? 0)),
    },
  ];
  return <Table label="States of the graph" columns={columns} rows={rows} rowKey={(node) => node} first={{ key: "step", descending: false }} selected={selected} act={select} />;
}
