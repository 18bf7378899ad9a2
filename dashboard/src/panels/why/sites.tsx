// The call sites where ranks wait: each with its seconds and what they were waited for. A row says what it is in the
// inspector and goes to the longest wait there.

import type { SiteWait, Wait } from "../../feed/found";
import type { Store } from "../../state/store";
import { part, pieceWords, seconds, waitingRows } from "../../words/found";
import { longestAt, siteKey, siteName } from "../../words/sites";
import { partTone } from "../causes";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { stack } from "./layout";

interface SitesProps { store: Store; sites: readonly SiteWait[]; waits: readonly Wait[]; waitingS: number; isRanged: boolean }

export function Sites({ store, sites, waits, waitingS, isRanged }: SitesProps) {
  const selection = store.selection.value;
  const most = sites.reduce((found, { seconds: value }) => Math.max(found, value), 0);
  useTable("waiting by call site", () => ({
    columns: ["place", "site", "waiting_s", "compute_s", "cpu_wait_s", "base_s", "distance_s", "excess_s", "operation_s", "other_s", "unknown_s"],
    rows: sites.map(({ place, site, seconds: value, by }) => [place, site, value, by.compute - by.cpuWait, by.cpuWait, by.base, by.distance, by.excess, by.operation, by.other, by.unknown]),
  }));
  const go = (row: SiteWait): void => {
    const isMine = selection?.kind === "site" && siteKey(selection) === siteKey(row);
    store.selection.value = isMine ? null : { kind: "site", site: row.site, place: row.place };
    const longest = longestAt(waits, row.site);
    if (!isMine && longest && longest.longestS > 0) store.command({ do: "seek", time_ns: Math.round(longest.longestAtS * 1e9) });
  };
  const columns: Column<SiteWait>[] = [
    {
      key: "place", label: "call site", title: "Sort by name", sort: siteName, ascending: true,
      cell: (row) => <button type="button" class={`rank ${row.place ? "command" : ""}`} title="Show it in the inspector, and go to the longest wait there">{siteName(row)}</button>,
    },
    { key: "by", label: "waited for", title: "Sort by waiting for those who computed", sort: (row) => row.by.compute / Math.max(row.seconds, 1e-9), cell: (row) => <Split row={row} /> },
    { key: "share", label: "of all waiting", title: "The share of all waiting", sort: (row) => row.seconds, cell: (row) => part(waitingS > 0 ? row.seconds / waitingS : Number.NaN) },
    { key: "seconds", label: "waited", title: "How long in all", sort: (row) => row.seconds, cell: (row) => seconds(row.seconds), part: (row) => Math.max(0, row.seconds) / Math.max(most, 1e-9) },
  ];
  return (
    <>
      <h2>Call sites where ranks wait <span class="soft">{sites.length > 0 ? `${isRanged ? "in the whole run; " : ""}a click shows the call site and goes to its longest wait` : ""}</span></h2>
      {sites.length > 0
        ? <>
          <Table label="Call sites" columns={columns} rows={sites} rowKey={siteKey} first={{ key: "seconds", descending: true }} selected={selection?.kind === "site" ? siteKey(selection) : null} act={go} />
          {sites.some(({ place }) => !place) && <p class="soft apart">Without a name are calls without a known call site, and call sites in programs without debug information.</p>}
        </>
        : <p class="soft">No waiting by call site is known.</p>}
    </>
  );
}

/** What was waited for there, as a bar of its own length. */
export function Split({ row }: { row: Pick<SiteWait, "by"> }) {
  const { segments } = stack(waitingRows(row.by));
  const shown = segments.filter(({ fraction }) => fraction > 0);
  const words = [...shown].sort((one, other) => other.seconds - one.seconds).map((each) => pieceWords(each)).join(", ");
  return <span class="split" role="img" aria-label={words || "nothing"} title={words}>{shown.map((each) => <i key={each.part} style={{ flexGrow: each.fraction, backgroundColor: partTone(each.part) }} />)}</span>;
}
