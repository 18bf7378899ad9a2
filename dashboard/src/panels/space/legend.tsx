// Below the points: the scale of the colour.

import { amountRamp, latencyRamp, LATENCY_MAX, UNKNOWN_TONE } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { valueWords } from "../../words/metrics";
import type { Scene } from "./model";
import { valueAt } from "./scale";
import { ScaleButtons } from "./scale-buttons";
import type { SpaceState } from "./state";
import { labelOf, type Restriction, unitOf } from "./words";

const TICKS = [0, 0.5, 1] as const;

export function Legend({ state, scene, of }: { state: SpaceState; scene: Scene | null; of: Restriction }) {
  const id = state.color.value;
  const isLatency = id === "latency";
  const ramp = (isLatency ? latencyRamp : amountRamp)(theme.value);
  const scale = scene?.color ?? null;
  const tick = (part: number): string => {
    if (isLatency) return ["1/4", "1", String(LATENCY_MAX)][part * 2] ?? "";
    if (!scale) return "";
    const text = valueWords(valueAt(scale, part), unitOf(id));
    if (part === 0 && scale.low > scale.least) return `\u2264 ${text}`;
    return part === 1 && scale.high < scale.most ? `\u2265 ${text}` : text;
  };
  return (
    <div class="space-legend">
      <span class="name">{labelOf(id, of)}</span>
      {scale ? (
        <span class="scale"><i style={{ background: `linear-gradient(to right, ${ramp.join(",")})` }} />{TICKS.map((part) => <span key={part} style={{ left: `${part * 100}%` }}>{tick(part)}</span>)}</span>
      ) : <span class="key"><i class="tone" style={{ background: UNKNOWN_TONE[theme.value] }} />not known</span>}
      <ScaleButtons state={state} of="ranks" />
    </div>
  );
}
