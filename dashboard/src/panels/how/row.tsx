// One row: what it is of, and its windows over time as circles, with stretches behind them.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Course, Evolution } from "../../feed/evolution";
import type { Disturbance } from "../../feed/found";
import { latencyColour } from "../../palette/ramps";
import { edgeNs, over } from "../../state/run";
import type { Moment, Store } from "../../state/store";
import { theme } from "../../state/theme";
import { bandWords, courseFigures, courseName, disturbanceWords, type CourseHit, type PendingCalls, pendingOf, pendingWords, pointTold, segmentWords, trendWords } from "../../words/evolution";
import { CAUSE_NAMES, seconds } from "../../words/found";
import { latencyMeaning, latencyWords, type TipText } from "../../words/regions";
import { type Chart, LETTER_PIXELS, TimeChart, ValueLines } from "../chart/time-chart";
import { sideways } from "../gestures";
import { LEFT, xOf } from "../timeline/scale";
import { RegionMark } from "../where/table";
import { causeColour } from "../causes";
import { bands, hit, keyOf, type Latencies, latencyLabel, latencyLines, latencyY, type Mark, marks, picture, type Picture, series } from "./scale";

export const ROW_PIXELS = 108;
const HEAD_PIXELS = 24;
const CHART_PIXELS = ROW_PIXELS - HEAD_PIXELS - 4;
/** Narrower stretches have no room for their words. */
const WORDS_PIXELS = 44;

export interface RowProps {
  store: Store;
  course: Course;
  evolution: Evolution;
  latencies: Latencies;
  mostDelayed: number;
  disturbances: readonly Disturbance[];
  /** Null where it is not known. */
  lostS: number | null;
}

export function Row({ store, course, evolution, latencies, mostDelayed, disturbances, lostS }: RowProps) {
  const current = useSignal(-1);
  const { selection } = store;
  const run = store.figures.value;
  const isOver = over(run);
  const name = courseName(course, evolution);
  const chosen = selection.value?.kind === "moment" && isChosen(store, course) ? selection.value : null;
  const pending = isOver ? null : pendingOf(course, evolution, run.pending, run.clock.nowNs);
  const many = course.points.length + course.provisional.length;
  const at = Math.min(current.value, many - 1);
  const drawn = (chart: Chart): Picture => picture(course, chart, evolution.windowS, latencies, mostDelayed);
  const under = (ns: number, y: number, chart: Chart): CourseHit | null => hit(course, drawn(chart), xOf(chart.scale, ns), y, chart.bottom);
  const tell = (found: CourseHit): TipText => pointTold(course, found, evolution, isOver);
  const select = (found: CourseHit): void => void (selection.value = momentOf(course, found, evolution));
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (event.shiftKey || many === 0 || (by === 0 && event.key !== "Enter")) return;
    event.preventDefault();
    if (by !== 0) current.value = at < 0 ? (by > 0 ? 0 : many - 1) : Math.min(many - 1, Math.max(0, at + by));
    else if (at >= 0) select(windowAtIndex(course, at));
    store.pointedNs.value = current.peek() < 0 ? null : middleNs(windowAtIndex(course, current.peek()), evolution);
  };
  return (
    <section class={`how-row ${isChosen(store, course) ? "chosen" : ""}`} aria-label={name}>
      <Head store={store} course={course} evolution={evolution} name={name} lostS={lostS} />
      <div class="how-plot" tabIndex={0} role="slider" aria-label={`Windows of ${name}; Enter shows one`} aria-valuemin={0} aria-valuemax={Math.max(0, many - 1)} aria-valuenow={Math.max(0, at)}
        aria-valuetext={at >= 0 ? spoken(tell(windowAtIndex(course, at))) : `${many} windows`} onKeyDown={keys} onBlur={() => {
          current.value = -1;
          store.pointedNs.value = null;
        }}>
        <TimeChart store={store} height={CHART_PIXELS} hasAxis={false} label={`Latency over time: ${name}`}
          draw={(chart) => <Plot chart={chart} picture={drawn(chart)} course={course} latencies={latencies} disturbances={disturbances} chosen={chosen} current={at < 0 ? null : windowAtIndex(course, at)} pending={pending} nowNs={edgeNs(run)} />}
          tip={(ns, y, chart) => {
            const found = under(ns, y, chart);
            if (found) return <PointTip text={tell(found)} />;
            const band = bands(course.segments, chart).find(({ segment }) => segment.fromS * 1e9 <= ns && ns < segment.toS * 1e9);
            return band ? <div>{segmentWords(band.segment, isOver)}</div> : null;
          }}
          pick={(ns, y, chart) => {
            const found = under(ns, y, chart);
            if (found) select(found);
            return found !== null;
          }} />
      </div>
    </section>
  );
}

