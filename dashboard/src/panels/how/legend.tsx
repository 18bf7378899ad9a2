// What circles, colours and bands mean, in numbers.

import { short } from "../../words";
import { LatencyLegend } from "../where/legend";
import { radius, RADIUS_MAX, sizes } from "./scale";

export function Legend({ mostDelayed, note }: { mostDelayed: number; note: string }) {
  const all = sizes(mostDelayed);
  return (
    <div class="how-key">
      {note && <b class="warn">{note}</b>}
      <span class="group" title="A circle is a window; its area goes by its delayed messages: exact ones with L above 1">
        <span class="soft">delayed</span>
        {all.map((delayed) => <span class="key" key={delayed}><Disc size={radius(delayed, mostDelayed)} />{short(delayed)}</span>)}
      </span>
      <LatencyLegend />
      <span class="group marks">
        <span class="key"><svg width="18" height="12"><circle class="hollow" cx={9} cy={6} r={4} /></svg><span class="soft">provisional</span></span>
        <span class="key"><svg width="18" height="12"><path class="average" d="M0,7 H18" /></svg><span class="soft">average</span></span>
        <span class="key"><i class="growth" /><span class="soft">grows</span></span>
        <span class="key"><i class="steady" /><span class="soft">above average</span></span>
      </span>
    </div>
  );
}

function Disc({ size }: { size: number }) {
  return <svg width={2 * RADIUS_MAX} height={2 * RADIUS_MAX} aria-hidden="true"><circle cx={RADIUS_MAX} cy={RADIUS_MAX} r={size} /></svg>;
}
