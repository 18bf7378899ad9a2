// One bar a rank: the share of run time in MPI. More ranks than pixels: the lowest of a pixel solid, the highest pale.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Shown } from "../../state/selected";
import type { Store } from "../../state/store";
import { duration, share } from "../../words";
import { PROCESS_STATES, SILENT } from "../../words/hosts";
import { prepare } from "../canvas";
import { type Colours, colours } from "../colours";
import { useSize } from "../size";

const LEFT = 44;
const BOTTOM = 18;
const TOP = 6;
const SLOT_MAX = 48;
/** Process states that are no more: aborted, vanished. */
const GONE = [2, 3];
/** The edge of silent ranks is broken: its colour alone is not enough. */
const DASH = 3;

export function RankStrip({ store }: { store: Store }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<number | null>(null);
  const size = useSize(canvas);
  useSignalEffect(() => {
    void size.value;
    const selection = store.selection.value;
    const rank = pointed.value ?? (selection?.kind === "rank" ? selection.rank : null);
    if (canvas.current) draw(canvas.current, store.shownFigures.value, rank, colours.value);
  });
  const rankAt = (event: MouseEvent): number | null => {
    if (!canvas.current) return null;
    const ranks = store.run.peek().ranks.length;
    const rank = Math.floor((event.offsetX - LEFT) / slotOf(canvas.current.clientWidth - LEFT, ranks));
    return rank >= 0 && rank < ranks ? rank : null;
  };
  const { run: { ranks }, lengthNs } = store.shownFigures.value;
  const rank = pointed.value;
  const words = rank === null ? "" : `rank ${rank}: ${duration(ranks.mpiTimeNs[rank] ?? 0)} in MPI, ${share(ranks.mpiTimeNs[rank] ?? 0, lengthNs)}, ${PROCESS_STATES[ranks.state[rank] ?? 0] ?? "unknown"}`;
  return (
    <div class="strip" title={words}>
      <canvas ref={canvas} role="img" aria-label="Share of run time in MPI for each rank; the table below has the numbers"
        onPointerMove={(event) => (pointed.value = rankAt(event))} onPointerLeave={() => (pointed.value = null)}
        onClick={(event) => {
          const clicked = rankAt(event);
          if (clicked !== null) store.selection.value = { kind: "rank", rank: clicked };
        }} />
    </div>
  );
}

function slotOf(width: number, ranks: number): number {
  return Math.min(SLOT_MAX, width / Math.max(1, ranks));
}

function draw(canvas: HTMLCanvasElement, { run: { ranks }, lengthNs }: Shown, marked: number | null, colour: Colours): void {
  const ready = prepare(canvas);
  if (!ready) return;
  const { context, width, height } = ready;
  const plot = { left: LEFT, top: TOP, width: width - LEFT, height: height - TOP - BOTTOM };
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const part of [0, 0.5, 1]) {
    const y = Math.round(plot.top + plot.height * (1 - part)) + 0.5;
    context.fillStyle = colour.line;
    context.fillRect(plot.left, y - 0.5, plot.width, 1);
    context.fillStyle = colour.soft;
    context.fillText(`${part * 100}\u2009%`, plot.left - 6, y);
  }
  if (ranks.length === 0 || !(lengthNs > 0)) return;
  const slot = slotOf(plot.width, ranks.length);
  const step = Math.max(1, Math.round(1 / slot));
  for (let first = 0; first < ranks.length; first += step) {
    let lowest = Infinity;
    let highest = 0;
    let gone = false;
    let silent = false;
    for (let rank = first; rank < Math.min(ranks.length, first + step); rank++) {
      const part = Math.min(1, (ranks.mpiTimeNs[rank] ?? 0) / lengthNs);
      lowest = Math.min(lowest, part);
      highest = Math.max(highest, part);
      gone ||= GONE.includes(ranks.state[rank] ?? 0);
      silent ||= ranks.state[rank] === SILENT;
    }
    const wide = slot * step - (slot >= 4 ? 1 : 0);
    const bar = (part: number, fill: string): void => {
      context.fillStyle = fill;
      context.fillRect(plot.left + first * slot, plot.top + plot.height * (1 - part), wide, plot.height * part);
    };
    if (highest > lowest) bar(highest, colour.bar);
    // What silent ranks did since is not known: theirs is pale.
    bar(lowest, silent ? colour.bar : colour.fill);
    // The edge is what must stand out; a rank without time in MPI still has one.
    context.fillStyle = gone ? colour.bad : silent ? colour.warn : colour.accent;
    const edge = Math.min(plot.top + plot.height * (1 - lowest), plot.top + plot.height - 2);
    const dash = silent && !gone ? DASH : wide;
    for (let at = 0; at < wide; at += 2 * dash) context.fillRect(plot.left + first * slot + at, edge, Math.min(dash, wide - at), 2);
  }
  labels(context, plot, slot, ranks.length, height, colour);
  if (marked !== null) {
    context.fillStyle = colour.text;
    context.fillRect(Math.round(plot.left + (marked + 0.5) * slot), plot.top, 1, plot.height);
  }
}

function labels(context: CanvasRenderingContext2D, plot: { left: number; width: number }, slot: number, ranks: number, height: number, colour: Colours): void {
  let step = 1;
  while (step * slot < 44) step *= 2;
  context.fillStyle = colour.soft;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (let rank = 0; rank < ranks; rank += step) {
    const x = plot.left + (rank + 0.5) * slot;
    if (x < plot.left + plot.width - 16) context.fillText(String(rank), x, height - 5);
  }
}
