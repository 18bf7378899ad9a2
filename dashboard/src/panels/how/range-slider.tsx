// The range of time that all views share, as a strip with two handles on the timeline's axis.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { clock } from "../../words";
import { spanWords } from "../../words/range";
import { TimeLines } from "../chart/time-chart";
import { useSize } from "../size";
import { LEFT, nsOf, RIGHT, type Scale, xOf } from "../timeline/scale";
import { moved, type Part, stepped } from "./range";

const HEIGHT = 44;
const TRACK = 12;
/** Nearer than this to a handle the pointer takes hold of it. */
const GRIP = 10;

export function RangeSlider({ store, windowNs }: { store: Store; windowNs: number }) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box).value;
  const grabbed = useSignal<Grabbed | null>(null);
  const run = store.figures.value;
  const edge = edgeNs(run);
  const whole = wholeRun(edge);
  const { rangeNs } = store.perspective.value;
  const range = grabbed.value?.range ?? rangeNs ?? whole;
  const scale: Scale = { span: store.zoom.value ?? whole, width: Math.max(1, width - LEFT - RIGHT) };
  const select = (next: Span): void => store.select({ rangeNs: next[0] <= 0 && next[1] >= edge ? null : next });
  const isLive = !over(run) && rangeNs === null && !grabbed.value?.range;
  const xAt = (event: PointerEvent): number => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
  const drop = (isMeant: boolean): void => {
    const last = grabbed.peek();
    grabbed.value = null;
    if (isMeant && last?.range) select(last.range);
  };
  return (
    <div class="how-range" ref={box} role="group" aria-label="Range of time, for all views" style={{ height: `${HEIGHT}px` }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const x = xAt(event);
        grabbed.value = { part: grip(x, placeOf(scale, range[0]), placeOf(scale, range[1]), rangeNs !== null), startNs: nsOf(scale, x), before: range, range: null };
      }}
      onPointerMove={(event) => {
        const now = grabbed.peek();
        if (now) grabbed.value = { ...now, range: moved(now.before, now.part, now.startNs, nsOf(scale, xAt(event)), windowNs, edge) };
      }}
      onPointerUp={() => drop(true)} onPointerCancel={() => drop(false)}>
      {width > 0 && <>
        <svg width={LEFT + scale.width + RIGHT} height={HEIGHT} aria-hidden="true">
          <TimeLines scale={scale} top={0} bottom={HEIGHT} />
          <rect class="track control" x={LEFT} y={10} width={scale.width} height={4} rx={2} />
          <rect class={`control ${rangeNs || grabbed.value?.range ? "part" : "part whole"}`} x={placeOf(scale, range[0])} y={10} width={Math.max(1, placeOf(scale, range[1]) - placeOf(scale, range[0]))} height={4} />
          <text class="control" x={LEFT - 8} y={TRACK + 4} text-anchor="end">range</text>
        </svg>
        {(["from", "to"] as const).map((part) => (
          <Handle key={part} part={part} scale={scale} range={range} edge={edge} isLive={isLive} keys={(event) => {
            const next = stepped(range, part, event.key, event.shiftKey, windowNs, edge);
            if (!next) return;
            event.preventDefault();
            select(next);
          }} />
        ))}
        {isLive && <span class="live" style={{ left: `${Math.round(placeOf(scale, range[1]))}px` }}>live</span>}
        {grabbed.value?.range && <span class="range-label" style={{ left: `${Math.round(placeOf(scale, (range[0] + range[1]) / 2))}px` }}>{spanWords(range)}</span>}
      </>}
    </div>
  );
}

/** What is dragged, and to what it has come; null before the pointer moved. */
interface Grabbed { part: Part; startNs: number; before: Span; range: Span | null }

function placeOf(scale: Scale, ns: number): number {
  return Math.min(LEFT + scale.width, Math.max(LEFT, xOf(scale, ns)));
}

/** What a pointer takes hold of. */
function grip(x: number, fromX: number, toX: number, isSelected: boolean): Part {
  const [away, awayTo] = [Math.abs(x - fromX), Math.abs(x - toX)];
  if (Math.min(away, awayTo) <= GRIP) return away < awayTo || (away === awayTo && x < fromX) ? "from" : "to";
  return isSelected && x > fromX && x < toX ? "both" : "new";
}

interface HandleProps { part: "from" | "to"; scale: Scale; range: Span; edge: number; isLive: boolean; keys(event: KeyboardEvent): void }

function Handle({ part, scale, range, edge, isLive, keys }: HandleProps) {
  const ns = range[part === "from" ? 0 : 1];
  const end = isLive ? "now: the range goes on with the run" : "the end of the run";
  const words = part === "to" && ns >= edge ? end : part === "from" && ns <= 0 ? "the beginning of the run" : clock(ns, 3);
  const isBeyond = ns < scale.span[0] || ns > scale.span[1];
  return (
    <span class={`handle ${isBeyond ? "beyond" : ""}`} role="slider" tabIndex={0} style={{ transform: `translateX(${Math.round(placeOf(scale, ns))}px)` }} title={words}
      aria-label={part === "from" ? "Begin of the selected range" : "End of the selected range"} aria-valuemin={0} aria-valuemax={Math.round(edge / 1e6)} aria-valuenow={Math.round(Math.min(edge, ns) / 1e6)}
      aria-valuetext={words} onKeyDown={keys} />
  );
}
