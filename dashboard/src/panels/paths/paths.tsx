// The tab of call paths: which functions of the program led to the calls of MPI, with callers, callees and source.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { NO_SITE, type ProgramPlaces, type SiteTimes } from "../../feed/call-sites";
import { remembered } from "../../state/arrangement";
import type { RankRanges, Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { growthS } from "../../state/selected";
import { askedRange, momentOf } from "../../state/span";
import type { Store } from "../../state/store";
import { capital, clock, count, share } from "../../words";
import { countedWords, measured, MEASURES, NOT_RECORDED, totalWords } from "../../words/paths";
import { useAnswers } from "../answers";
import { functionColours } from "../colours";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { Flame, titleOf } from "./flame";
import { Source } from "./source";
import { functionSums, type FunctionSums, lineSums, mainSite, type Measure, type Neighbour, neighbours, type PathNode, type PathTree, pathTree, sameNode } from "./tree";

const measure = remembered<Measure>("paths.measure", "timeNs", ["timeNs", "calls", "bytes"]);
const direction = remembered("paths.direction", "from main", ["from main", "from MPI"]);
const when = remembered("paths.when", "range", ["range", "moment"]);
/** How often the moment follows the clock, at most. */
const MOMENT_EVERY_MS = 250;

interface Scope { rangeNs: Span | null; ranks: RankRanges | null; hidden: readonly number[]; isOver: boolean; untilS: number }
interface TimesAndPlaces { times: SiteTimes; places: ProgramPlaces }

/** Places of a run stay what they are: they are asked for again where there are calls from new ones. */
const placesOf = new WeakMap<Store, ProgramPlaces>();

async function ask(store: Store, { rangeNs, ranks, hidden }: Scope): Promise<TimesAndPlaces> {
  const times = await store.questions.answer("site_times", { ...askedRange(rangeNs), ranks, hidden });
  let places = placesOf.get(store);
  if (!places || times.site.some((site) => site !== NO_SITE && !places?.all.has(site))) {
    places = await store.questions.answer("sites");
    placesOf.set(store, places);
  }
  return { times, places };
}

export function Paths({ store }: { store: Store }) {
  const moment = useSignal<Span>(momentOf(store.timeNs.peek(), edgeNs(store.run.peek())));
  useEffect(() => {
    const timer = setInterval(() => {
      const next = momentOf(store.timeNs.peek(), edgeNs(store.run.peek()));
      if (next[1] !== moment.peek()[1] || next[0] !== moment.peek()[0]) moment.value = next;
    }, MOMENT_EVERY_MS);
    return () => clearInterval(timer);
  }, [store]);
  const { known, why, isAsking, isOther, again } = useAnswers<Scope, TimesAndPlaces>(store, (scope) => ask(store, scope), ({ rangeNs, ranks, hidden, isOver }) => JSON.stringify([rangeNs, ranks, hidden, isOver]), () => {
    const run = store.figures.value;
    const { rangeNs: selected, ranks, hidden } = store.perspective.value;
    if (run.ranks.count === 0) return null;
    const rangeNs = when.value === "moment" ? moment.value : selected;
    return { rangeNs, ranks, hidden: [...hidden].sort((one, other) => one - other), isOver: over(run), untilS: growthS(run, rangeNs) };
  });
  const countedShare = known?.answer.times.countedShare ?? 1;
  // Of very many calls some are counted at each question.
  useEffect(() => {
    if (countedShare < 1) again();
  }, [known]);
  const isInverted = direction.value === "from MPI";
  const names = store.figures.value.functions;
  const answer = known?.answer ?? null;
  const tree = useComputed(() => store.figures.value.functions.size).value && answer ? treeOf(answer, names, isInverted) : null;
  return (
    <div class="paths">
      <Bar store={store} scope={known?.scope ?? null} tree={tree} status={isAsking && (!known || isOther) ? "on their way" : countedWords(countedShare)} />
      {why && <p class="warn">{capital(why)}</p>}
      {tree && answer ? <Shown store={store} tree={tree} places={answer.places} /> : !why && <div class="message"><h2>Call paths</h2><p>{store.figures.value.ranks.count === 0 ? "No rank was heard of yet." : "They are on their way."}</p></div>}
    </div>
  );
}

let made: { answer: TimesAndPlaces; names: number; isInverted: boolean; tree: PathTree } | null = null;

/** The same tree as long as what it is of is the same. */
function treeOf(answer: TimesAndPlaces, names: ReadonlyMap<number, { name: string }>, isInverted: boolean): PathTree {
  if (made?.answer !== answer || made.names !== names.size || made.isInverted !== isInverted) {
    made = { answer, names: names.size, isInverted, tree: pathTree(answer.times, answer.places, (id) => names.get(id)?.name ?? `function ${id}`, isInverted) };
  }
  return made.tree;
}

function Bar({ store, scope, tree, status }: { store: Store; scope: Scope | null; tree: PathTree | null; status: string }) {
  const isMoment = when.value === "moment";
  const span = scope?.rangeNs ? `${clock(scope.rangeNs[0], 3)} to ${clock(scope.rangeNs[1], 3)}` : "whole run";
  return (
    <div class="paths-bar">
      <div class="group" role="group" aria-label="What the width means">
        {MEASURES.map(({ id, label, title }) => <button type="button" key={id} aria-pressed={measure.value === id} title={title} onClick={() => (measure.value = id)}>{label}</button>)}
      </div>
      <button type="button" aria-pressed={direction.value === "from MPI"} title="MPI functions at the top, below them who called them" onClick={() => (direction.value = direction.peek() === "from MPI" ? "from main" : "from MPI")}>Inverted</button>
      <button type="button" aria-pressed={isMoment} title="Figures of the moment of the shared clock: they move with it" onClick={() => (when.value = isMoment ? "range" : "moment")}>The clock{"\u2019"}s moment</button>
      <p class="soft facts" role="status">{tree ? `${isMoment ? "At the clock, " : ""}${span}${store.perspective.value.ranks ? ", selected ranks" : ""}: ${totalWords(tree.root.sums)}` : ""} {status}</p>
    </div>
  );
}

interface ShownProps { store: Store; tree: PathTree; places: ProgramPlaces }

function Shown({ store, tree, places }: ShownProps) {
  const focused = useSignal<PathNode | null>(null);
  const picked = useSignal<PathNode | null>(null);
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const focus = sameNode(tree.root, focused.value);
  const chosen = picked.value ? sameNode(tree.root, picked.value) : null;
  const of = chosen?.parent ? chosen : null;
  const rows = useMemo(() => functionSums(tree), [tree]);
  useTable("call paths", () => ({
    columns: ["path", "time_ns", "calls", "bytes"],
    rows: tree.paths.map(({ functions, sums }) => [functions.map(({ name }) => name).join(";"), sums.timeNs, sums.calls, sums.bytes]),
  }));
  if (tree.root.sums.calls === 0 && tree.root.sums.timeNs === 0) return <div class="message"><h2>No MPI call is selected</h2><p>Select another range, other ranks or more functions.</p></div>;
  return (
    <>
      {!tree.hasPaths && <p class="note small soft">{NOT_RECORDED.split("`").map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part))}</p>}
      <div class="flames">
        <Flame tree={tree} focus={focus} measure={measure.value} chosen={of} colours={colours}
          choose={(node) => (picked.value = node)} open={(node) => (focused.value = node)} />
      </div>
      <div class="paths-body">
        <div class={of ? "half" : "half functions"}>
          <h2><span>{of ? titleOf(of) : "Functions"}</span>
            <span class="note small soft">{of ? "called by, and what it calls" : "a click shows who calls it and its source"}</span>
            {of && of !== focus && <button type="button" title="Fill the width with this function (double click)" onClick={() => (focused.value = of)}>Zoom</button>}
            {focus !== tree.root && <button type="button" title="Show all paths (Escape)" onClick={() => (focused.value = null)}>Show all</button>}
            {of && <button type="button" aria-label="Back to all functions" title="Back to all functions" onClick={() => (picked.value = null)}>{"\u00d7"}</button>}
          </h2>
          {of
            ? <NeighbourTable tree={tree} node={of} choose={(key) => (picked.value = heaviest(tree, key, measure.peek()))} />
            : <FunctionTable rows={rows} total={tree.root.sums} choose={(key) => (picked.value = heaviest(tree, key, measure.peek()))} />}
        </div>
        <div class="half">
          <h2><span>Source</span></h2>
          <SourceOf store={store} tree={tree} places={places} node={of} />
        </div>
      </div>
    </>
  );
}

