// Patterns over the particles: a list with ranks, range and strength, and a line for the one that is chosen.

import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { clock, count, share } from "../../words";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { MARGIN_PX, plotSize } from "../particles/ground";
import { heightOf } from "../particles/scale";
import type { ParticleHost } from "../stage/particle-host";
import type { Pattern } from "./detect";
import { patternsOf } from "./state";
import { PATTERN_WORDS, patternRanks } from "./words";

const SHOWN_MOST = 40;

export function Patterns({ store, frames, host }: { store: Store; frames: Frames; host: ParticleHost }) {
  const state = patternsOf(store);
  const isShown = state.isShown.value === "shown";
  return (
    <>
      <button type="button" class="patterns-switch" aria-pressed={isShown} title="Patterns across ranks, found in the selected range or the run" onClick={() => (state.isShown.value = isShown ? "hidden" : "shown")}>Patterns</button>
      {isShown && <List store={store} />}
      {isShown && <Over store={store} frames={frames} host={host} />}
    </>
  );
}

function List({ store }: { store: Store }) {
  const state = patternsOf(store);
  useEffect(() => state.watch(), [state]);
  const { known, isAsking, why } = state.figures.value;
  const all = known?.patterns ?? [];
  const functions = useComputed(() => store.figures.value.functions).value;
  const rows = useMemo(() => all.slice(0, SHOWN_MOST).map((pattern) => ({ pattern, ranks: patternRanks(rangesOf(pattern.ranks)) })), [all]);
  const choose = (pattern: Pattern): void => {
    state.drawn.value = state.drawn.peek() === pattern ? null : pattern;
    const [first] = pattern.ranks;
    if (pattern.kind === "disparate" && first !== undefined) store.selection.value = { kind: "rank", rank: first };
  };
  return (
    <aside class="patterns" aria-label="Patterns across ranks" tabIndex={0}>
      <h2>Patterns across ranks <span class="soft">{known ? count(all.length) : isAsking ? "being found" : ""}</span></h2>
      {why && <p class="warn" role="status">{why}</p>}
      {known && all.length === 0 && <p class="soft">None found in this range. A function needs 3 calls on each of 6 ranks in an eighth of it.</p>}
      <ul>
        {rows.map(({ pattern, ranks }, at) => (
          <li key={at}>
            <button type="button" aria-pressed={state.drawn.value === pattern} title={PATTERN_WORDS[pattern.kind].meaning} onClick={() => choose(pattern)}>
              <b>{PATTERN_WORDS[pattern.kind].name}</b> {functions.get(pattern.function)?.name ?? `function ${pattern.function}`}
              <span class="soft">{ranks}; {clock(pattern.fromNs, 2)} to {clock(pattern.toNs, 2)}; strength {share(pattern.strength, 1)}</span>
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** The durations in the middle of the ranks' calls, where the particle view has them. */
function Over({ store, frames, host }: { store: Store; frames: Frames; host: ParticleHost }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const state = patternsOf(store);
  void state.drawn.value;
  useEffect(() => {
    const pattern = state.drawn.peek();
    const odd = new Set(pattern?.kind === "disparate" ? pattern.ranks : []);
    const oddPoints = pattern?.line.filter(([rank]) => odd.has(rank)) ?? [];
    const draw = (): void => {
      const prepared = canvas.current && prepare(canvas.current);
      const place = host.ground();
      if (!prepared || !pattern || !place) return;
      const { ground, left, top } = place;
      const size = plotSize(ground);
      const { context } = prepared;
      const { accent } = colours.peek();
      const at = ([rank, ns]: readonly [number, number]): [number, number] => [
        left + MARGIN_PX.left + ((rank + 0.5) / Math.max(1, ground.ranks)) * size.widthPx, top + MARGIN_PX.top + (1 - heightOf(ns, ground.scale)) * size.heightPx,
      ];
      context.strokeStyle = context.fillStyle = accent;
      context.lineWidth = 2;
      context.beginPath();
      pattern.line.forEach((point, index) => (index === 0 ? context.moveTo(...at(point)) : context.lineTo(...at(point))));
      context.stroke();
      for (const point of oddPoints) {
        const [x, y] = at(point);
        context.beginPath();
        context.arc(x, y, 6, 0, 2 * Math.PI);
        context.stroke();
      }
    };
    draw();
    if (!state.drawn.peek()) return undefined;
    frames.request();
    return frames.add(draw);
  }, [frames, host, state, state.drawn.value]);
  return <canvas class="patterns-over" ref={canvas} aria-hidden="true" />;
}
