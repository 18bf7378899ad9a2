// From which ranks it comes that others wait: those that have more to do than others, and those that waited for a CPU. Each leads
// to its rank.

import type { Cause, FindingsReport, Source } from "../../feed/found";
import type { Store } from "../../state/store";
import { CAUSE_NAMES, part, seconds } from "../../words/found";
import { clock } from "../../words";
import { nodeOfRank } from "../../words/hosts";
import { rangesShort, ranksWords } from "../../words/regions";
import { rangesOf } from "../../state/ranks";
import { CauseMark } from "../causes";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { SOURCES } from "./sections";

/** Below this share of the ranks' time it is not said who it comes from. */
const WORTH_TELLING = 0.005;
/** The most ranks that a sentence lists. */
const FEW = 4;

export function RankLink({ store, rank }: { store: Store; rank: number }) {
  const act = (event: MouseEvent): void => {
    event.stopPropagation();
    store.selection.value = { kind: "rank", rank };
  };
  return <button type="button" class="rank" title={`Show rank ${rank} in the inspector`} onClick={act}>rank {rank}</button>;
}

/** The ranks that the verdict's cause comes from. */
export function sourceRanks({ diagnosis: { verdict, sources } }: FindingsReport): readonly number[] {
  return sources.find(({ cause }) => cause === verdict.cause)?.few ?? [];
}

/** The few ranks that a verdict comes from, with their nodes. */
export function SourceRanks({ store, ranks }: { store: Store; ranks: readonly number[] }) {
  if (ranks.length === 0 || ranks.length > FEW) return null;
  return <span class="soft">It comes from {ranks.map((rank, at) => <span key={rank}>{at > 0 && ", "}<RankLink store={store} rank={rank} />{whereWords(store, rank)}</span>)}.</span>;
}

function whereWords(store: Store, rank: number): string {
  const node = nodeOfRank(store.figures.value, rank);
  return node ? ` on ${node}` : "";
}

/** `top`: the verdict's cause, whose ranks are always listed. */
export function Sources({ store, sources, top, hasCpuContention, isRanged }: { store: Store; sources: readonly Source[]; top: Cause; hasCpuContention: boolean; isRanged: boolean }) {
  const { ranks, durationS } = { ranks: store.figures.value.job.ranks, durationS: store.figures.value.found?.untilS ?? 0 };
  const shown = sources.filter(({ cause, totalS }) => cause === top || totalS > WORTH_TELLING * ranks * durationS);
  return (
    <section id={SOURCES} tabIndex={-1} class="sources">
      <h2>{top === "none" ? "Ranks that have more to do, at no cost" : "Which ranks it comes from"} <span class="soft">{isRanged ? "in the whole run" : ""}</span></h2>
      {shown.length > 0
        ? shown.map((source) => <OfCause key={source.cause} store={store} source={source} />)
        : <p class="soft">No rank has much more to do than others{hasCpuContention ? "" : ", and none waited long for a CPU"}.</p>}
    </section>
  );
}

const TOO_MUCH: Readonly<Partial<Record<Source["cause"], string>>> = { pattern: "above balanced work", cpu: "waiting for a CPU" };

function OfCause({ store, source }: { store: Store; source: Source }) {
  const name = CAUSE_NAMES[source.cause];
  const tooMuch = TOO_MUCH[source.cause] ?? "";
  useTable(`ranks with ${name}`, () => ({
    columns: ["rank", "node", "seconds", "computed_s", "mean_computed_s"],
    rows: source.ranks.map(({ rank, seconds: value, computedS }) => [rank, nodeOfRank(store.figures.value, rank), value, computedS, source.computedS]),
  }));
  const most = Math.max(1e-9, ...source.ranks.map((rank) => rank.seconds));
  const columns: Column<Source["ranks"][number]>[] = [
    { key: "rank", label: "rank", title: "Sort by rank", sort: (row) => row.rank, ascending: true, cell: (row) => <RankLink store={store} rank={row.rank} /> },
    { key: "node", label: "node", title: "Sort by node", sort: (row) => nodeOfRank(store.figures.value, row.rank), ascending: true, className: () => "word", cell: (row) => nodeOfRank(store.figures.value, row.rank) || "\u2013" },
    { key: "computed", label: "computes", title: `What the rank computes in all; ranks compute ${seconds(source.computedS)} on average`, sort: (row) => row.computedS, cell: (row) => seconds(row.computedS) },
    { key: "share", label: "of all of it", title: "Its share of the sum above this table", sort: (row) => row.seconds, cell: (row) => part(row.seconds / source.totalS) },
    { key: "seconds", label: tooMuch, title: "How long in all", sort: (row) => row.seconds, cell: (row) => seconds(row.seconds), part: (row) => row.seconds / most },
  ];
  return (
    <>
      <p class="lead"><CauseMark cause={source.cause} /> {name}: {seconds(source.totalS)} {tooMuch}; ranks compute {seconds(source.computedS)} on average.</p>
      {source.times.length > 0 ? <Times store={store} source={source} /> : <Table label={`Ranks with ${name}`} columns={columns} rows={source.ranks} rowKey={(row) => String(row.rank)} first={{ key: "seconds", descending: true }} selected={null} />}
      {source.differsByStep && source.few.length === 0 && <p class="soft">In each step some ranks have more than the average: over all steps no rank stands out.</p>}
      {source.few.length > 1 && <p class="soft">{fewWords(source)}</p>}
    </>
  );
}

/** All ranks that make up most of it: a table lists the first. */
function fewWords({ few, fewNodes, ranks }: Source): string {
  const nodes = fewNodes === 0 ? "" : fewNodes === 1 ? ": all ranks of one node, and no others" : `: all ranks of ${fewNodes} nodes, and no others`;
  const listed = few.length > ranks.length ? ` The first ${ranks.length} are listed.` : "";
  return `Most of it comes from ${few.length} ranks, ${rangesShort(rangesOf(few), 6)}${nodes}.${listed}`;
}

/** Where it moves from rank to rank: who had the most of it when. A click narrows all views to that time and those ranks. */
function Times({ store, source: { times } }: { store: Store; source: Source }) {
  const narrow = ({ fromS, toS, ranks }: Source["times"][number]): void => {
    const sorted = [...ranks].sort((one, other) => one - other);
    store.select({ rangeNs: [fromS * 1e9, toS * 1e9], ranks: sorted.map((rank) => [rank, rank] as const) });
  };
  return (
    <>
      <p class="soft">It moves along the run: over all of it no rank stands out. The ranks with the most of it, by time; a click narrows all views to it:</p>
      <ul class="times">
        {times.filter(({ ranks }) => ranks.length > 0).map((time) => (
          <li key={time.fromS}><button type="button" class="link" onClick={() => narrow(time)}>{clock(time.fromS * 1e9, 1)} to {clock(time.toS * 1e9, 1)}</button> <span>{ranksWords(rangesOf([...time.ranks.slice(0, FEW)].sort((one, other) => one - other)))}</span></li>
        ))}
      </ul>
    </>
  );
}
