// What began in the selected range: its counts come from the server, whatever the zoom is.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { same } from "../../same";
import { Newest, type NewestFigures } from "../../state/newest";
import type { Span } from "../../state/perspective";
import { around } from "../../state/span";
import type { Store } from "../../state/store";
import { clock, count, duration } from "../../words";
import { functionColours } from "../colours";
import { Row, Title } from "./parts";

interface Counted { scope: Span; rows: readonly { id: number; calls: number }[] }

function useCounts(store: Store): NewestFigures<Counted> {
  const figures = useSignal<NewestFigures<Counted>>({ known: null, isAsking: false, why: "" });
  const questions = useMemo(() => new Newest<Span, Counted>(async (scope) => {
    const answer = await store.count(scope[0], scope[1]);
    const rows = [...answer.function].map((id, row) => ({ id, calls: answer.calls[row] ?? 0 }));
    return { scope, rows: rows.sort((one, other) => other.calls - one.calls) };
  }, (next) => (figures.value = next)), [store, figures]);
  useSignalEffect(() => questions.want(store.perspective.value.rangeNs, store.link.value.phase === "open"));
  useEffect(() => () => questions.stop(), [questions]);
  return figures.value;
}

export function RangePart({ store }: { store: Store }) {
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const { known, why } = useCounts(store);
  const range = store.perspective.value.rangeNs;
  if (!range) return null;
  const { functions, clock: { nowNs } } = store.figures.value;
  const rows = known && same(known.scope, range) ? known.rows : null;
  return (
    <section>
      <Title label="Clear" clear={() => store.select({ rangeNs: null })} text="Selected range" />
      <dl>
        <Row name="From">{clock(range[0], 6)}</Row>
        <Row name="To">{clock(range[1], 6)}</Row>
        <Row name="Length">{duration(range[1] - range[0])}</Row>
        {rows && <Row name="Calls started">{count(rows.reduce((sum, row) => sum + row.calls, 0))}</Row>}
      </dl>
      {why && <p class="soft">The counts are missing: {why}</p>}
      {rows && (
        <div class="bars">
          {rows.map(({ id, calls }) => <div key={id}><span class="swatch" style={{ backgroundColor: colours.get(id) ?? "" }} /><span>{functions.get(id)?.name ?? `function ${id}`}</span><span>{count(calls)}</span></div>)}
        </div>
      )}
      <div class="actions">
        <button type="button" onClick={() => (store.zoom.value = around(range, nowNs))}>Zoom to it</button>
        <button type="button" onClick={() => store.command({ do: "seek", time_ns: range[0] })}>Go to its start</button>
      </div>
    </section>
  );
}