/** All windows of a row in order, those that are not final last. */
function windowAtIndex({ points, provisional }: Course, index: number): CourseHit {
  const isFinal = index < points.length;
  return { points: isFinal ? points : provisional, at: isFinal ? index : index - points.length, isFinal };
}

function middleNs({ points, at }: CourseHit, { windowS }: Evolution): number {
  return ((points.timeS[at] ?? 0) + windowS / 2) * 1e9;
}

function momentOf({ region, other }: Course, { points, at }: CourseHit, { windowS }: Evolution): Moment {
  const fromNs = Math.round((points.timeS[at] ?? 0) * 1e9);
  return { kind: "moment", region, other, fromNs, toNs: fromNs + Math.round(windowS * 1e9) };
}

function spoken({ title, rows }: TipText): string {
  return `${title}. ${rows.map(([what, value, note]) => `${what} ${value}${note && `, ${note}`}`).join("; ")}`;
}

function isChosen(store: Store, { region, other }: Course): boolean {
  const selection = store.selection.value;
  if (selection?.kind === "region") return other === null && selection.id === region;
  if (selection?.kind === "between") return other !== null && Math.min(selection.a, selection.b) === Math.min(region, other) && Math.max(selection.a, selection.b) === Math.max(region, other);
  return selection?.kind === "moment" && selection.region === region && selection.other === other;
}

function Head({ store, course, evolution, name, lostS }: { store: Store; course: Course; evolution: Evolution; name: string; lostS: number | null }) {
  const { region, other, latency, joined } = course;
  const isKnown = evolution.by === "traffic";
  const trend = trendWords(course, over(store.figures.value));
  const place = other === null ? { kind: "region" as const, id: region } : { kind: "between" as const, a: region, b: other };
  const figures = courseFigures(course, evolution.hasNormal);
  const marks = <>{isKnown && <RegionMark id={region} />}{isKnown && other !== null && <RegionMark id={other} />}</>;
  return (
    <div class="how-head">
      {isKnown
        ? <button type="button" class="rank" title={`Show ${name.replace(/^[RB]/, (letter) => letter.toLowerCase())} in the inspector`} onClick={() => (store.selection.value = place)}>{marks}{name}</button>
        : <h3>{name}</h3>}
      <b title={latencyMeaning(latency)}><i class={latency === null ? "tone unknown" : "tone"} style={latency === null ? {} : { backgroundColor: latencyColour(latency, theme.value) }} />L {latencyWords(latency)}</b>
      {lostS !== null && <span class="lost" title="Avoidable time of these ranks in the whole run">lost {seconds(lostS)}</span>}
      <span class="soft figures" title={figures}>{figures}</span>
      {trend && <span class={`trend ${course.segments.at(-1)?.kind ?? ""}`} title={joined > 0 ? `${trend}; ${joined} older stretches were joined, since there were too many` : trend}>{trend}</span>}
    </div>
  );
}

interface PlotProps {
  chart: Chart;
  picture: Picture;
  course: Course;
  latencies: Latencies;
  disturbances: readonly Disturbance[];
  chosen: Moment | null;
  current: CourseHit | null;
  pending: PendingCalls | null;
  nowNs: number;
}

