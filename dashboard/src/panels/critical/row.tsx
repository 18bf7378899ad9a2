// The critical path as a row under the timeline: same axis, same zoom; a click leads to the call.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { stepAt } from "../../feed/critical";
import { edgeNs } from "../../state/run";
import { wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { placeIn, sideways } from "../gestures";
import { useSize } from "../size";
import { isTimelineShown } from "../timeline/shown";
import { LEFT, nsOf, RIGHT, type Scale } from "../timeline/scale";
import { Tip } from "../where/tip";
import { chooseStep } from "./choose";
import { paintPath, paintStep, runsOf } from "./paint";
import { pathOf } from "./state";
import { pathWords, tellStep } from "./words";

const HEIGHT = 18;

export function PathRow({ store }: { store: Store }) {
  const state = pathOf(store);
  useEffect(() => state.watch(), [state]);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  // Moments, not steps: while the job runs the path has other steps with each answer.
  const pointed = useSignal<{ ns: number; x: number } | null>(null);
  const chosenNs = useSignal<number | null>(null);
  const { known, isAsking, why } = state.figures.value;
  const path = known?.path ?? null;
  const scaleNow = (): Scale => ({ span: store.zoom.value ?? wholeRun(edgeNs(store.figures.value)), width: Math.max(1, size.value.width - LEFT - RIGHT) });
  const words = useMemo(() => (path ? `Critical path: ${pathWords(path)}` : why ? `There is no critical path of this: ${why}` : isAsking ? "The critical path is on its way." : ""), [path, why, isAsking]);
  const runs = useComputed(() => {
    const now = state.figures.value.known?.path;
    return now ? runsOf(now) : null;
  });
  useSignalEffect(() => {
    const now = state.figures.value.known?.path;
    const prepared = canvas.current && prepare(canvas.current);
    const scale = scaleNow();
    const { text, ground, accent, soft } = colours.value;
    if (!prepared) return;
    const { context } = prepared;
    context.font = `11px ${getComputedStyle(box.current ?? document.body).fontFamily}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = soft;
    // The button that unfolds the timeline is at this place, and leaves no room.
    if (isTimelineShown.value) context.fillText("Path", LEFT - 8, HEIGHT / 2);
    if (!now || !runs.value) return;
    const look = { mode: theme.value, text, ground, accent, font: getComputedStyle(box.current ?? document.body).fontFamily };
    paintPath(context, now, runs.value, scale, 1, HEIGHT - 2, devicePixelRatio || 1, look);
    const ns = pointed.value?.ns ?? chosenNs.value;
    const step = ns === null ? -1 : stepAt(now, ns);
    if (step >= 0) paintStep(context, now, step, scale, 1, HEIGHT - 2, accent);
  });
  const momentAt = (event: MouseEvent): { ns: number; x: number } | null => {
    if (!box.current || !path) return null;
    const [x] = placeIn(box.current, event);
    const ns = nsOf(scaleNow(), x);
    return x < LEFT || stepAt(path, ns) < 0 ? null : { ns, x };
  };
  const choose = (step: number): void => {
    if (!path || step < 0) return;
    chosenNs.value = path.startNs[step] ?? null;
    void chooseStep(store, path, step);
  };
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (!path || path.length === 0 || (by === 0 && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    const now = chosenNs.peek() === null ? -1 : stepAt(path, chosenNs.peek() ?? 0);
    choose(Math.min(path.length - 1, Math.max(0, now + by)));
  };
  const current = pointed.value;
  const step = current && path ? stepAt(path, current.ns) : -1;
  return (
    <div class="path-row" ref={box} tabIndex={0} role="application" aria-label={`${words} Left and right go from step to step.`} title={current ? "" : words}
      onPointerMove={(event) => (pointed.value = momentAt(event))} onPointerLeave={() => (pointed.value = null)}
      onClick={(event) => {
        const at = momentAt(event);
        if (at && path) choose(stepAt(path, at.ns));
      }} onKeyDown={keys}>
      <canvas ref={canvas} aria-hidden="true" />
      {!path && why && <span class="soft small">{why}</span>}
      {current && path && step >= 0 && <Tip text={tellStep(path, step, store.figures.peek(), state.sites.peek())} x={current.x} y={-96} />}
    </div>
  );
}
