// What began in the selected range, of the selected ranks and functions.

import { useComputed } from "@preact/signals";
import { same } from "../../same";
import { around } from "../../state/span";
import type { Store } from "../../state/store";
import { clock, count, duration } from "../../words";
import { functionColours } from "../colours";
import { Row, Title } from "./parts";

export function RangePart({ store }: { store: Store }) {
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const range = store.perspective.value.rangeNs;
  if (!range) return null;
  const { run: { functions, totals, clock: { nowNs } }, selected } = store.shownFigures.value;
  const { known, why } = store.selected.value;
  const { hidden } = store.perspective.value;
  const isMine = selected !== null && same(known?.scope.rangeNs, range);
  const rows = isMine ? [...functions.values()].filter(({ id, calls }) => calls > 0 && !hidden.has(id)).sort((one, other) => other.calls - one.calls) : null;
  return (
    <section>
      <Title label="Clear" clear={() => store.select({ rangeNs: null })} text="Selected range" />
      <dl>
        <Row name="From">{clock(range[0], 6)}</Row>
        <Row name="To">{clock(range[1], 6)}</Row>
        <Row name="Length">{duration(range[1] - range[0])}</Row>
        {rows && <Row name="Calls started">{count(totals.calls)}</Row>}
      </dl>
      {why && <p class="soft">The counts are missing: {why}</p>}
      {rows && (
        <div class="bars">
          {rows.map(({ id, name, calls }) => <div key={id}><span class="swatch" style={{ backgroundColor: colours.get(id) ?? "" }} /><span>{name}</span><span>{count(calls)}</span></div>)}
        </div>
      )}
      <div class="actions">
        <button type="button" onClick={() => (store.zoom.value = around(range, nowNs))}>Zoom to it</button>
        <button type="button" onClick={() => store.command({ do: "seek", time_ns: range[0] })}>Go to its start</button>
      </div>
    </section>
  );
}
