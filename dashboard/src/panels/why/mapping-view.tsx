// Where messages go: between nodes and within, over time and in all.

import { bytes, count, duration, axisCount } from "../../words";
import { part } from "../../words/found";
import { mappingSentence, totals } from "../../words/courses";
import { partTone } from "../causes";
import { type Chart, TimeChart, ValueLines } from "../chart/time-chart";
import { area, columns, countAxis, windowAt } from "./course-layout";
import { windowWords } from "./course-tip";
import type { ViewProps } from "./views";

const HEIGHT = 116;

export function MappingView({ store, found: { seen, chosen } }: ViewProps) {
  const axis = countAxis(seen);
  const yOf = (chart: Chart, value: number): number => chart.bottom - (value / axis.most) * (chart.bottom - chart.top);
  const whole = totals(chosen);
  return (
    <div class="view">
      <h3>Placement: messages between nodes and within</h3>
      <p>{mappingSentence(chosen)}</p>
      <div class="wholes">
        <Whole what="messages" inter={whole.inter} intra={whole.intra} words={count} />
        <Whole what="bytes" inter={whole.interBytes} intra={whole.intraBytes} words={bytes} />
      </div>
      <TimeChart store={store} height={HEIGHT} label={`Messages that ended in each window of ${duration(seen.widthNs)}, between nodes and within. ${mappingSentence(chosen)}`}
        draw={(chart) => {
          const all = columns(seen, chart.scale);
          const inter = (window: number): number => yOf(chart, seen.inter[window] ?? 0);
          const both = (window: number): number => yOf(chart, (seen.inter[window] ?? 0) + (seen.intra[window] ?? 0));
          return (
            <>
              <ValueLines chart={chart} values={axis.values} y={(value) => yOf(chart, value)} words={axisCount} />
              <path d={area(all, both, inter)} style={{ fill: partTone("base") }} />
              <path d={area(all, inter, () => chart.bottom)} style={{ fill: partTone("distance") }} />
            </>
          );
        }}
        tip={(ns) => {
          const window = windowAt(seen, ns);
          if (window < 0) return null;
          const [inter, intra] = [seen.inter[window] ?? 0, seen.intra[window] ?? 0];
          return (
            <>
              <div>{windowWords(seen, window)}</div>
              <div><span class="swatch" style={{ backgroundColor: partTone("distance") }} />between nodes<span>{count(inter)}, {bytes(seen.interBytes[window] ?? 0)}</span></div>
              <div><span class="swatch" style={{ backgroundColor: partTone("base") }} />within nodes<span>{count(intra)}, {bytes(seen.intraBytes[window] ?? 0)}</span></div>
            </>
          );
        }} />
    </div>
  );
}

/** The whole as one labelled bar. */
function Whole({ what, inter, intra, words }: { what: string; inter: number; intra: number; words: (value: number) => string }) {
  const all = inter + intra;
  const share = all > 0 ? inter / all : 0;
  return (
    <div class="whole">
      <span class="soft">{what}</span>
      <span class="name"><span class="swatch" style={{ backgroundColor: partTone("distance") }} />between nodes {words(inter)}{all > 0 && <span class="soft"> {part(share)}</span>}</span>
      <span class="bar" role="img" aria-label={`${what}: ${part(share)} between nodes, ${part(1 - share)} within`}>
        {all > 0 && <><i style={{ flexGrow: inter, backgroundColor: partTone("distance") }} /><i style={{ flexGrow: intra, backgroundColor: partTone("base") }} /></>}
      </span>
      <span class="name end"><span class="swatch" style={{ backgroundColor: partTone("base") }} />within nodes {words(intra)}{all > 0 && <span class="soft"> {part(1 - share)}</span>}</span>
    </div>
  );
}
