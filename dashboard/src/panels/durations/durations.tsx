// How long the calls of a function took: a histogram of the selection over that of the whole run, and the calls of a bar.

import { type Signal, useSignal } from "@preact/signals";
import { type Calls, NONE } from "../../feed/calls";
import type { CallDurations } from "../../feed/durations";
import type { RankRanges, Span } from "../../state/perspective";
import { over } from "../../state/run";
import { growthS } from "../../state/selected";
import { askedRange } from "../../state/span";
import type { Store } from "../../state/store";
import { bytes, capital, clock, count, counted, duration, roundDuration, share } from "../../words";
import { useAnswers } from "../answers";
import { type Area, ChartCanvas, drawAxis, type Hit } from "../chart/chart-canvas";
import type { Colours } from "../colours";
import { callText } from "../particles/describe";
import { useTable } from "../share/tables";
import { type Column, Table } from "../tables/table";
import { Axis, type Bar, countHeights, type Histogram, histogramOf, nextBar, shareHeights, ticksOf } from "./histogram";

const MARGINS = { left: 52, right: 16, top: 20, bottom: 24 };
/** The calls of a bar that are listed. */
const LISTED_MAX = 100;

interface Scope {
  function: number;
  rangeNs: Span | null;
  ranks: RankRanges | null;
  listedNs: Span | null;
  isOver: boolean;
  untilS: number;
}

function subjectOf({ function: id, rangeNs, ranks, listedNs, isOver }: Scope): string {
  return JSON.stringify([id, rangeNs, ranks, listedNs, isOver]);
}

function ask(store: Store, { function: id, rangeNs, ranks, listedNs }: Scope): Promise<CallDurations> {
  const [low_ns, high_ns] = listedNs ?? [0, 0];
  return store.questions.answer("durations", { function: id, ...askedRange(rangeNs), ranks, low_ns, high_ns, most: LISTED_MAX });
}

export function Durations({ store, id }: { store: Store; id: number }) {
  const chosen = useSignal<{ id: number; ns: Span } | null>(null);
  const isLog = useSignal(false);
  const listedNs = chosen.value?.id === id ? chosen.value.ns : null;
  const { known, why, isAsking, isOther } = useAnswers<Scope, CallDurations>(store, (scope) => ask(store, scope), subjectOf, () => {
    const run = store.figures.value;
    const { rangeNs, ranks } = store.perspective.value;
    const [of, bar] = [store.durationsOf.value, chosen.value];
    return of === null ? null : { function: of, rangeNs, ranks, listedNs: bar?.id === of ? bar.ns : null, isOver: over(run), untilS: growthS(run, rangeNs) };
  });
  const name = store.figures.value.functions.get(id)?.name ?? `function ${id}`;
  const answer = known?.scope.function === id ? known.answer : null;
  return (
    <div class="half durations">
      <h2>
        <span>Durations of {name}</span>
        <span class="note small soft">{isAsking && (!answer || isOther) ? "on their way" : ""}</span>
        <button type="button" class="log" aria-pressed={isLog.value} title="Numbers of calls on a logarithmic axis, instead of shares: bars of few calls can be seen" onClick={() => (isLog.value = !isLog.value)}>Log</button>
        <button type="button" aria-label="Close the durations" title="Back to the ranks" onClick={() => (store.durationsOf.value = null)}>{"\u00d7"}</button>
      </h2>
      {answer
        ? <Shown key={id} {...{ store, id, name, answer, isLog, listedNs, isSelection: Boolean(known?.scope.rangeNs ?? known?.scope.ranks) }} list={(ns) => (chosen.value = ns && { id, ns })} />
        : <p class="soft">{why ? capital(why) : "The durations are on their way."}</p>}
    </div>
  );
}

interface ShownProps {
  store: Store; id: number; name: string; answer: CallDurations; isLog: Signal<boolean>; listedNs: Span | null;
  /** A part of the run is selected. */
  isSelection: boolean;
  list(ns: Span | null): void;
}

function Shown(props: ShownProps) {
  const { store, id, name, answer, isLog, listedNs, isSelection, list } = props;
  const histogram = histogramOf(answer);
  const { bars } = histogram;
  const row = store.shownFigures.value.run.functions.get(id);
  const marks = row && row.calls > 0 ? [{ ns: row.p50Ns, label: "p50" }, { ns: row.p99Ns, label: "p99" }] : [];
  const at = listedNs ? bars.findIndex(({ lowNs }) => lowNs === listedNs[0]) : -1;
  const choose = (next: number): void => {
    const bar = bars[next];
    list(bar && bar.selected > 0 && next !== at ? [bar.lowNs, bar.highNs] : null);
  };
  const keys = (event: KeyboardEvent): void => {
    const direction = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = direction === 0 ? at : nextBar(histogram, at, direction);
    if (direction === 0 || next === at) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next);
  };
  const bar = bars[at];
  useTable("durations", () => ({ columns: ["from_ns", "to_ns", "selected_calls", "run_calls"], rows: bars.map(({ lowNs, highNs, selected, run }) => [lowNs, highNs, selected, run]) }));
  if (histogram.run === 0) return <p class="soft">{name} was not called.</p>;
  return (
    <>
      <div class="chart" tabIndex={0} role="group" aria-label={`Durations of ${name}: arrow keys choose a bar`} onKeyDown={keys}>
        <ChartCanvas label={`How many calls of ${name} took how long`} inputs={[answer, isLog.value, at, row, isSelection]} margins={MARGINS}
          draw={(context, area, inks) => draw(context, area, inks, { histogram, isLog: isLog.peek(), at, marks, isSelection })}
          hit={(x, _, area) => hitOf(histogram, new Axis(histogram, area).at(x), isSelection)}
          choose={(hit) => choose(hit?.at ?? -1)} />
      </div>
      <p class="small" role="status">
        {isSelection && `${counted(histogram.selected, "call", "calls")} of the selection (bars), ${count(histogram.run)} in the whole run (line). `}
        {!isSelection && `${counted(histogram.run, "call", "calls")}. `}
        {bar ? `${counted(answer.longest.total, "call", "calls")} took ${endsOf(bar)}${answer.longest.total > answer.longest.length ? `; the longest ${count(answer.longest.length)} are listed` : ""}.` : <span class="soft">Click a bar for its calls.</span>}
      </p>
      {bar && answer.longest.length > 0 && <Listed store={store} name={name} calls={answer.longest} />}
    </>
  );
}