/** Where in the picture a function has most of what is measured. */
function heaviest(tree: PathTree, key: string, by: Measure): PathNode | null {
  let most: PathNode | null = null;
  const visit = (node: PathNode): void => {
    if (node.function.key === key && (!most || node.sums[by] > most.sums[by])) most = node;
    node.children.forEach(visit);
  };
  visit(tree.root);
  return most;
}

function figure<Row>(key: Measure, label: string, title: string, of: (row: Row) => number): Column<Row> {
  return { key, label, title, sort: of, cell: (row) => measured(key, of(row)) };
}

function FunctionTable({ rows, total, choose }: { rows: readonly FunctionSums[]; total: FunctionSums["inclusive"]; choose(key: string): void }) {
  const columns: Column<FunctionSums>[] = [
    { key: "name", label: "function", title: "Sort by name", sort: ({ function: of }) => of.name, ascending: true, cell: ({ function: of }) => <button type="button" class="rank" title={of.module} onClick={() => choose(of.key)}>{of.name}</button> },
    figure<FunctionSums>("timeNs", "time in MPI", "Of all MPI calls that it leads to, over all ranks", (row) => row.inclusive.timeNs),
    { key: "share", label: "share", title: "Share of the time in MPI", sort: (row) => row.inclusive.timeNs, cell: (row) => share(row.inclusive.timeNs, total.timeNs), part: (row) => row.inclusive.timeNs / Math.max(1, total.timeNs) },
    { key: "own", label: "own", title: "Time of the MPI calls that it makes itself", sort: (row) => row.own.timeNs, cell: (row) => measured("timeNs", row.own.timeNs) },
    { key: "calls", label: "calls", title: "MPI calls that it leads to", sort: (row) => row.inclusive.calls, cell: (row) => count(row.inclusive.calls) },
    figure<FunctionSums>("bytes", "bytes", "What these calls sent, or received where they sent nothing", (row) => row.inclusive.bytes),
  ];
  return <Table label="Functions on call paths" columns={columns} rows={rows} rowKey={(row) => row.function.key} first={{ key: "timeNs", descending: true }} selected={null} act={(row) => choose(row.function.key)} />;
}