function Plot({ chart, picture: { circles, unknown, average }, course, latencies, disturbances, chosen, current, pending, nowNs }: PlotProps) {
  const { top, bottom } = chart;
  const y = (latency: number): number => latencyY(latencies, latency, top, bottom);
  const usual = Math.round(y(1));
  const isChosenAt = (timeS: number): boolean => chosen !== null && Math.abs(timeS * 1e9 - chosen.fromNs) < 100;
  const timeOf = ({ at, isFinal }: { at: number; isFinal: boolean }): number => (isFinal ? course.points : course.provisional).timeS[at] ?? 0;
  const marked = (one: { at: number; isFinal: boolean }): boolean => isChosenAt(timeOf(one)) || (current?.at === one.at && current.isFinal === one.isFinal);
  const drawnBands = bands(course.segments, chart);
  // A chart is drawn anew with each move of the pointer.
  const whole = useMemo(() => series(course, chart, latencies), [course, latencies, top, bottom, chart.scale.width, ...chart.scale.span]);
  const hatch = `how-growth-${keyOf(course).replace("/", "-")}`;
  return (
    <>
      <defs>
        <clipPath id={`${hatch}-plot`}><rect x={LEFT} y={top} width={chart.scale.width} height={bottom - top} /></clipPath>
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse"><path class="hatch" d="M-1,7 L7,-1 M-1,1 L1,-1 M5,7 L7,5" /></pattern>
      </defs>
      {drawnBands.map(({ segment, x, width }) => (
        <g key={segment.fromS}>
          <rect class={`band ${segment.kind}`} x={x} y={top} width={width} height={bottom - top} style={segment.kind === "growth" ? { fill: `url(#${hatch})` } : {}} />
          <rect x={x} y={top - 3} width={width} height={3} style={{ fill: latencyColour(segment.latency, theme.value) }} />
        </g>
      ))}
      <ValueLines chart={chart} values={latencyLines(latencies, bottom - top)} y={y} words={latencyLabel} />
      <rect class="usual" x={LEFT} y={usual} width={chart.scale.width} height={1} />
      <path class="spread" d={whole.area} />
      <path class="mean" d={whole.mean} />
      <path class="median" d={whole.median} />
      <DisturbanceMarks chart={chart} disturbances={disturbances} hasWords />
      {average && <polyline class="average" points={average} clip-path={`url(#${hatch}-plot)`} />}
      {unknown.map((one) => <rect class={`no-exact ${marked(one) ? "marked" : ""}`} key={`${one.isFinal}${one.at}`} x={one.x - 1.5} y={bottom - 6} width={3} height={3} />)}
      {circles.map((one) => {
        const tone = latencyColour(one.latency, theme.value);
        return <circle key={`${one.isFinal}${one.at}`} class={`${one.isFinal ? "" : "hollow"} ${marked(one) ? "marked" : ""}`} cx={one.x} cy={one.y} r={one.radius} style={one.isFinal ? { fill: tone } : { stroke: tone }} />;
      })}
      {drawnBands.map(({ segment, x, width }) => width > WORDS_PIXELS && <text class="over" key={segment.fromS} x={x + 4} y={bottom - 4}>{bandWords(segment)}</text>)}
      {pending && <PendingTail chart={chart} pending={pending} nowNs={nowNs} />}
      {circles.length + unknown.length === 0 && <text class="over" x={LEFT + 8} y={(top + bottom) / 2 + 4}>{course.points.length > 0 ? "No window of this part of the run is kept." : "No window is final yet."}</text>}
    </>
  );
}

/** The words on a mark: they end with it, and before the next one begins. Where there is no room, only the cause, or none. */
function markWords({ disturbance, x, width }: Mark, marks: readonly Mark[]): string {
  const pixels = Math.min(x + width, ...marks.map((mark) => mark.x).filter((next) => next > x)) - x - 4;
  return [disturbanceWords(disturbance), CAUSE_NAMES[disturbance.cause]].find((words) => LETTER_PIXELS * words.length < pixels) ?? "";
}

/** Each with its one beginning and its one end, in the colour of its cause. */
export function DisturbanceMarks({ chart, disturbances, hasWords = false }: { chart: Chart; disturbances: readonly Disturbance[]; hasWords?: boolean }) {
  const all = marks(disturbances, chart);
  return (
    <>
      {all.map((mark) => (
        <g key={`${mark.disturbance.cause}${mark.disturbance.fromS}`} class="disturbance">
          <path d={`M${mark.x},${chart.bottom}V${chart.top - 3}H${mark.x + mark.width}V${chart.bottom}`} style={{ stroke: causeColour(mark.disturbance.cause) }} />
          <rect x={mark.x} y={chart.top - 3} width={mark.width} height={3} style={{ fill: causeColour(mark.disturbance.cause) }} />
          {hasWords && <text class="over" x={mark.x + 4} y={chart.top + 11}>{markWords(mark, all)}</text>}
        </g>
      ))}
    </>
  );
}

/** From where the first of the calls was entered to now. */
function PendingTail({ chart, pending, nowNs }: { chart: Chart; pending: PendingCalls; nowNs: number }) {
  const { scale: { span }, bottom } = chart;
  if (pending.sinceNs > span[1] || nowNs < span[0]) return null;
  const [from, to] = [chart.clamp(pending.sinceNs), chart.clamp(Math.max(nowNs, pending.sinceNs))];
  const words = pendingWords(pending, nowNs);
  const isRight = from < LEFT + chart.scale.width / 2;
  return (
    <g>
      <path class="pending" d={`M${from.toFixed(1)},${bottom - 14} V${bottom - 4} M${from.toFixed(1)},${bottom - 9} H${Math.max(to, from + 4).toFixed(1)}`} />
      <text class="over" x={isRight ? from + 4 : from - 6} y={isRight ? bottom - 14 : bottom - 5} text-anchor={isRight ? "start" : "end"}>{words}</text>
    </g>
  );
}

/** Beside the pointer there is no room for what a stretch is: its name will do. */
function PointTip({ text: { title, rows } }: { text: TipText }) {
  return (
    <>
      <div><b>{title}</b></div>
      {rows.map(([name, value, note]) => <div key={name}><span class="soft">{name}</span><span>{value}{note && name !== "Part of" && <span class="soft">{`, ${note}`}</span>}</span></div>)}
    </>
  );
}
