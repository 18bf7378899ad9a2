// Regions as a table: what the graph shows, for the keyboard and for exact figures.

import type { Region, Regions } from "../../feed/regions";
import { latencyColour } from "../../palette/ramps";
import { regionLook } from "../../palette/regions";
import { delayedMeaning, delayedOf } from "../../state/delayed";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { count, share } from "../../words";
import { CAUSE_NAMES } from "../../words/found";
import { delayedShare, latencyMeaning, latencyWords, rangesShort, ranksWords, sizeOf, whyNoLatency } from "../../words/regions";
import type { SharedTable } from "../share/tables";
import { CauseMark } from "../causes";
import { type Column, Table } from "../tables/table";
import { blamedIn, blamedOfRegion, type BlamedRanks } from "./blamed";
import { memoryOf } from "./memory";

/** Above this the bar is full, as the colours are. */
const LATENCY_MAX = 4;

export function RegionMark({ id }: { id: number }) {
  const { colour, mark } = regionLook(id);
  const hex = colour[theme.value];
  return (
    <svg class="mark" viewBox="0 0 12 12" aria-hidden="true">
      <circle cx={6} cy={6} r={6} style={{ fill: hex }} />
      {mark === "ring" && <circle class="hole" cx={6} cy={6} r={3.6} />}
      {mark === "dot" && <circle class="hole" cx={6} cy={6} r={2} />}
      {mark === "bar" && <rect class="hole" x={0} y={4.7} width={12} height={2.6} />}
    </svg>
  );
}

/** The ranks of a region in a narrow column: "0–3, … (14)". */
function inTable({ ranks }: Region): string {
  return ranks.length <= 2 ? rangesShort(ranks) : `${rangesShort(ranks.slice(0, 1))}, \u2026 (${count(sizeOf(ranks))})`;
}

/** That a region holds ranks which the verdict blames. */
function BlamedMark({ region, blamed }: { region: Region; blamed: BlamedRanks | null }) {
  const ranks = blamedOfRegion(region, blamed);
  if (!blamed || ranks.length === 0) return null;
  return <CauseMark cause={blamed.cause} title={`The verdict blames ${ranksWords(rangesOf(ranks))} of it for ${CAUSE_NAMES[blamed.cause]}`} />;
}

export function RegionTable({ store, regions }: { store: Store; regions: Regions }) {
  const memory = memoryOf(store);
  const blamed = blamedIn(store);
  const selection = store.selection.value;
  const pointed = memory.pointed.value;
  const marked = pointed?.kind === "region" ? pointed.id : selection?.kind === "region" ? selection.id : null;
  const act = (region: Region): void => {
    store.selection.value = selection?.kind === "region" && selection.id === region.id ? null : { kind: "region", id: region.id };
  };
  const columns: Column<Region>[] = [
    {
      key: "ranks", label: "ranks", term: "region", title: "Sort by the first rank", sort: (region) => region.ranks[0]?.[0] ?? 0, ascending: true, className: () => "region",
      cell: (region) => (
        <button type="button" class="rank" title={`Show the region of ${ranksWords(region.ranks)}: ${count(sizeOf(region.ranks))}`} aria-pressed={selection?.kind === "region" && selection.id === region.id}>
          <RegionMark id={region.id} /><span>{inTable(region)}</span><BlamedMark region={region} blamed={blamed} />
        </button>
      ),
    },
    {
      key: "latency", label: "L", term: "latency", title: "Latency: how many times as long as expected for their size exact messages take, in the mean", className: () => "latency",
      sort: (region) => region.latency ?? -1,
      cell: (region) => (
        <span title={region.latency === null ? whyNoLatency(region) : latencyMeaning(region.latency)}>
          {region.latency === null ? <span class="soft">?</span> : latencyWords(region.latency)}
          <i class={region.latency === null ? "tone unknown" : "tone"} style={region.latency === null ? {} : { backgroundColor: latencyColour(region.latency, theme.value), width: `${(3 + 17 * Math.min(1, region.latency / LATENCY_MAX)).toFixed(1)}px` }} />
        </span>
      ),
    },
    { key: "delayed", label: "delayed", term: "delayed", title: `Share of the exact messages inside that took ${delayedMeaning(store.figures.value.evolution?.hasNormal ?? true)}`, sort: (region) => (region.latency !== null && region.messages * region.exactShare > 0 ? delayedOf(region) / (region.messages * region.exactShare) : -1), cell: (region) => delayedShare(region) },
    { key: "exact", label: "exact", term: "exact", title: "Share of the messages inside the region with an exact transfer time; only these make up L", sort: (region) => region.exactShare, cell: (region) => (region.messages > 0 ? share(region.exactShare, 1) : "\u2013") },
  ];
  return (
    <Table label="Regions" columns={columns} rows={regions.regions} rowKey={(region) => region.id} first={{ key: "latency", descending: true }} selected={marked} act={act}
      point={(region) => (memory.pointed.value = region && { kind: "region", id: region.id })} />
  );
}

export function regionsTable(regions: readonly Region[]): SharedTable {
  const rows = regions.map(({ id, ranks, latency, messages, delayed, aboveExpected, exactShare }) => [id, rangesShort(ranks, ranks.length), latency, messages, delayed, aboveExpected, exactShare]);
  return { columns: ["region", "ranks", "latency", "messages", "delayed", "above_expected", "exact_share"], rows };
}
