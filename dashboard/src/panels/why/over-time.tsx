// When it could have been avoided: stretches of the run on the timeline's axis, coloured by cause, as high as what could
// be avoided of the ranks' time.

import { useComputed } from "@preact/signals";
import type { Attribution, FindingsReport } from "../../feed/found";
import { DisturbanceMarks } from "../how/row";
import { edgeNs } from "../../state/run";
import type { Store } from "../../state/store";
import { networkWords, stretchWords, waitWords } from "../../words/found";
import { causeColour, CauseMark } from "../causes";
import { NotesStrip } from "../notes/strip";
import { type Chart, shareLabel, TimeChart, ValueLines } from "../chart/time-chart";
import { sideways } from "../gestures";
import { LEFT } from "../timeline/scale";
import { avoidableShare, disturbed, strip, stretchAt, stretchBeside, stretchIn } from "./layout";

const HEIGHT = 96;
/** Narrower stretches of time have no room for their words. */
const WORDS_PIXELS = 96;

export function OverTime({ id, store, found }: { id: string; store: Store; found: FindingsReport }) {
  const { attribution: stretches, quiet } = found.diagnosis;
  const { ranks } = store.figures.value.job;
  const edge = edgeNs(store.figures.value);
  // Time and pointer move with every frame, where they are only now and then.
  const attribution = useComputed(() => store.figures.value.found?.diagnosis.attribution ?? []);
  const current = useComputed(() => stretchAt(attribution.value, store.timeNs.value)).value;
  const pointed = useComputed(() => (store.pointedNs.value === null ? -1 : stretchIn(attribution.value, store.pointedNs.value))).value;
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (by === 0 || event.shiftKey) return;
    event.preventDefault();
    const stretch = stretches[stretchBeside(stretches, current, by)];
    if (stretch) store.command({ do: "seek", time_ns: Math.round(stretch.fromS * 1e9) });
  };
  const stretch = stretches[current];
  return (
    <section id={id} tabIndex={-1} class="over-time">
      <h2>When <span class="soft">avoidable share of the ranks’ time, by stretches of the {store.perspective.value.rangeNs ? "whole " : ""}run; a click goes there{quiet.some(({ isQuiet }) => !isQuiet) && "; below it, when messages were slow"}</span></h2>
      <div class="strip-box" role="slider" tabIndex={0} aria-label="Stretches of the run" aria-valuemin={0} aria-valuemax={Math.max(0, stretches.length - 1)}
        aria-valuenow={Math.max(0, current)} aria-valuetext={stretch ? stretchWords(stretch, avoidableShare(stretch, ranks)) : "before the first stretch"} onKeyDown={keys}>
        <NotesStrip store={store} />
        <TimeChart store={store} label="Avoidable time over time" height={HEIGHT}
          draw={(chart) => <Picture chart={chart} found={found} ranks={ranks} edge={edge} pointed={pointed} />}
          tip={(ns) => {
            const stretch = stretches[stretchIn(stretches, ns)];
            return stretch && <Tip stretch={stretch} found={found} ranks={ranks} />;
          }} />
      </div>
    </section>
  );
}

function Tip({ stretch, found: { diagnosis: { quiet, waits } }, ranks }: { stretch: Attribution; found: FindingsReport; ranks: number }) {
  const ofNetwork = networkWords(stretch, quiet);
  return (
    <>
      <div><CauseMark cause={stretch.cause} /><span>{stretchWords(stretch, avoidableShare(stretch, ranks))}</span></div>
      {ofNetwork && <div>{ofNetwork}</div>}
      {stretch.evidence.map((place) => waits[place]).filter((wait) => wait !== undefined).map((wait) => <div key={waitWords(wait)} class="soft">{waitWords(wait)} in the run</div>)}
    </>
  );
}

interface PictureProps { chart: Chart; found: FindingsReport; ranks: number; edge: number; pointed: number }

function Picture({ chart, found, ranks, edge, pointed }: PictureProps) {
  const { scale, top, bottom, clamp } = chart;
  const { bars, lines } = strip(found.diagnosis.attribution, ranks, scale, top, bottom);
  const yOf = new Map(lines.map(({ share, y }) => [share, y]));
  const undiagnosed = [[0, found.fromS * 1e9, "not diagnosed"], [found.untilS * 1e9, edge, found.isFinal ? "nothing to diagnose" : "not diagnosed yet"]] as const;
  return (
    <>
      <ValueLines chart={chart} values={[...yOf.keys()]} y={(share) => yOf.get(share) ?? bottom} words={shareLabel} />
      {undiagnosed.map(([from, to, words]) => {
        const x = clamp(from);
        const wide = clamp(to) - x;
        return wide >= 1 && <g key={words}>
          <rect class="undiagnosed" x={x} y={top} width={wide} height={bottom - top} />
          {wide > WORDS_PIXELS && <text x={x + wide / 2} y={(top + bottom) / 2 + 4} text-anchor="middle">{words}</text>}
        </g>;
      })}
      {bars.map((bar) => <rect key={bar.index} x={bar.x} y={bar.y} width={bar.width} height={bar.height} style={{ fill: causeColour(bar.cause) }} class={bar.index === pointed ? "pointed" : ""} />)}
      <DisturbanceMarks chart={chart} disturbances={found.diagnosis.disturbances} hasWords />
      {disturbed(found.diagnosis.quiet, scale).map(({ x, width }) => <rect key={x} x={x} y={bottom + 1} width={width} height={3} style={{ fill: causeColour("background") }} />)}
      {bars.length > 0 && bars.every(({ cause }) => cause === "none") && <text x={LEFT + 8} y={(top + bottom) / 2 + 4}>No cause stands out in any stretch.</text>}
    </>
  );
}
