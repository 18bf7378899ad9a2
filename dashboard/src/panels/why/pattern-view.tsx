// How evenly messages are spread over ranks: how far ranks are from the mean in each window, coloured by how far the
// furthest of them is.

import { loadRamp, STEPS, stepOf } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { axisCount, duration, significant } from "../../words";
import { farWords, patternSentence } from "../../words/courses";
import { part } from "../../words/found";
import { type Chart, shareLabel, TimeChart, ValueLines } from "../chart/time-chart";
import { columns, loadMost, unevenAxis, windowAt } from "./course-layout";
import { windowWords } from "./course-tip";
import type { ViewProps } from "./views";

const HEIGHT = 116;
/** Steps of the scale of colours that its legend shows. */
const RAMP = Array.from({ length: 17 }, (_, at) => (at * STEPS) / 16);

export function PatternView({ store, found: { seen, chosen } }: ViewProps) {
  const axis = unevenAxis(seen);
  const most = loadMost(seen);
  const ramp = loadRamp(theme.value);
  const yOf = (chart: Chart, value: number): number => chart.bottom - (value / axis.most) * (chart.bottom - chart.top);
  // From 1 on: one rank at least is as far away as ranks are on average.
  const colourOf = (load: number): string => ramp[stepOf(Math.log2(Math.max(1, load || 1)) / Math.log2(most))] ?? "";
  const { before, rank, after } = patternSentence(chosen);
  return (
    <div class="view">
      <h3>Pattern: how evenly ranks communicate</h3>
      <p class="two">{before}{rank !== null && <button type="button" class="link" title={`Show rank ${rank} in the inspector`} onClick={() => (store.selection.value = { kind: "rank", rank })}>rank {rank}</button>}{after}</p>
      <div class="legend small soft">
        <span>height: how far ranks are from the mean, of the mean (AD / mean)</span>
        <span class="ramp-key">furthest rank (LB): 1<span class="ramp">{RAMP.map((at) => <i key={at} style={{ backgroundColor: ramp[at] }} />)}</span>{axisCount(most)} times as far as the average</span>
      </div>
      <TimeChart store={store} height={HEIGHT} label={`How unevenly ranks send and receive in each window of ${duration(seen.widthNs)}. ${before}${rank === null ? "" : `rank ${rank}`}${after}`}
        draw={(chart) => (
          <>
            <ValueLines chart={chart} values={axis.values} y={(value) => yOf(chart, value)} words={shareLabel} />
            {columns(seen, chart.scale).map(({ window, x, width }) => {
              const value = seen.uneven[window] ?? Number.NaN;
              if (Number.isNaN(value)) return null;
              const y = Math.min(chart.bottom - 1, yOf(chart, value));
              return <rect key={window} x={x} y={y} width={width + 0.3} height={chart.bottom - y} style={{ fill: colourOf(seen.greatestLoad[window] ?? Number.NaN) }} />;
            })}
          </>
        )}
        tip={(ns) => {
          const window = windowAt(seen, ns);
          const value = seen.uneven[window] ?? Number.NaN;
          if (window < 0) return null;
          if (Number.isNaN(value)) return <><div>{windowWords(seen, window)}</div><div class="soft">no message</div></>;
          const load = seen.greatestLoad[window] ?? Number.NaN;
          return (
            <>
              <div>{windowWords(seen, window)}</div>
              <div>ranks on average<span>{part(value)} of the mean away</span></div>
              {load > 0 && <div class="words"><span class="swatch" style={{ backgroundColor: colourOf(load) }} />rank {seen.greatestRank[window]}: {farWords({ load, uneven: value })} (LB {significant(load)})</div>}
            </>
          );
        }} />
    </div>
  );
}
