// In every legend of the 3D view: the ends of the scale, and whether it is logarithmic.

import type { SpaceState } from "./state";

export function ScaleButtons({ state, of }: { state: SpaceState; of: "ranks" | "values" }) {
  return (
    <div class="group" role="group" aria-label="Scale">
      <button type="button" aria-pressed={state.ends.value === "most"} title={`The scale spans the middle 90 % of the ${of}; a single outlier does not flatten the others`} onClick={() => (state.ends.value = state.ends.peek() === "most" ? "all" : "most")}>5{"\u2013"}95 %</button>
      <button type="button" aria-pressed={state.scale.value === "log"} title="A logarithmic scale" onClick={() => (state.scale.value = state.scale.peek() === "log" ? "linear" : "log")}>Log</button>
    </div>
  );
}
