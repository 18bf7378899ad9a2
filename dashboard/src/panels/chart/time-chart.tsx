// The frame of every chart over time: the timeline's axis, the shared cursor, the selected range, a line at whatever time
// is pointed at in any chart, and the same gestures everywhere. What is drawn inside is the owner's.

import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Span } from "../../state/perspective";
import { edgeNs } from "../../state/run";
import { panned, wholeRun, zoomed } from "../../state/span";
import type { Store } from "../../state/store";
import { clock } from "../../words";
import { part } from "../../words/found";
import { theme } from "../../state/theme";
import { authorColour, flagsOf } from "../notes/lines";
import { useSize } from "../size";
import { listen } from "../timeline/pointer";
import { LEFT, nsOf, RIGHT, type Scale, ticksOf, xOf } from "../timeline/scale";

/** About as wide as the letters of a text on a chart. */
export const LETTER_PIXELS = 7.2;
const TIP_PIXELS = 360;
/** Room for the numbers of the axis. */
const AXIS_PIXELS = 20;

export interface Chart {
  scale: Scale;
  /** The plot without the axis. */
  top: number;
  bottom: number;
  /** A time's place, held inside the plot. */
  clamp(ns: number): number;
}

export interface TimeChartProps {
  store: Store;
  /** What the chart shows, for those who cannot see it. */
  label: string;
  height: number;
  /** Svg elements behind cursor and range. */
  draw(chart: Chart): ComponentChildren;
  /** What is under the pointer; null: nothing. */
  tip?(ns: number, y: number, chart: Chart): ComponentChildren;
  /** A click on something that takes it; where it returns false, the click goes to that time. */
  pick?(ns: number, y: number, chart: Chart): boolean;
  /** Numbers of the time axis are left out where another chart follows right below. */
  hasAxis?: boolean;
}

export function TimeChart({ store, label, height, draw, tip, pick, hasAxis = true }: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const crosshair = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const pointed = useSignal<{ x: number; y: number } | null>(null);
  const brushing = useSignal<Span | null>(null);
  const edge = (): number => edgeNs(store.figures.peek());
  const scaleNow = (): Scale => ({ span: store.zoom.peek() ?? wholeRun(edge()), width: Math.max(1, size.peek().width - LEFT - RIGHT) });
  void [store.figures.value, store.zoom.value, size.value];
  const scale = scaleNow();
  const right = LEFT + scale.width;
  const chart: Chart = { scale, top: 6, bottom: height - (hasAxis ? AXIS_PIXELS : 4), clamp: (ns) => Math.min(right, Math.max(LEFT, xOf(scale, ns))) };
  const notes = store.shownAnnotations.value;
  // A move of the pointer draws the chart again, and not its flags.
  const flags = useMemo(() => flagsOf(notes, scale), [notes, ...scale.span, scale.width]);
  const picked = useRef<(ns: number) => boolean>(() => false);
  picked.current = (ns) => pick?.(ns, pointed.peek()?.y ?? 0, chart) ?? false;
  const range = brushing.value ?? store.perspective.value.rangeNs;
  // Before it can be seen: the first click or key counts.
  useLayoutEffect(() => {
    if (!box.current) return;
    listen(box.current, {
      scale: scaleNow,
      zone: () => (store.zoom.peek() ? "plot" : "ruler"),
      pannable: () => store.zoom.peek() !== null,
      hover: (ns) => (store.pointedNs.value = ns),
      seek: (ns) => {
        if (!picked.current(ns)) store.command({ do: "seek", time_ns: Math.round(Math.min(edge(), Math.max(0, ns))) });
      },
      pan: (byNs) => (store.zoom.value = panned(scaleNow().span, byNs, edge())),
      brush: (fromNs, toNs, done) => {
        const next: Span = [Math.max(0, fromNs), Math.min(edge(), toNs)];
        brushing.value = done ? null : next;
        if (done && next[1] > next[0]) store.select({ rangeNs: next });
      },
      zoom: (factor, atNs) => (store.zoom.value = zoomed(scaleNow().span, factor, atNs, edge())),
      whole: () => (store.zoom.value = null),
      scrolls: true,
    });
  }, [store]);
  // These move with every frame or every move of the pointer, so they bypass rendering.
  useSignalEffect(() => {
    void size.value;
    const { span, width: wide } = { ...scaleNow(), span: store.zoom.value ?? wholeRun(edge()) };
    const place = (element: HTMLDivElement | null, ns: number | null): void => {
      if (!element) return;
      const x = ns === null ? -1 : xOf({ span, width: wide }, ns);
      element.hidden = x < LEFT || x > LEFT + wide + 1;
      element.style.transform = `translateX(${Math.round(x)}px)`;
    };
    place(cursor.current, store.zoom.value ? store.timeNs.value : Math.min(store.timeNs.value, span[1]));
    place(crosshair.current, store.pointedNs.value);
  });
  const at = pointed.value;
  const words = at && at.x >= LEFT && at.x <= right && !brushing.value ? tip?.(nsOf(scale, at.x), at.y, chart) : null;
  return (
    <div class="time-chart" ref={box} role="img" aria-label={label} style={{ height: `${height}px` }}
      onPointerMove={(event) => {
        const { left, top } = event.currentTarget.getBoundingClientRect();
        pointed.value = { x: event.clientX - left, y: event.clientY - top };
      }}
      onPointerLeave={() => {
        pointed.value = null;
        store.pointedNs.value = null;
      }}>
      {size.value.width > 0 && (
        <svg width={right + RIGHT} height={height} aria-hidden="true">
          <TimeLines scale={scale} top={chart.top} bottom={hasAxis ? height : chart.bottom} hasWords={hasAxis} />
          <rect class="edge" x={LEFT} y={chart.bottom} width={scale.width} height={1} />
          {draw(chart)}
          {flags.map(({ x, notes: [note] }) => note && (
            <rect key={note.number} class="note" x={Math.round(x)} y={chart.top} width={1} height={chart.bottom - chart.top} style={{ fill: note.colour ?? authorColour(note.author, theme.value) }} />
          ))}
          {range && range[1] > scale.span[0] && range[0] < scale.span[1] && (
            <rect class="selected" x={chart.clamp(range[0])} y={chart.top} width={Math.max(1, chart.clamp(range[1]) - chart.clamp(range[0]))} height={chart.bottom - chart.top} />
          )}
        </svg>
      )}
      <div class="cursor" ref={cursor} hidden />
      <div class="crosshair" ref={crosshair} hidden />
      {words && at && <div class="tip" style={beside(at.x, box.current?.getBoundingClientRect())}>{words}</div>}
    </div>
  );
}

