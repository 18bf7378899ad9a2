// What the landscape and the matrix have in common: from above or as a relief, and the scale of the colour.

import { amountRamp } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { type Unit, valueWords } from "../../words/metrics";
import type { Scale } from "./scale";
import { ScaleButtons } from "./scale-buttons";
import type { SpaceState } from "./state";

export function FieldLegend({ state, name, scale, unit }: { state: SpaceState; name: string; scale: Scale | null; unit: Unit | null }) {
  return (
    <div class="space-legend">
      <span class="name">{name}</span>
      {scale && <span class="scale"><i style={{ background: `linear-gradient(to right, ${amountRamp(theme.value).join(",")})` }} /><span style={{ left: "0%" }}>{valueWords(scale.low, unit)}</span><span style={{ left: "100%" }}>{valueWords(scale.high, unit)}</span></span>}
      <ScaleButtons state={state} of="values" />
      <div class="group" role="group" aria-label="Shape">
        <button type="button" aria-pressed={state.relief.value === "flat"} title="From above: colour is the value" onClick={() => (state.relief.value = "flat")}>Flat</button>
        <button type="button" aria-pressed={state.relief.value === "relief"} title="Height and colour are the value" onClick={() => (state.relief.value = "relief")}>3D</button>
      </div>
    </div>
  );
}
