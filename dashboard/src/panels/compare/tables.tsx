// Functions and call sites with what changed in each.

import type { Comparison, Figure, FunctionChange, SiteChange } from "../../feed/compared";
import { colourOf } from "../../palette";
import { theme } from "../../state/theme";
import { counted } from "../../words";
import { amount, counts, difference, isChange, medians, size, times } from "../../words/compared";
import { ranksWords } from "../../words/regions";
import { type Column, Table } from "../tables/table";

interface Changed { ofRank: Figure; calls: Figure; why: string }

/** What counts comes first. */
function order(figure: Figure): number {
  return (isChange(figure) ? 1e12 : 0) + size(figure);
}

function columns<Row extends Changed>(comparison: Comparison, most: number): Column<Row>[] {
  const { basis } = comparison;
  return [
    { key: "calls", label: "calls", title: "Rows of calls of the whole job, in A and in B", sort: (row) => row.calls.b ?? 0, cell: (row) => counts(row.calls) },
    { key: "a", label: "A", title: "Time of a rank in it, in A", sort: (row) => row.ofRank.a ?? 0, cell: (row) => amount(row.ofRank.a, basis) },
    { key: "b", label: "B", title: "Time of a rank in it, in B", sort: (row) => row.ofRank.b ?? 0, cell: (row) => amount(row.ofRank.b, basis) },
    {
      key: "change", label: "change", title: "B less A; what is within the noise comes last and pale", sort: (row) => order(row.ofRank),
      cell: (row) => difference(row.ofRank, basis), part: (row) => size(row.ofRank) / Math.max(most, 1e-12),
    },
    { key: "times", label: "times", title: "B for A", sort: (row) => row.ofRank.change?.ratio ?? 0, cell: (row) => times(row.ofRank) },
  ];
}

const pale = (row: Changed): string => (isChange(row.ofRank) ? "" : "same");

function styled<Row extends Changed>(all: Column<Row>[]): Column<Row>[] {
  return all.map((column) => ({ ...column, className: (row) => `${column.className?.(row) ?? ""} ${pale(row)}` }));
}

const largest = (rows: readonly Changed[]): number => rows.reduce((most, row) => Math.max(most, size(row.ofRank)), 0);

export function Functions({ comparison }: { comparison: Comparison }) {
  const rows = comparison.functions;
  const changed = rows.filter((row) => isChange(row.ofRank)).length;
  const shade = theme.value;
  const all = styled<FunctionChange>([
    {
      key: "name", label: "function", title: "Sort by name", sort: (row) => row.name, ascending: true, className: () => "word",
      cell: (row) => <><span class="swatch" style={{ backgroundColor: colourOf(row.name, row.family)[shade] }} />{row.name}</>,
    },
    ...columns<FunctionChange>(comparison, largest(rows)),
    { key: "p50", label: "median", title: "Half of the calls took at most this long, in A and in B", sort: (row) => row.p50Ns.change?.ratio ?? 0, cell: (row) => medians(row.p50Ns) },
    { key: "why", label: "how", title: "More calls or longer ones, and on which ranks", sort: (row) => row.why, ascending: true, className: () => "word reason", cell: (row) => <span title={how(row)}>{how(row)}</span> },
  ]);
  return (
    <section class="rows">
      <h2>Functions <span class="soft">{noted(changed, rows.length, "function", "functions")}</span></h2>
      <Table label="Functions" columns={all} rows={rows} rowKey={(row) => row.name} first={{ key: "change", descending: true }} selected={null} />
    </section>
  );
}

function how({ why, ranks }: FunctionChange): string {
  return [why, ranks.length > 0 ? ranksWords(ranks, 3) : ""].filter(Boolean).join(", ");
}

function noted(changed: number, all: number, one: string, many: string): string {
  return `${changed === 0 ? "none" : changed} of ${counted(all, one, many)} changed by more than noise; times are of a rank`;
}

export function Places({ comparison }: { comparison: Comparison }) {
  const rows = comparison.sites;
  if (rows.length === 0) {
    return (
      <section>
        <h2>Call sites</h2>
        <p class="soft">Where calls were made is not known in either.</p>
      </section>
    );
  }
  const changed = rows.filter((row) => isChange(row.ofRank)).length;
  const all = styled<SiteChange>([
    { key: "place", label: "call site", title: "Sort by call site", sort: (row) => row.place, ascending: true, className: () => "word place", cell: (row) => <span title={row.place}>{row.place}{moved(row)}</span> },
    { key: "function", label: "what", title: "Sort by what is called", sort: (row) => row.callsFunction, ascending: true, className: () => "word", cell: (row) => row.callsFunction },
    ...columns<SiteChange>(comparison, largest(rows)),
    {
      key: "waiting", label: "waiting", title: "Of it, what a rank waited for others, in A and in B", sort: (row) => order(row.waitingOfRank),
      cell: ({ waitingOfRank: { a, b } }) => (a === null && b === null ? "\u2013" : `${amount(a, comparison.basis)} \u2192 ${amount(b, comparison.basis)}`),
    },
    { key: "why", label: "how", title: "More calls or longer ones", sort: (row) => row.why, ascending: true, className: () => "word reason", cell: (row) => <span title={row.why}>{row.why}</span> },
  ]);
  return (
    <section class="rows places">
      <h2>Call sites <span class="soft">{noted(changed, rows.length, "call site", "call sites")}</span></h2>
      <Table label="Call sites" columns={all} rows={rows} rowKey={(row) => `${row.place} ${row.callsFunction} ${row.lines.join("-")}`} first={{ key: "change", descending: true }} selected={null} />
    </section>
  );
}

function moved({ lines: [a, b] }: SiteChange): string {
  return a !== null && b !== null && a !== b ? ` (line ${a} in A)` : "";
}
