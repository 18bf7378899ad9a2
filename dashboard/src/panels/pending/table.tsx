// The pairs of groups with messages in flight, the oldest first: what the graph shows, for the keyboard and for exact figures.

import { NONE } from "../../feed/calls";
import type { PendingMessages } from "../../feed/pending";
import type { Store } from "../../state/store";
import { bytes, clock, count, duration } from "../../words";
import { edgeTitle, groupLabel, oldestWords } from "../../words/pending";
import type { SharedTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import type { KnownPending, PendingState } from "./state";

export function EdgeTable({ store, state, known: { pending, scope } }: { store: Store; state: PendingState; known: KnownPending }) {
  const { edges, groups, atNs } = pending;
  const run = store.run.peek();
  const name = (at: number | undefined): string => groupLabel(groups, at ?? NONE, scope.by, run);
  const choose = (edge: number): void => state.choose([edges.from[edge] ?? 0, edges.to[edge] ?? 0]);
  const pointed = state.pointed.value;
  const columns: Column<number>[] = [
    {
      key: "from", label: "from", title: "Sort by sender", ascending: true, sort: (edge) => edges.from[edge] ?? 0,
      cell: (edge) => <button type="button" class="rank" title={`${edgeTitle(pending, edge, scope.by, run)}: selects these ranks for all views`}>{name(edges.from[edge])}</button>,
    },
    { key: "to", label: "to", title: "Sort by receiver", ascending: true, sort: (edge) => edges.to[edge] ?? 0, cell: (edge) => name(edges.to[edge]) },
    { key: "messages", label: "messages", title: "Messages in flight", sort: (edge) => edges.messages[edge] ?? 0, cell: (edge) => count(edges.messages[edge] ?? 0) },
    { key: "bytes", label: "size", title: "Their bytes in sum", sort: (edge) => edges.bytes[edge] ?? 0, cell: (edge) => bytes(edges.bytes[edge] ?? 0) },
    {
      key: "age", label: "oldest", title: "For how long the oldest has been in flight", sort: (edge) => atNs - (edges.sinceNs[edge] ?? 0),
      className: (edge) => (edge === pending.oldest ? "oldest" : ""), cell: (edge) => <span title={oldestWords(edges, edge)}>{duration(atNs - (edges.sinceNs[edge] ?? 0))}</span>,
    },
    { key: "since", label: "since", title: "When the oldest was sent", ascending: true, sort: (edge) => edges.sinceNs[edge] ?? 0, cell: (edge) => clock(edges.sinceNs[edge] ?? 0, 6) },
  ];
  return (
    <Table label="Messages in flight" columns={columns} rows={Array.from({ length: edges.length }, (_, edge) => edge)}
      rowKey={(edge) => (edges.from[edge] ?? 0) * groups.length + (edges.to[edge] ?? 0)} first={{ key: "age", descending: true }}
      selected={pointed?.kind === "edge" ? (edges.from[pointed.at] ?? 0) * groups.length + (edges.to[pointed.at] ?? 0) : null}
      act={choose} point={(edge) => (state.pointed.value = edge === null ? null : { kind: "edge", at: edge })} />
  );
}

export function edgesTable(pending: PendingMessages | null): SharedTable {
  const columns = ["from_first_rank", "from_ranks", "to_first_rank", "to_ranks", "messages", "bytes", "oldest_ns", "oldest_src", "oldest_dst", "oldest_send_ns"];
  if (!pending) return { columns, rows: [] };
  const { edges, groups, atNs } = pending;
  const rows = [...edges.from.keys()].map((edge) => {
    const [from, to, since] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0, edges.sinceNs[edge] ?? 0];
    return [
      groups.firstRank[from] ?? 0, groups.ranks[from] ?? 0, groups.firstRank[to] ?? 0, groups.ranks[to] ?? 0,
      edges.messages[edge] ?? 0, edges.bytes[edge] ?? 0, atNs - since, edges.src[edge] ?? 0, edges.dst[edge] ?? 0, since,
    ];
  });
  return { columns, rows };
}
