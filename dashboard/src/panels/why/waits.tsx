// Who waited for whom. A row leads to the longest of its waits.

import { useSignal } from "@preact/signals";
import type { Wait } from "../../feed/found";
import type { Store } from "../../state/store";
import { clock, count } from "../../words";
import { seconds, STATE_MEANINGS } from "../../words/found";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";

const keyOf = (wait: Wait): string => `${wait.waiter}/${wait.awaited}/${wait.function}/${wait.state}/${wait.site ?? wait.place}`;

export function Waits({ store, waits, isRanged }: { store: Store; waits: readonly Wait[]; isRanged: boolean }) {
  const chosen = useSignal<string | null>(null);
  const selection = store.selection.value;
  const most = waits.reduce((found, wait) => Math.max(found, wait.seconds), 0);
  const go = (wait: Wait): void => {
    chosen.value = keyOf(wait);
    store.selection.value = { kind: "rank", rank: wait.waiter };
    if (wait.longestS > 0) store.command({ do: "seek", time_ns: Math.round(wait.longestAtS * 1e9) });
  };
  useTable("waits", () => ({
    columns: ["waiter", "awaited", "state", "function", "place", "times", "waited_s", "longest_s", "longest_at_s"],
    rows: waits.map((wait) => [wait.waiter, wait.awaited, wait.state, wait.function, wait.place, wait.times, wait.seconds, wait.longestS, wait.longestAtS]),
  }));
  const columns: Column<Wait>[] = [
    {
      key: "waiter", label: "who waited", title: "Sort by the rank that waited", sort: (wait) => wait.waiter, ascending: true,
      cell: (wait) => <button type="button" class="rank" title={lead(wait)}>rank {wait.waiter}</button>,
    },
    { key: "awaited", label: "for whom", title: "Sort by the rank that was waited for", sort: (wait) => wait.awaited, ascending: true, cell: (wait) => `rank ${wait.awaited}` },
    { key: "state", label: "known as", title: "Sort by the known name", sort: (wait) => wait.state, ascending: true, className: () => "word", cell: (wait) => <span title={STATE_MEANINGS[wait.state] ?? ""}>{wait.state}</span> },
    { key: "function", label: "function", title: "Sort by the function that was waited in", sort: (wait) => wait.function, ascending: true, className: () => "word", cell: (wait) => (wait.place ? <span title={`called at ${wait.place}`}>{wait.function} <span class="soft">{wait.place}</span></span> : wait.function) },
    { key: "times", label: "times", title: "How often", sort: (wait) => wait.times, cell: (wait) => count(wait.times) },
    { key: "longest", label: "longest", title: "The longest of them", sort: (wait) => wait.longestS, cell: (wait) => (wait.longestS > 0 ? <span title={`in the call that began at ${clock(wait.longestAtS * 1e9, 6)}`}>{seconds(wait.longestS)}</span> : "\u2013") },
    { key: "seconds", label: "waited", title: "How long in all", sort: (wait) => wait.seconds, cell: (wait) => seconds(wait.seconds), part: (wait) => wait.seconds / Math.max(most, 1e-9) },
  ];
  return (
    <>
      <h2>Who waited for whom <span class="soft">{waits.length > 0 ? `the greatest${isRanged ? " of the whole run" : ""}; a click shows the rank and goes to the longest wait` : ""}</span></h2>
      {waits.length > 0
        ? <Table label="Waits" columns={columns} rows={waits} rowKey={keyOf} first={{ key: "seconds", descending: true }} selected={selection?.kind === "rank" ? chosen.value : null} act={go} />
        : <p class="soft">No rank waited for another one long enough to be named.</p>}
    </>
  );
}

function lead(wait: Wait): string {
  const rank = `Show rank ${wait.waiter}`;
  return wait.longestS > 0 ? `${rank} and go to its longest wait, at ${clock(wait.longestAtS * 1e9)}` : rank;
}
