// What circles, colours and bands mean, in numbers.

import { delayedMeaning } from "../../state/delayed";
import { short } from "../../words";
import { TermMark } from "../terms/term";
import { LatencyLegend } from "../where/legend";
import { radius, RADIUS_MAX, sizes } from "./scale";

export function Legend({ mostDelayed, hasNormal, note }: { mostDelayed: number; hasNormal: boolean; note: string }) {
  const all = sizes(mostDelayed);
  return (
    <div class="how-key">
      {note && <b class="warn">{note}</b>}
      <span class="group" title={`A circle is a window; its area is its number of delayed messages: exact ones that took ${delayedMeaning(hasNormal)}`}>
        <span class="soft">delayed</span>
        {all.map((delayed) => <span class="key" key={delayed}><Disc size={radius(delayed, mostDelayed)} />{short(delayed)}</span>)}
      </span>
      <LatencyLegend />
      <TermMark id="latency" />
      <span class="group marks">
        <span class="key" title="From the 10th to the 90th percentile of L, over all windows; the line is the median"><svg width="18" height="12"><path class="spread" d="M0,2H18V10H0Z" /><path class="median" d="M0,7H18" /></svg><span class="soft">10–90 %</span></span>
        <span class="key"><svg width="18" height="12"><circle class="hollow" cx={9} cy={6} r={4} /></svg><span class="soft">provisional</span></span>
        <span class="key"><svg width="18" height="12"><path class="average" d="M0,7 H18" /></svg><span class="soft">average</span></span>
        <span class="key"><i class="growth" /><span class="soft">grows</span><TermMark id="growth" /></span>
        <span class="key"><i class="steady" /><span class="soft">above average</span></span>
      </span>
    </div>
  );
}

function Disc({ size }: { size: number }) {
  return <svg width={2 * RADIUS_MAX} height={2 * RADIUS_MAX} aria-hidden="true"><circle cx={RADIUS_MAX} cy={RADIUS_MAX} r={size} /></svg>;
}