interface Side { is: "called by" | "calls"; row: Neighbour }

function NeighbourTable({ tree, node, choose }: { tree: PathTree; node: PathNode; choose(key: string): void }) {
  const { callers, callees } = neighbours(tree, node.function.key);
  const rows: Side[] = [...callers.map((row) => ({ is: "called by", row }) as const), ...callees.map((row) => ({ is: "calls", row }) as const)];
  const columns: Column<Side>[] = [
    { key: "is", label: "how", title: "Sort by callers and callees", sort: ({ is, row }) => `${is === "called by" ? 0 : 1} ${String(1e18 - row.sums.timeNs).padStart(20, "0")}`, ascending: true, cell: ({ is }) => is },
    { key: "name", label: "function", title: "Sort by name", sort: ({ row }) => row.function.name, ascending: true, cell: ({ row }) => <button type="button" class="rank" title={row.function.module} onClick={() => choose(row.function.key)}>{row.function.name}</button> },
    figure<Side>("timeNs", "time in MPI", "Of the MPI calls on paths with both", ({ row }) => row.sums.timeNs),
    figure<Side>("calls", "calls", "MPI calls on paths with both", ({ row }) => row.sums.calls),
    figure<Side>("bytes", "bytes", "What these calls sent, or received where they sent nothing", ({ row }) => row.sums.bytes),
  ];
  return <Table label={`Callers and callees of ${node.function.name}`} name="Callers and callees" columns={columns} rows={rows} rowKey={({ is, row }) => `${is} ${row.function.key}`} first={{ key: "is", descending: false }} selected={null} act={({ row }) => choose(row.function.key)} />;
}

/** The place through which most time of the node goes; of an MPI function, where its caller calls it. */
function SourceOf({ store, tree, places, node }: { store: Store; tree: PathTree; places: ProgramPlaces; node: PathNode | null }) {
  if (!node) return <p class="soft">Choose a function: its source comes with the time in MPI that each line leads to.</p>;
  const own = [...node.sites].sort((one, other) => other[1] - one[1]).map(([site]) => site).find((site) => (places.all.get(site)?.line ?? 0) > 0);
  const caller = direction.value === "from MPI" ? [...node.children.values()][0] : node.parent;
  const site = own ?? (node.function.mpi === null ? mainSite(tree, node.function.key, places) : caller ? mainSite(tree, caller.function.key, places) : null);
  const place = site === null ? undefined : places.all.get(site);
  if (site === null || !place) return <p class="soft">Its lines are not known: build the program with -g.</p>;
  return <Source store={store} site={site} line={place.line} lines={lineSums(tree, places, place.file)} />;
}
