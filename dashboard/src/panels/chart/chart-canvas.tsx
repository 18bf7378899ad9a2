// A chart on a canvas: drawn when something about it changes, pointed at, clicked, and dragged over.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { RankRanges } from "../../state/perspective";
import type { TipText } from "../../words/regions";
import { prepare } from "../canvas";
import { type Colours, colours } from "../colours";
import { listenGestures } from "../gestures";
import { useSize } from "../size";
import { Tip } from "../where/tip";

export interface Area { left: number; top: number; width: number; height: number }
/** What is under the pointer; `at` is its number, where a chart has one for it. */
export interface Hit { tip: TipText; rank: number | null; ranks: RankRanges | null; at?: number }

interface ChartProps {
  label: string;
  /** Changes when the picture does. */
  inputs: readonly unknown[];
  margins: { left: number; right: number; top: number; bottom: number };
  draw(context: CanvasRenderingContext2D, area: Area, colours: Colours): void;
  hit(x: number, y: number, area: Area): Hit | null;
  choose(hit: Hit | null): void;
  /** A rectangle was drawn; without this dragging does nothing. */
  enclose?: (from: readonly [number, number], to: readonly [number, number], area: Area) => void;
}

export function ChartCanvas(props: ChartProps) {
  const { label, margins } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(canvas);
  const hit = useSignal<{ hit: Hit; x: number; y: number } | null>(null);
  const box = useSignal<{ from: [number, number]; to: [number, number] } | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const area = (): Area => ({ left: margins.left, top: margins.top, width: Math.max(1, size.peek().width - margins.left - margins.right), height: Math.max(1, size.peek().height - margins.top - margins.bottom) });
  const changed = useSignal(0);
  useEffect(() => void changed.value++, props.inputs);
  useSignalEffect(() => {
    void [size.value, changed.value];
    const drag = box.value;
    const inks = colours.value;
    const sheet = canvas.current && prepare(canvas.current);
    if (!sheet) return;
    latest.current.draw(sheet.context, area(), inks);
    if (!drag) return;
    const [x, y, width, height] = [Math.min(drag.from[0], drag.to[0]), Math.min(drag.from[1], drag.to[1]), Math.abs(drag.to[0] - drag.from[0]), Math.abs(drag.to[1] - drag.from[1])];
    sheet.context.strokeStyle = inks.accent;
    sheet.context.lineWidth = 1.5;
    sheet.context.strokeRect(x, y, width, height);
  });
  // Before it can be seen: the first click or key counts.
  useLayoutEffect(() => {
    if (!canvas.current) return undefined;
    const stop = new AbortController();
    listenGestures<[number, number]>(canvas.current, stop.signal, {
      hover: (x, y) => {
        const found = latest.current.hit(x, y, area());
        hit.value = found && { hit: found, x, y };
      },
      leave: () => (hit.value = null),
      press: (x, y, event) => (event.button === 0 ? [x, y] : null),
      drag: (from, x, y) => {
        hit.value = null;
        if (latest.current.enclose) box.value = { from, to: [x, y] };
      },
      drop: (from, x, y) => latest.current.enclose?.(from, [x, y], area()),
      click: (_, x, y) => latest.current.choose(latest.current.hit(x, y, area())),
      rest: () => (box.value = null),
      wheel: () => undefined,
    });
    return () => stop.abort();
  }, []);
  return (
    <div class="chart-canvas">
      <canvas ref={canvas} role="img" aria-label={label} />
      {hit.value && <Tip text={hit.value.hit.tip} x={hit.value.x} y={hit.value.y} />}
    </div>
  );
}

/** Lines and names of an axis of values, upright at the left or along the bottom. */
export function drawAxis(context: CanvasRenderingContext2D, { left, top, width, height }: Area, inks: Colours, values: readonly number[], placeOf: (value: number) => number, words: (value: number) => string, isUpright: boolean): void {
  context.lineWidth = 1;
  context.strokeStyle = inks.line;
  context.fillStyle = inks.soft;
  context.textAlign = isUpright ? "right" : "center";
  context.textBaseline = isUpright ? "middle" : "top";
  for (const value of values) {
    const at = Math.round(placeOf(value)) + 0.5;
    context.beginPath();
    if (isUpright) {
      context.moveTo(left, at);
      context.lineTo(left + width, at);
      context.fillText(words(value), left - 8, at);
    } else {
      context.moveTo(at, top);
      context.lineTo(at, top + height);
      context.fillText(words(value), at, top + height + 6);
    }
    context.stroke();
  }
  context.textAlign = "left";
}