function endsOf({ lowNs, highNs }: Bar): string {
  return `${duration(lowNs)} to ${duration(highNs)}`;
}

function hitOf({ bars, selected, run }: Histogram, at: number, isSelection: boolean): Hit | null {
  const bar = bars[at];
  if (!bar) return null;
  const rows: [string, string, string][] = [["calls", count(bar.selected), share(bar.selected, selected)]];
  if (isSelection) rows.push(["whole run", count(bar.run), share(bar.run, run)]);
  return { rank: null, ranks: null, at, tip: { title: endsOf(bar), rows } };
}

interface Drawn { histogram: Histogram; isLog: boolean; at: number; marks: readonly { ns: number; label: string }[]; isSelection: boolean }

function draw(context: CanvasRenderingContext2D, area: Area, inks: Colours, { histogram, isLog, at, marks, isSelection }: Drawn): void {
  const axis = new Axis(histogram, area);
  const heights = isLog ? countHeights(histogram) : shareHeights(histogram);
  const bottom = area.top + area.height;
  const upOf = (part: number): number => bottom - part * area.height;
  const labels = new Map(heights.ticks.map(({ label, part }) => [part, label]));
  drawAxis(context, area, inks, [...labels.keys()], upOf, (part) => labels.get(part) ?? "", true);
  drawAxis(context, { ...area, top: bottom, height: 4 }, inks, ticksOf(histogram), (ns) => axis.placeOf(ns), roundDuration, false);
  const gap = axis.step > 4 ? 1 : 0;
  histogram.bars.forEach(({ selected }, number) => {
    if (selected <= 0) return;
    // One call among millions is seen, too.
    const height = Math.max(2, heights.of(selected, histogram.selected) * area.height);
    context.fillStyle = number === at ? inks.accent : inks.fill;
    context.fillRect(axis.leftOf(number), bottom - height, Math.max(1, axis.step - gap), height);
  });
  if (isSelection) drawOutline(context, axis, histogram, (bar) => upOf(heights.of(bar.run, histogram.run)), inks.text);
  context.textBaseline = "bottom";
  context.fillStyle = inks.soft;
  context.strokeStyle = inks.text;
  context.setLineDash([4, 4]);
  let until = -Infinity;
  for (const { ns, label } of marks) {
    const x = Math.round(axis.placeOf(ns)) + 0.5;
    context.beginPath();
    context.moveTo(x, area.top);
    context.lineTo(x, bottom);
    context.stroke();
    const wide = context.measureText(label).width;
    const left = Math.max(until, Math.min(x - wide / 2, area.left + area.width - wide));
    context.fillText(label, left, area.top - 2);
    until = left + wide + 6;
  }
  context.setLineDash([]);
}

/** The steps of the whole run. */
function drawOutline(context: CanvasRenderingContext2D, axis: Axis, { bars }: Histogram, upOf: (bar: Bar) => number, ink: string): void {
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  bars.forEach((bar, at) => {
    const up = Math.round(upOf(bar)) + 0.5;
    context.lineTo(axis.leftOf(at), up);
    context.lineTo(axis.leftOf(at + 1), up);
  });
  context.stroke();
}

function Listed({ store, name, calls }: { store: Store; name: string; calls: Calls }) {
  const rows = [...calls.rank.keys()];
  const figure = (column: "rank" | "startNs" | "bytes" | "peer") => (at: number): number => calls[column][at] ?? 0;
  const eachNs = (at: number): number => (calls.durationNs[at] ?? 0) / Math.max(1, calls.count[at] ?? 1);
  const select = (at: number): void => {
    store.selection.value = { kind: "call", call: callText(calls, at, name) };
    store.command({ do: "seek", time_ns: figure("startNs")(at) });
  };
  const isPeerKnown = calls.peer.some((peer) => peer !== NONE);
  const columns: Column<number>[] = [
    {
      key: "rank", label: "rank", title: "Sort by rank", sort: figure("rank"), ascending: true,
      cell: (at) => <button type="button" class="rank" title="Show this call in the inspector, and go there" onClick={() => select(at)}>{calls.rank[at]}</button>,
    },
    { key: "start", label: "start", title: "When it began", sort: figure("startNs"), ascending: true, cell: (at) => clock(figure("startNs")(at), 6) },
    { key: "length", label: "duration", title: "How long it took; of polls that are one row, how long each", sort: eachNs, cell: (at) => duration(eachNs(at)) },
    { key: "bytes", label: "bytes", title: "What it sent, or received", sort: figure("bytes"), cell: (at) => bytes(figure("bytes")(at)) },
    ...(isPeerKnown ? [{ key: "peer", label: "peer", title: "The other rank", sort: figure("peer"), ascending: true, cell: (at: number) => (calls.peer[at] === NONE ? "\u2013" : calls.peer[at]) } satisfies Column<number>] : []),
  ];
  return <Table label={`Calls of ${name}`} name="Calls of a bar" columns={columns} rows={rows} rowKey={(at) => at} first={{ key: "length", descending: true }} selected={null} />;
}
