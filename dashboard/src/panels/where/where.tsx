// The tab that says where: which ranks talk among themselves, and where messages take longer than usual. Two faces of the
// same: a graph of ranks and regions, and a matrix of senders and receivers; beside them the regions as a table.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Frames } from "../../frames";
import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { nothingYet, ranksWords, regionsLine, scopeLine } from "../../words/regions";
import { Desk } from "./desk";
import { Graph } from "./graph";
import { MatrixFace } from "./matrix-face";
import { SelectedNote } from "../selected-note";
import { useTable } from "../share/tables";
import { pairsTable } from "./matrix";
import { memoryOf } from "./memory";
import { watchPairs } from "./pairs-watch";
import { RegionTable, regionsTable } from "./table";

export function Where({ store, frames }: { store: Store; frames: Frames }) {
  const regions = useComputed(() => store.figures.value.regions).value;
  return regions && regions.regions.length > 0 ? <Faces store={store} frames={frames} /> : <Nothing store={store} />;
}

function Nothing({ store }: { store: Store }) {
  const run = store.figures.value;
  const { title, text } = nothingYet(run, over(run));
  return <div class="message"><h2>{title}</h2><p>{text}</p></div>;
}

function Faces({ store, frames }: { store: Store; frames: Frames }) {
  const memory = memoryOf(store);
  const desk = useSignal<Desk | null>(null);
  useEffect(() => {
    const made = new Desk(memory.placement);
    desk.value = made;
    return () => {
      memory.placement = made.scene.peek()?.placement ?? memory.placement;
      memory.pointed.value = null;
      made.close();
      desk.value = null;
    };
  }, [memory, desk]);
  useEffect(() => watchPairs(store), [store]);
  useSignalEffect(() => {
    const { regions, pairs } = store.figures.value;
    if (regions) desk.value?.traffic(regions, pairs);
  });
  const face = memory.face.value;
  const failure = desk.value?.failure.value;
  const faces = useMemo(() => [{ id: "graph", label: "Graph" }, { id: "matrix", label: "Matrix" }] as const, []);
  const switches = (
    <div class="group" role="group" aria-label="Faces">
      {faces.map(({ id, label }) => <button type="button" key={id} aria-pressed={face === id} onClick={() => (memory.face.value = id)}>{label}</button>)}
    </div>
  );
  return (
    <div class="where">
      <div class="face">
        {failure
          ? <div class="message" role="alert"><h2>The picture cannot be shown</h2><p>{failure}</p><p>The table beside it works without it.</p></div>
          : desk.value && (face === "graph"
            ? <Graph store={store} frames={frames} desk={desk.value} memory={memory} switches={switches} />
            : <MatrixFace store={store} frames={frames} desk={desk.value} memory={memory} switches={switches} />)}
      </div>
      <Side store={store} desk={desk.value} />
    </div>
  );
}

function Side({ store, desk }: { store: Store; desk: Desk | null }) {
  const { pairs } = store.figures.value;
  const { regions } = store.shownFigures.value.run;
  const { ranks, rangeNs } = store.perspective.value;
  const links = desk?.scene.value?.links;
  useTable("pairs of ranks", () => pairsTable(store.run.peek().pairs));
  useTable("regions", () => regionsTable(store.shownFigures.peek().run.regions?.regions ?? []));
  if (!regions) return null;
  return (
    <div class="side">
      <RegionTable store={store} regions={regions} />
      <div class="about">
        <p><SelectedNote store={store} /></p>
        {ranks && <p>Selected for all views: {ranksWords(ranks)}. <button type="button" onClick={() => store.select({ ranks: null })}>All ranks</button></p>}
        <p class="soft">{regionsLine(regions, pairs, links ? { links: links.length, leftOut: links.leftOut } : null)} {scopeLine(pairs, rangeNs !== null)}</p>
      </div>
    </div>
  );
}
