// Who waited for whom. A row leads to the longest of its waits.

import { useSignal } from "@preact/signals";
import type { GatheredWait, Wait } from "../../feed/found";
import type { Store } from "../../state/store";
import { clock, count, counted } from "../../words";
import { part, seconds, STATE_MEANINGS } from "../../words/found";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { show, SOURCES } from "./sections";
import { RankLink } from "./sources";

interface GatheredProps { store: Store; gathered: readonly GatheredWait[]; waitingS: number; isRanged: boolean }

/** In which calls ranks wait, whoever it is. */
export function GatheredWaits({ store, gathered, waitingS, isRanged }: GatheredProps) {
  const most = gathered.reduce((found, wait) => Math.max(found, wait.seconds), 0);
  useTable("waits by call", () => ({
    columns: ["function", "place", "state", "waiters", "awaited", "most_awaited", "most_awaited_s", "times", "waited_s"],
    rows: gathered.map((wait) => [wait.function, wait.place, wait.state, wait.waiters, wait.awaited, wait.mostAwaited, wait.mostAwaitedS, wait.times, wait.seconds]),
  }));
  const columns: Column<GatheredWait>[] = [
    { key: "function", label: "in which call", title: "Sort by function", sort: (wait) => wait.function, ascending: true, className: () => "word", cell: (wait) => <>{wait.function} {wait.place && <span class="soft">{wait.place}</span>}</> },
    { key: "state", label: "known as", title: "Sort by the known name", sort: (wait) => wait.state, ascending: true, className: () => "word", cell: (wait) => <span title={STATE_MEANINGS[wait.state] ?? ""}>{wait.state}</span> },
    { key: "waiters", label: "who waited", title: "How many ranks waited", sort: (wait) => wait.waiters, cell: (wait) => counted(wait.waiters, "rank", "ranks") },
    { key: "awaited", label: "most for", title: "The rank that was waited for the longest, with its share", sort: (wait) => wait.mostAwaitedS / Math.max(wait.seconds, 1e-9), cell: (wait) => <><RankLink store={store} rank={wait.mostAwaited} /> <span class="soft">{part(wait.mostAwaitedS / Math.max(wait.seconds, 1e-9))}{wait.awaited > 1 && `, the most of ${count(wait.awaited)} ranks`}</span></> },
    { key: "share", label: "of all waiting", title: "The share of all waiting", sort: (wait) => wait.seconds, cell: (wait) => part(waitingS > 0 ? wait.seconds / waitingS : Number.NaN) },
    { key: "seconds", label: "waited", title: "How long in all", sort: (wait) => wait.seconds, cell: (wait) => seconds(wait.seconds), part: (wait) => wait.seconds / Math.max(most, 1e-9) },
  ];
  return (
    <>
      <h2>In which calls ranks wait <span class="soft">{isRanged ? "in the whole run" : ""}</span></h2>
      {gathered.length > 0
        ? <Table label="Waits by call" columns={columns} rows={gathered} rowKey={(wait) => `${wait.function}/${wait.state}/${wait.site ?? wait.place}`} first={{ key: "seconds", descending: true }} selected={null} />
        : <p class="soft">No waiting is known of.</p>}
    </>
  );
}

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
    { key: "awaited", label: "for whom", title: "Sort by the rank that was waited for", sort: (wait) => wait.awaited, ascending: true, cell: (wait) => <RankLink store={store} rank={wait.awaited} /> },
    { key: "state", label: "known as", title: "Sort by the known name", sort: (wait) => wait.state, ascending: true, className: () => "word", cell: (wait) => <span title={STATE_MEANINGS[wait.state] ?? ""}>{wait.state}</span> },
    { key: "function", label: "function", title: "Sort by the function that was waited in", sort: (wait) => wait.function, ascending: true, className: () => "word", cell: (wait) => (wait.place ? <span title={`called at ${wait.place}`}>{wait.function} <span class="soft">{wait.place}</span></span> : wait.function) },
    { key: "times", label: "times", title: "How often", sort: (wait) => wait.times, cell: (wait) => count(wait.times) },
    { key: "longest", label: "longest", title: "The longest of them", sort: (wait) => wait.longestS, cell: (wait) => (wait.longestS > 0 ? <span title={`in the call that began at ${clock(wait.longestAtS * 1e9, 6)}`}>{seconds(wait.longestS)}</span> : "\u2013") },
    { key: "seconds", label: "waited", title: "How long in all", sort: (wait) => wait.seconds, cell: (wait) => seconds(wait.seconds), part: (wait) => wait.seconds / Math.max(most, 1e-9) },
  ];
  return (
    <>
      <h2>Who waited for whom <span class="soft">{waits.length > 0 ? `the greatest${isRanged ? " of the whole run" : ""}; a click shows the rank and goes to the longest wait` : ""}</span></h2>
      {waits.length > 0 && <p class="soft">A wait is for the rank that came last. That rank may have waited itself: who delays them all is under <button type="button" class="link" onClick={() => show(store, SOURCES)}>Which ranks</button>.</p>}
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
