// The face that is a graph: its tools, its canvas, its legend.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { REGION_COLOURS } from "../../palette/regions";
import type { Store } from "../../state/store";
import { count, counted } from "../../words";
import { CAUSE_NAMES } from "../../words/found";
import { tell } from "../../words/regions";
import { causeColour } from "../causes";
import { Icon } from "../icons";
import { blamedIn } from "./blamed";
import type { Desk } from "./desk";
import { GraphView } from "./graph-view";
import { LatencyLegend } from "./legend";
import type { Memory } from "./memory";
import { Picture, ZoomButtons } from "./picture";

interface FaceProps { store: Store; frames: Frames; desk: Desk; memory: Memory; switches: ComponentChildren }

const TURN = Math.PI / 12;

export function Graph({ store, frames, desk, memory, switches }: FaceProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<GraphView | null>(null);
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
  const blamed = blamedIn(store);
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
          <ZoomButtons view={view} />
          <button type="button" class="icon" aria-label="Turn" title="Turn (r, Shift r)" onClick={() => view.current?.turn(TURN)}><Icon name="turn" /></button>
          <button type="button" onClick={() => view.current?.fit()} title="All in sight (0)">Fit</button>
          <button type="button" onClick={() => { view.current?.fit(); desk.anew(); }} title="Place all ranks and regions anew">Rearrange</button>
        </div>
      </div>
      <Picture canvas={canvas} view={view} kind="graph" label="Graph of ranks and regions; the table beside it has the same figures"
        text={pointed && tell(pointed, store.figures.value)} wait={scene ? "" : "Placing ranks and regions."} />
      <div class="legend">
        {isLatency ? <LatencyLegend /> : <span class="soft">colour: the region of a rank{scene && scene.regions.some(({ id }) => id >= REGION_COLOURS.length) ? "; ring, lines or dots: another of the same colour" : ""}</span>}
        {blamed && <span class="key"><i class="ring" style={{ borderColor: causeColour(blamed.cause) }} /><span class="soft">blamed for {CAUSE_NAMES[blamed.cause]}</span></span>}
        {scene && <span class="soft rest">{words(scene.placement.x.length, scene.links.length, scene.curves.trunks.length)}</span>}
      </div>
    </>
  );
}

function words(ranks: number, links: number, trunks: number): string {
  const wide = trunks > 0 ? "; width: messages" : "";
  return `${counted(ranks, "rank", "ranks")}, ${count(links)} ${links === 1 ? "link" : "links"}${wide}`;
}
