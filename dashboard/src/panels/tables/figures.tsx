// The tab of tables: functions, and ranks with a bar for each, or how long the calls of a function took.

import { useComputed } from "@preact/signals";
import { functionColours } from "../colours";
import { finishedNs } from "../../state/finished";
import { isAmong, type RankRanges, type Span } from "../../state/perspective";
import type { FunctionRow, RankColumn } from "../../state/run";
import type { Shown } from "../../state/selected";
import type { Store } from "../../state/store";
import { bytes, count, counted, duration, share } from "../../words";
import { cpuWaitOf, nodeName, nodeOrder, PROCESS_STATES, SILENT } from "../../words/hosts";
import { Durations } from "../durations/durations";
import { Icon } from "../icons";
import { NodeList } from "./nodes";
import { type SharedTable, useTable, type Value } from "../share/tables";
import { SelectedNote } from "../selected-note";
import { RankStrip } from "./strip";
import { type Column, Table } from "./table";

export function Figures({ store }: { store: Store }) {
  const of = store.durationsOf.value;
  return (
    <div class="figures">
      <FunctionTable store={store} />
      {of === null ? <RankTable store={store} /> : <Durations store={store} id={of} />}
    </div>
  );
}

/** Where no rank had finished for more than this share of the time there is no column for it. */
const WORTH_A_COLUMN = 0.01;

function FunctionTable({ store }: { store: Store }) {
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const rows = [...store.shownFigures.value.run.functions.values()];
  const { hidden } = store.perspective.value;
  const total = rows.reduce((sum, row) => sum + row.timeNs, 0);
  const toggle = (id: number): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    store.select({ hidden: next });
  };
  const value = (key: "calls" | "polls" | "timeNs" | "p50Ns" | "p99Ns" | "maxNs" | "bytes", label: string, title: string, words: (n: number) => string): Column<FunctionRow> => ({
    key, label, title, sort: (row) => row[key], cell: (row) => words(row[key]),
  });
  const columns: Column<FunctionRow>[] = [
    {
      key: "name", label: "function", title: "Sort by name", sort: (row) => row.name, ascending: true,
      className: (row) => `name ${hidden.has(row.id) ? "off" : ""}`,
      cell: (row) => (
        <button type="button" aria-pressed={!hidden.has(row.id)} title={`Family: ${row.family}. Click to ${hidden.has(row.id) ? "show" : "hide"} it in the particles and the timeline.`} onClick={() => toggle(row.id)}>
          <span class="swatch" style={{ backgroundColor: colours.get(row.id) ?? "" }} />{row.name}
        </button>
      ),
    },
    value("calls", "calls", "Rows of calls: a run of failed polls is one row", count),
    value("polls", "polls", "Failed polls folded into those rows", count),
    value("timeNs", "time", "Time between entry and return, summed over all ranks and threads", duration),
    {
      key: "share", label: "share", title: "Share of the time in all MPI functions", sort: (row) => row.timeNs,
      cell: (row) => share(row.timeNs, total), part: (row) => row.timeNs / Math.max(1, total),
    },
    value("p50Ns", "p50", "Half of the calls took at most this long", duration),
    value("p99Ns", "p99", "99 of 100 calls took at most this long", duration),
    value("maxNs", "max", "The longest call", duration),
    value("bytes", "bytes", "What the calls sent, or received where they sent nothing", bytes),
    {
      key: "durations", label: "", title: "How many calls took how long", sort: (row) => row.calls,
      cell: (row) => (
        <button type="button" class="histogram" aria-pressed={store.durationsOf.value === row.id} aria-label={`Durations of ${row.name}`} title="How many of its calls took how long, and which" onClick={() => (store.durationsOf.value = store.durationsOf.peek() === row.id ? null : row.id)}>
          <Icon name="histogram" />
        </button>
      ),
    },
  ];
  useTable("functions", () => ({
    columns: ["function", "family", "calls", "polls", "time_ns", "p50_ns", "p99_ns", "max_ns", "bytes"],
    rows: [...store.shownFigures.peek().run.functions.values()].map((row) => [row.name, row.family, row.calls, row.polls, row.timeNs, row.p50Ns, row.p99Ns, row.maxNs, row.bytes]),
  }));
  return (
    <div class="half">
      <h2><span>Functions</span><span class="note small soft">{rows.length > 0 ? `${counted(rows.length, "function", "functions")}; times are summed over all ranks` : "none called yet"}{store.scope.value ? "" : ", of the whole run"} <SelectedNote store={store} /></span></h2>
      <Table label="Functions" columns={columns} rows={rows} rowKey={(row) => row.id} first={{ key: "timeNs", descending: true }} selected={store.durationsOf.value} />
    </div>
  );
}