/** Above the chart and beside the pointer; the view it scrolls with must not cut it off. */
function beside(x: number, box: DOMRect | undefined): { bottom?: string; top?: string; left?: string; right?: string } {
  if (!box) return { bottom: "0" };
  const upright = box.top > innerHeight / 3 ? { bottom: `${innerHeight - box.top - 2}px` } : { top: `${box.bottom + 2}px`, bottom: "auto" };
  return x < box.width - TIP_PIXELS ? { ...upright, left: `${box.left + x + 12}px` } : { ...upright, right: `${innerWidth - box.left - x + 12}px` };
}

/** Lines at round times, from `top` to `bottom`; their words end at the bottom, where they have room. */
export function TimeLines({ scale, top, bottom, hasWords = true }: { scale: Scale; top: number; bottom: number; hasWords?: boolean }) {
  const right = LEFT + scale.width + RIGHT;
  const { atNs, digits } = ticksOf(scale);
  return (
    <>
      {atNs.map((ns) => {
        const x = Math.round(xOf(scale, ns));
        const words = clock(ns + 0.5, digits);
        return (
          <g key={ns}>
            <rect class="line" x={x} y={top} width={1} height={bottom - top} />
            {hasWords && x + 4 + LETTER_PIXELS * words.length < right && <text x={x + 4} y={bottom - 5}>{words}</text>}
          </g>
        );
      })}
    </>
  );
}

/** A round share beside its line. */
export function shareLabel(share: number): string {
  return share === 0 ? "0" : part(share).replace(".0", "");
}

/** Lines at values, with their words at the left; the edge of the plot is such a line already. */
export function ValueLines({ chart, values, y, words }: { chart: Chart; values: readonly number[]; y(value: number): number; words(value: number): string }) {
  return (
    <>
      {values.map((value) => (
        <g key={value}>
          {Math.round(y(value)) !== chart.bottom && <rect class="line" x={LEFT} y={Math.round(y(value))} width={chart.scale.width} height={1} />}
          <text x={LEFT - 8} y={Math.round(y(value)) + 4} text-anchor="end">{words(value)}</text>
        </g>
      ))}
    </>
  );
}
