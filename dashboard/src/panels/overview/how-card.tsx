// How: the latency of the slowest region over time, and below it what could be avoided of the ranks' time.

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Course, Evolution } from "../../feed/evolution";
import type { FindingsReport } from "../../feed/found";
import { latencyColour } from "../../palette/ramps";
import type { Store } from "../../state/store";
import { over } from "../../state/run";
import { theme } from "../../state/theme";
import { courseName, noEvolution, pointTold, trendWords } from "../../words/evolution";
import { part, stretchWords } from "../../words/found";
import { worstCourse } from "../../words/overview";
import { causeColour } from "../causes";
import { type Chart, TimeChart, ValueLines } from "../chart/time-chart";
import { DisturbanceMarks } from "../how/row";
import { hit, type Latencies, latencies, latencyLabel, latencyLines, latencyY, mostDelayed, picture } from "../how/scale";
import { WholeRunNote } from "../selected-note";
import { useSize } from "../size";
import { LEFT, xOf } from "../timeline/scale";
import { avoidableShare, strip, stretchAt } from "../why/layout";

/** As high as there is room for, within bounds. */
const LOWEST = 92;
const HIGHEST = 260;
/** The bars' part of the plot. */
const BARS_PART = 0.36;
const GAP = 6;

export function HowCard({ store, found }: { store: Store; found: FindingsReport | null }) {
  const evolution = useComputed(() => store.figures.value.evolution).value;
  const course = evolution && worstCourse([...evolution.regions, ...evolution.links]);
  const run = store.figures.value;
  const nothing = noEvolution(run);
  const name = evolution && course ? courseName(course, evolution) : "";
  return (
    <section class="how-card">
      <h2>How <span class="soft" title={course ? `${name}${trendWords(course, over(run)) && `, ${trendWords(course, over(run))}`}` : ""}>{course ? `slowest ${course.other === null ? "region" : "two regions"}; bars: avoidable time` : "what could be avoided over time"}</span> <WholeRunNote store={store} /><button type="button" class="more" onClick={() => void (store.tab.value = "how")}>Open Latency</button></h2>
      {nothing && !found
        ? <p class="soft">{nothing.text}</p>
        : <Sparkline store={store} evolution={evolution} course={course && !nothing ? course : null} found={found} name={name} nothing={nothing?.title ?? "No region has a latency over time"} />}
    </section>
  );
}

function barsTop({ top, bottom }: Chart): number {
  return Math.round(bottom - BARS_PART * (bottom - top));
}

interface SparklineProps { store: Store; evolution: Evolution | null; course: Course | null; found: FindingsReport | null; name: string; nothing: string }

function Sparkline({ store, evolution, course, found, name, nothing }: SparklineProps) {
  const { ranks } = store.figures.value.job;
  const isOver = over(store.figures.value);
  const box = useRef<HTMLDivElement>(null);
  const height = Math.min(HIGHEST, Math.max(LOWEST, useSize(box).value.height));
  const range = latencies(course ? [course] : []);
  const upper = (chart: Chart) => ({ scale: chart.scale, top: chart.top - 4, bottom: barsTop(chart) - GAP });
  const drawn = (chart: Chart) => course && evolution && picture(course, upper(chart), evolution.windowS, range, mostDelayed([course]));
  return (
    <div class="chart-box" ref={box} style={{ minHeight: `${LOWEST}px` }}>
      <TimeChart store={store} height={height} label={`Latency of ${name || "no region"} and avoidable time, over time; a click goes there`}
        draw={(chart) => (
          <>
            <Latency chart={chart} drawn={drawn(chart) ?? null} range={range} plot={upper(chart)} nothing={nothing} />
            {found && <DisturbanceMarks chart={chart} disturbances={found.diagnosis.disturbances} />}
            {found && <Avoidable chart={chart} found={found} ranks={ranks} />}
          </>
        )}
        tip={(ns, y, chart) => {
          const circles = drawn(chart);
          const point = course && circles ? hit(course, circles, xOf(chart.scale, ns), y, upper(chart).bottom) : null;
          if (point && course && evolution) return <div>{pointTold(course, point, evolution, isOver).rows.slice(0, 3).map(([what, value]) => `${what} ${value}`).join(", ")}</div>;
          const stretch = found?.diagnosis.attribution[stretchAt(found.diagnosis.attribution, ns)];
          return stretch && ns <= stretch.toS * 1e9 ? <div>{stretchWords(stretch, avoidableShare(stretch, ranks))}</div> : null;
        }} />
    </div>
  );
}

interface LatencyProps { chart: Chart; drawn: ReturnType<typeof picture> | null; range: Latencies; plot: { top: number; bottom: number }; nothing: string }

function Latency({ chart, drawn, range, plot: { top, bottom }, nothing }: LatencyProps) {
  if (!drawn) return <text x={LEFT + 8} y={(top + bottom) / 2 + 4}>{nothing}.</text>;
  return (
    <>
      <ValueLines chart={chart} values={latencyLines(range, bottom - top)} y={(value) => latencyY(range, value, top, bottom)} words={latencyLabel} />
      {drawn.average && <polyline class="average" points={drawn.average} />}
      {drawn.circles.map(({ at, isFinal, x, y, radius, latency }) => {
        const tone = latencyColour(latency, theme.value);
        return x >= LEFT && x <= LEFT + chart.scale.width && <circle key={`${isFinal}${at}`} class={isFinal ? "" : "hollow"} cx={x} cy={y} r={radius * 0.75} style={isFinal ? { fill: tone } : { stroke: tone }} />;
      })}
    </>
  );
}

function Avoidable({ chart, found, ranks }: { chart: Chart; found: FindingsReport; ranks: number }) {
  const { bars, lines } = strip(found.diagnosis.attribution, ranks, chart.scale, barsTop(chart), chart.bottom);
  const top = lines.at(-1);
  return (
    <>
      {top && <ValueLines chart={chart} values={[top.share]} y={() => top.y} words={(value) => part(value).replace(".0", "")} />}
      {bars.map((bar) => <rect key={bar.index} x={bar.x} y={bar.y} width={bar.width} height={bar.height} style={{ fill: causeColour(bar.cause) }} />)}
    </>
  );
}
