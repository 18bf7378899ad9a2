// Which values of the colour are drawn: a range, or what is outside it.

import { isFiltering, type Scale } from "./scale";
import type { SpaceState } from "./state";
import { capital } from "../../words";
import { filterWords } from "./words";

export function FilterPart({ state, scale }: { state: SpaceState; scale: Scale | null }) {
  const filter = state.filter.value;
  const words = filterWords(filter, scale, state.color.value);
  const toggle = (): void => {
    const isInverse = state.inverse.peek() === "no";
    // Without a range there is no middle to leave out.
    if (isInverse && !isFiltering(filter)) [state.low.value, state.high.value] = ["25", "75"];
    state.inverse.value = isInverse ? "yes" : "no";
  };
  return (
    <section>
      <h2>Filter</h2>
      <label class="row"><span>From</span><input type="range" min={0} max={100} aria-label="Least value drawn" aria-valuetext={words} value={filter.from} onInput={({ currentTarget: { value } }) => {
        state.low.value = value;
        if (Number(state.high.peek()) < Number(value)) state.high.value = value;
      }} /></label>
      <label class="row"><span>To</span><input type="range" min={0} max={100} aria-label="Greatest value drawn" aria-valuetext={words} value={filter.to} onInput={({ currentTarget: { value } }) => {
        state.high.value = value;
        if (Number(state.low.peek()) > Number(value)) state.low.value = value;
      }} /></label>
      <p class="small">{capital(words)}.</p>
      <div class="group">
        <button type="button" aria-pressed={filter.isInverse} title="Draw what is outside the range" onClick={toggle}>Hide the middle</button>
        {isFiltering(filter) && <button type="button" onClick={() => {
          [state.low.value, state.high.value, state.inverse.value] = ["0", "100", "no"];
        }}>Draw all</button>}
      </div>
    </section>
  );
}
