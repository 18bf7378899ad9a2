// The face that is a graph: its tools, its canvas, its legend.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { REGION_COLOURS } from "../../palette/regions";
import type { Store } from "../../state/store";
import { count, counted } from "../../words";
import { tell } from "../../words/regions";
import { Icon } from "../icons";
import type { Desk } from "./desk";
import { GraphView } from "./graph-view";
import { LatencyLegend } from "./legend";
import type { Memory } from "./memory";
import { Tip } from "./tip";

interface FaceProps { store: Store; frames: Frames; desk: Desk; memory: Memory; switches: ComponentChildren }

const TURN = Math.PI / 12;

export function Graph({ store, frames, desk, memory, switches }: FaceProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<GraphView | null>(null);
  const pointer = useSignal<{ x: number; y: number } | null>(null);
  useEffect(() => {
    if (!canvas.current) return undefined;
    const made = new GraphView(store, frames, canvas.current, desk, memory);
    view.current = made;
    return () => {
      view.current = null;
      made.dispose();
    };
  }, [store, frames, desk, memory]);
  const isLatency = memory.mode.value === "latency";
  const scene = desk.scene.value;
  const pointed = memory.pointed.value;
  const told = pointer.value && pointed && tell(pointed, store.figures.value);
  return (
    <>
      <div class="bar">
        {switches}
        <div class="group" role="group" aria-label="Colours">
          <button type="button" aria-pressed={!isLatency} onClick={() => (memory.mode.value = "regions")}>Regions</button>
          <button type="button" aria-pressed={isLatency} onClick={() => (memory.mode.value = "latency")} title="Colour regions, links and ranks by their latency">Latency</button>
        </div>
        <button type="button" aria-pressed={memory.lasso.value} onClick={() => (memory.lasso.value = !memory.lasso.peek())} title="Dragging draws a line around the ranks to select (also Alt and dragging)">Lasso</button>
        <div class="group end" role="group" aria-label="View of the graph">
          <button type="button" class="icon" aria-label="Zoom out" title="Zoom out (-)" onClick={() => view.current?.zoom(0.8)}><Icon name="minus" /></button>
          <button type="button" class="icon" aria-label="Zoom in" title="Zoom in (+)" onClick={() => view.current?.zoom(1.25)}><Icon name="plus" /></button>
          <button type="button" class="icon" aria-label="Turn" title="Turn (r, Shift r)" onClick={() => view.current?.turn(TURN)}><Icon name="turn" /></button>
          <button type="button" onClick={() => view.current?.fit()} title="All in sight (0)">Fit</button>
          <button type="button" onClick={() => { view.current?.fit(); desk.anew(); }} title="Place all ranks and regions anew">Rearrange</button>
        </div>
      </div>
      <div class="picture" onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        pointer.value = { x: event.clientX - box.left, y: event.clientY - box.top };
      }} onPointerLeave={() => (pointer.value = null)}>
        <canvas ref={canvas} class="graph" tabIndex={0} role="application" aria-label="Graph of ranks and regions; the table beside it has the same figures"
          onKeyDown={(event) => {
            if (!view.current?.key(event)) return;
            event.preventDefault();
            event.stopPropagation();
          }} />
        {!scene && <p class="wait soft">Placing ranks and regions.</p>}
        {told && pointer.value && <Tip told={told} {...pointer.value} />}
      </div>
      <div class="legend">
        {isLatency ? <LatencyLegend /> : <span class="soft">colour: the region of a rank{scene && scene.regions.some(({ id }) => id >= REGION_COLOURS.length) ? "; ring, lines or dots: another of the same colour" : ""}</span>}
        {scene && <span class="soft rest">{words(scene.placement.x.length, scene.links.length, scene.curves.trunks.length)}</span>}
      </div>
    </>
  );
}

function words(ranks: number, links: number, trunks: number): string {
  const wide = trunks > 0 ? "; width: messages" : "";
  return `${counted(ranks, "rank", "ranks")}, ${count(links)} ${links === 1 ? "link" : "links"}${wide}`;
}