function ranksTable({ run, selected, lengthNs }: Shown, only: RankRanges | null): SharedTable {
  const { ranks } = run;
  const span = spanOf({ selected, lengthNs });
  const rows: Value[][] = [];
  for (let rank = 0; rank < ranks.length; rank++) {
    if (ranks.heard[rank] !== 1 || !isAmong(only, rank)) continue;
    const figure = (key: RankColumn): number => ranks[key][rank] ?? 0;
    rows.push([
      rank, nodeName(run, figure("node")), PROCESS_STATES[figure("state")] ?? "unknown", figure("calls"), figure("sent"), figure("received"),
      figure("bytesSent"), figure("mpiTimeNs"), finishedNs(ranks, rank, span), figure("waitNs"), figure("involuntary"),
    ]);
  }
  return { columns: ["rank", "node", "state", "calls", "sent", "received", "bytes_sent", "mpi_time_ns", "finished_ns", "no_core_ns", "involuntary_switches"], rows };
}

/** What the figures are of. */
function spanOf({ selected, lengthNs }: Pick<Shown, "selected" | "lengthNs">): Span {
  return selected ? [selected.fromNs, selected.toNs] : [0, lengthNs];
}

function RankTable({ store }: { store: Store }) {
  const { run, lengthNs, selected } = store.shownFigures.value;
  const { ranks } = run;
  const rows: number[] = [];
  // While others are asked for, these are the ranks whose figures are here.
  const only = (selected && store.selected.value.known?.scope.ranks) ?? store.perspective.value.ranks;
  for (let rank = 0; rank < ranks.length; rank++) {
    if (ranks.heard[rank] === 1 && isAmong(only, rank)) rows.push(rank);
  }
  const value = (key: "calls" | "sent" | "received" | "bytesSent", label: string, title: string, words: (n: number) => string): Column<number> => ({
    key, label, title, sort: (rank) => ranks[key][rank] ?? 0, cell: (rank) => words(ranks[key][rank] ?? 0),
  });
  const timeNs = (rank: number): number => ranks.mpiTimeNs[rank] ?? 0;
  const span = spanOf({ selected, lengthNs });
  const finished = (rank: number): number => finishedNs(ranks, rank, span);
  const hasFinished = rows.some((rank) => finished(rank) > WORTH_A_COLUMN * lengthNs);
  const order = nodeOrder(run);
  const nodeOf = (rank: number): number => ranks.node[rank] ?? 0;
  const stateOf = (rank: number): number => ranks.state[rank] ?? 0;
  const columns: Column<number>[] = [
    {
      key: "rank", label: "rank", title: "Sort by rank", sort: (rank) => rank, ascending: true,
      cell: (rank) => <button type="button" class="rank" title={`Show rank ${rank} in the inspector`} onClick={() => (store.selection.value = { kind: "rank", rank })}>{rank}</button>,
    },
    {
      key: "state", label: "state", title: "How the process stands; silent: its node is not heard of", sort: stateOf,
      className: (rank) => (stateOf(rank) === SILENT ? "silent" : ""), cell: (rank) => PROCESS_STATES[stateOf(rank)] ?? "unknown",
    },
    {
      key: "node", label: "node", title: "Sort by the name of the node", sort: (rank) => order.get(nodeOf(rank)) ?? nodeOf(rank), ascending: true,
      className: () => "node", cell: (rank) => <span title={nodeName(run, nodeOf(rank))}>{nodeName(run, nodeOf(rank))}</span>,
    },
    {
      key: "cpuWait", label: selected ? "CPU wait (run)" : "CPU wait", title: `Share of the time in which it could run that it waited for a CPU${selected ? ". Of the whole run: the scheduler counts no ranges" : ""}`, sort: (rank) => cpuWaitOf(run, rank).part,
      cell: (rank) => {
        const { words, waited, switches } = cpuWaitOf(run, rank);
        return <span title={switches ? `${waited}; ${switches}` : waited}>{words}</span>;
      },
    },
    {
      key: "share", label: "in MPI", title: "Time in MPI as a share of run time, or of the selected range; above 100 % when several threads are in MPI", sort: timeNs,
      cell: (rank) => <span title={`${duration(timeNs(rank))} in MPI`}>{share(timeNs(rank), lengthNs)}</span>,
    },
    ...(hasFinished ? [{
      key: "finished", label: "finished", title: "Time after its last MPI call, as a share of run time or of the selected range; what is neither in MPI nor finished is outside MPI", sort: finished,
      cell: (rank: number) => <span title={`${duration(finished(rank))} after its last MPI call`}>{share(finished(rank), lengthNs)}</span>,
    } satisfies Column<number>] : []),
    value("calls", "calls", "Rows of calls: a run of failed polls is one row", count),
    value("sent", "sent", "Messages sent", count),
    value("received", "received", "Messages received", count),
    value("bytesSent", "bytes sent", "Payload of the messages sent", bytes),
  ];
  const selection = store.selection.value;
  useTable("ranks", () => ranksTable(store.shownFigures.peek(), store.perspective.peek().ranks));
  return (
    <div class="half">
      <h2><span>Ranks</span><span class="note small soft">{only ? `${count(rows.length)} of ${counted(ranks.count, "rank", "ranks")}, those that are selected; ` : ""}share of run time in MPI <SelectedNote store={store} /></span></h2>
      <NodeList run={run} />
      <RankStrip store={store} />
      <Table label="Ranks" columns={columns} rows={rows} rowKey={(rank) => rank} first={{ key: "rank", descending: false }} selected={selection?.kind === "rank" ? selection.rank : null} />
    </div>
  );
}
