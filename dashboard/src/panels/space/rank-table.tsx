// The statistics of the selected ranks, or of all: which functions they called, how often and for how long.

import type { Store } from "../../state/store";
import { bytes, capital, count, duration, sentenceOf } from "../../words";
import { nodeOfRank } from "../../words/hosts";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { same } from "../../same";
import { type Column, Table } from "../tables/table";
import { selectedRank, type SpaceState, tableRanks } from "./state";

interface Row { id: number; name: string; calls: number; timeNs: number; meanNs: number; p50Ns: number; p99Ns: number; maxNs: number; bytes: number }

export function RankTable({ store, state }: { store: Store; state: SpaceState }) {
  const rank = selectedRank(store);
  const chosen = tableRanks(store);
  const { known, why, isAsking } = state.functions.value;
  const ranks = store.figures.value.job.ranks || store.figures.value.ranks.count;
  const choose = (
    <label class="row space-rank"><span>Rank</span><input type="number" min={0} max={Math.max(0, ranks - 1)} value={rank ?? ""} placeholder="all" onChange={({ currentTarget: { value } }) => {
      const typed = Number(value);
      if (value === "") store.selection.value = null;
      else if (Number.isInteger(typed) && typed >= 0 && typed < ranks) store.selection.value = { kind: "rank", rank: typed };
    }} /></label>
  );
  if (!known || !same(known.scope.ranks, chosen)) {
    return <>{choose}<div class="message"><h2>{isAsking ? "The figures are on their way" : "There are no such figures"}</h2><p>{why ? sentenceOf(why) : "They are read from the recorded calls."}</p></div></>;
  }
  const { functions, mpiTimeNs, fromNs, toNs } = known.answer;
  const of = (column: Float64Array, at: number): number => column[at] ?? 0;
  const rows = Array.from({ length: functions.length }, (_, at): Row => {
    const [id, calls, timeNs] = [functions.function[at] ?? 0, of(functions.calls, at), of(functions.timeNs, at)];
    return {
      id, name: store.run.peek().functions.get(id)?.name ?? `function ${id}`, calls, timeNs, meanNs: calls > 0 ? timeNs / calls : 0,
      p50Ns: of(functions.p50Ns, at), p99Ns: of(functions.p99Ns, at), maxNs: of(functions.maxNs, at), bytes: of(functions.bytes, at),
    };
  }).filter(({ calls, timeNs }) => calls > 0 || timeNs > 0);
  const time = (key: "meanNs" | "p50Ns" | "p99Ns" | "maxNs", label: string, title: string): Column<Row> => ({ key, label, title, sort: (row) => row[key], cell: (row) => duration(row[key]) });
  const columns: Column<Row>[] = [
    { key: "name", label: "function", title: "Sort by name", ascending: true, sort: ({ name }) => name, cell: ({ name }) => name },
    { key: "time", label: "time", title: "Time in the function; an MPI function calls no other, so it is exclusive and inclusive", sort: ({ timeNs }) => timeNs, cell: ({ timeNs }) => duration(timeNs), part: ({ timeNs }) => (mpiTimeNs > 0 ? timeNs / mpiTimeNs : 0) },
    { key: "calls", label: "calls", title: "Number of calls", sort: ({ calls }) => calls, cell: ({ calls }) => count(calls) },
    time("meanNs", "mean", "Mean time of a call"), time("p50Ns", "median", "Half of the calls took at most this long"),
    time("p99Ns", "99 %", "99 of 100 calls took at most this long"), time("maxNs", "longest", "The longest call"),
    { key: "bytes", label: "bytes", title: "What its calls sent, or received where they sent nothing", sort: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
  ];
  const node = rank === null ? "" : nodeOfRank(store.run.peek(), rank);
  const whose = chosen ? capital(ranksWords(chosen)) : `All ${count(ranks)} ranks`;
  return (
    <>
      {choose}
      <div class="space-table"><Table label={`Functions of ${chosen ? ranksWords(chosen) : "all ranks"}`} name="space-rank" columns={columns} rows={rows} rowKey={({ id }) => id} first={{ key: "time", descending: true }} selected={null} /></div>
      <p class="space-words" role="status">{whose}{node && ` on ${node}`}: {duration(mpiTimeNs)} in MPI, {count(known.answer.calls)} calls. <span class="soft">{spanWords([fromNs, toNs])}.</span></p>
    </>
  );
}
