// The expected times of messages and collectives: the measure of everything else.

import type { CollectiveCriterion, Criteria } from "../../feed/criteria";
import type { Store } from "../../state/store";
import { bytes, count, duration } from "../../words";
import { criteriaSentence, statusWords } from "../../words/criteria";
import { partTone } from "../causes";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { useCriteria } from "./ask";
import { CriteriaPicture } from "./criteria-chart";
import { CRITERIA } from "./sections";

export function CriteriaPart({ store }: { store: Store }) {
  const { known, isAsking, why, again } = useCriteria(store);
  const criteria = known?.answer;
  return (
    <section id={CRITERIA} tabIndex={-1} class="criteria" aria-busy={isAsking && !known}>
      <h2>Expected transfer times <span class="soft">{criteria ? statusWords(criteria) : "the measure of what is slow"}</span></h2>
      {why && <p class="soft">{known ? "Not the newest" : "Missing"}: {why.replace(/\.$/, "")}. <button type="button" class="link" onClick={again}>Ask again</button></p>}
      {criteria ? <CriteriaTables criteria={criteria} /> : !why && <p class="soft">Asking for it.</p>}
    </section>
  );
}

function CriteriaTables({ criteria }: { criteria: Criteria }) {
  const samplesMost = [...criteria.inter, ...criteria.intra].reduce((found, { samples }) => Math.max(found, samples), 0);
  const hasBins = criteria.inter.length + criteria.intra.length > 0;
  useTable("criteria of messages", () => ({
    columns: ["scope", "size_from_bytes", "size_to_bytes", "samples", "median_ns", "normal_ns"],
    rows: (["inter", "intra"] as const).flatMap((scope) => criteria[scope].map((bin) => [scope, bin.fromBytes, bin.toBytes, bin.samples, bin.medianNs, bin.normalNs])),
  }));
  useTable("criteria of collectives", () => ({
    columns: ["function", "ranks", "bytes", "is_root", "samples", "median_ns"],
    rows: criteria.collectives.map(({ name, ranks, bytes: size, isRoot, samples, medianNs }) => [name, ranks, size, isRoot, samples, medianNs]),
  }));
  return (
    <>
      <p>{criteriaSentence(criteria)}</p>
      {hasBins && <>
        <div class="legend small">
          <span><span class="swatch" style={{ backgroundColor: partTone("distance") }} />between nodes</span>
          <span><span class="swatch" style={{ backgroundColor: partTone("base") }} />within nodes</span>
          <span class="soft">median time against size, both by their logarithms; hollow: under 30 samples; below: how many samples there are, up to {count(samplesMost)}, by their logarithm</span>
        </div>
        <CriteriaPicture criteria={criteria} />
      </>}
      <h3>Collectives</h3>
      {criteria.collectives.length > 0
        ? <Table label="Criteria of collectives" columns={COLUMNS} rows={criteria.collectives} rowKey={keyOf} first={{ key: "samples", descending: true }} selected={null} />
        : <p class="soft">The expected time of collectives is not known: too few of any kind were seen.</p>}
    </>
  );
}

const keyOf = ({ function: id, ranks, bytes: size, isRoot }: CollectiveCriterion): string => `${id}/${ranks}/${size}/${isRoot}`;

const COLUMNS: Column<CollectiveCriterion>[] = [
  { key: "name", label: "function", title: "Sort by name", sort: ({ name }) => name, ascending: true, cell: ({ name, isRoot }) => <>{name}{isRoot && <span class="soft"> at the root</span>}</> },
  { key: "ranks", label: "ranks", title: "Among how many ranks", sort: ({ ranks }) => ranks, cell: ({ ranks }) => count(ranks) },
  { key: "bytes", label: "bytes", title: "Of how many bytes", sort: ({ bytes: size }) => size, cell: ({ bytes: size }) => bytes(size) },
  { key: "samples", label: "samples", title: "How many it rests on", sort: ({ samples }) => samples, cell: ({ samples }) => count(samples) },
  { key: "median", label: "expected", title: "The median of what they took once all had entered", sort: ({ medianNs }) => medianNs, cell: ({ medianNs }) => duration(medianNs) },
];
