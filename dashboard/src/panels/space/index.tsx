// The tab 3D: ranks as points in space where a layout puts them, and the same figures as bars, histogram, scatter plot and
// landscape. Loaded when it is opened.

import { useSignal } from "@preact/signals";
import { type MutableRef, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { metricOf, valueWords } from "../../words/metrics";
import { sentenceOf } from "../../words";
import { nodeOfRank } from "../../words/hosts";
import type { TipText } from "../../words/regions";
import { Icon } from "../icons";
import { useTable } from "../share/tables";
import { Tip } from "../where/tip";
import { Charts } from "./charts";
import { Controls } from "./controls";
import { Editor } from "./editor";
import { Legend } from "./legend";
import { heaviest } from "./matrix";
import { placed, sceneOf } from "./model";
import type { Link } from "./overlay";
import { sliced } from "./statistics";
import { NONE, OWN } from "./choices";
import { type FaceId, type SpaceState, spaceOf } from "./state";
import { SpaceView } from "./view";
import { drawnWords, labelOf, type Restriction, sliceWords, unitOf, whenWords } from "./words";
import "./space.css";

const FACES: readonly { id: FaceId; label: string; title: string }[] = [
  { id: "layout", label: "Layout", title: "Ranks where a layout puts them" },
  { id: "bars", label: "Bars", title: "Ranks in the order of a value" },
  { id: "histogram", label: "Histogram", title: "How many ranks have which value" },
  { id: "scatter", label: "Scatter", title: "One value of the ranks against another" },
  { id: "landscape", label: "Landscape", title: "Time by function and rank" },
  { id: "matrix", label: "Matrix", title: "Who sent how much to whom" },
  { id: "table", label: "Table", title: "The functions of the selected rank, or of all ranks" },
];

export function Space({ store, frames }: { store: Store; frames: Frames }) {
  const state = spaceOf(store);
  useEffect(() => state.watch(), [state]);
  useTable("figures of ranks", () => figuresTable(state));
  const face = state.face.value;
  const view = useRef<SpaceView | null>(null);
  return (
    <div class={`space ${state.isEditing.value === "open" ? "editing" : ""}`}>
      <div class="space-main">
        <div class="space-bar">
          <div class="group" role="group" aria-label="Faces">
            {FACES.map(({ id, label, title }) => <button type="button" key={id} title={title} aria-pressed={face === id} onClick={() => (state.face.value = id)}>{label}</button>)}
          </div>
          {face === "layout" && (
            <div class="group end" role="group" aria-label="View of the points">
              <button type="button" aria-pressed={state.isLasso.value} title="Dragging draws a line around the ranks to select (also Alt and dragging)" onClick={() => (state.isLasso.value = !state.isLasso.peek())}>Lasso</button>
              <button type="button" class="icon" aria-label="Zoom out" title="Zoom out (-)" onClick={() => view.current?.zoom(0.8)}><Icon name="minus" /></button>
              <button type="button" class="icon" aria-label="Zoom in" title="Zoom in (+)" onClick={() => view.current?.zoom(1.25)}><Icon name="plus" /></button>
              <button type="button" title="All in sight; again: from the first side (f)" onClick={() => view.current?.fit()}>Fit</button>
            </div>
          )}
          <button type="button" class={face === "layout" ? "" : "end"} aria-pressed={state.isEditing.value === "open"} title="Write a layout of your own" onClick={() => {
            state.isEditing.value = state.isEditing.peek() === "open" ? "closed" : "open";
            state.face.value = "layout";
          }} aria-label="Edit layout">Edit</button>
        </div>
        {face === "layout" ? <Picture store={store} frames={frames} state={state} view={view} /> : <Charts store={store} state={state} />}
      </div>
      {state.isEditing.value === "open" ? <Editor state={state} /> : <Controls store={store} state={state} />}
    </div>
  );
}

function figuresTable(state: SpaceState) {
  const known = state.metrics.peek().known?.answer;
  const columns = known ? [...known.metrics.values()].filter(({ values }) => values.length > 0) : [];
  const rows = Array.from({ length: known?.ranks ?? 0 }, (_, rank) => [rank, known?.host[rank] ?? null, ...columns.map(({ values }) => values[rank] ?? null)]);
  return { columns: ["rank", "host", ...columns.map(({ metric }) => metric)], rows };
}

const LINKS_MAX = 150;
const NO_LINKS: readonly Link[] = [];

/** The heaviest pairs of ranks. */
function useLinks(state: SpaceState): readonly Link[] {
  const pairs = state.links.value === "yes" ? state.pairs.value.known?.answer : undefined;
  return useMemo(() => {
    if (!pairs) return NO_LINKS;
    const found = heaviest(pairs, LINKS_MAX);
    const most = pairs.bytes[found[0] ?? 0] ?? 1;
    return found.map((pair) => ({ from: pairs.src[pair] ?? 0, to: pairs.dst[pair] ?? 0, part: (pairs.bytes[pair] ?? 0) / most }));
  }, [pairs]);
}

function useScene(store: Store, state: SpaceState) {
  const layout = state.shown.value?.answer ?? null;
  const at = useMemo(() => layout && placed(layout), [layout]);
  const [color, size, height, opacity] = [state.color, state.size, state.height, state.opacity].map(({ value }) => value) as [string, string, string, string];
  const known = state.metrics.value.known;
  const { ranks } = store.perspective.value;
  const filter = state.filter.value;
  const [places, cuts] = [state.places.value, state.cuts.value];
  const inputs = [layout, at, known, state.average.value, ...cuts, color, size, height, opacity, ranks, filter, state.ends.value, state.scale.value, theme.value] as const;
  return useMemo(() => {
    if (!layout || !at) return null;
    // Until its figures come, a colour is of what is not known.
    const unknown = (): Float64Array => new Float64Array(layout.pointsPerRank > 0 ? layout.length / layout.pointsPerRank : 0).fill(NaN);
    const fitting = (values: Float64Array | null): Float64Array | null => (values && values.length * layout.pointsPerRank === layout.length ? values : null);
    return sceneOf(layout, at, {
      color: color === OWN ? null : (fitting(state.values(color)) ?? unknown()),
      size: size === NONE ? null : fitting(state.values(size)), height: height === NONE ? null : fitting(state.values(height)), opacity: opacity === NONE ? null : fitting(state.values(opacity)),
      slice: sliced([layout.x, layout.y, layout.z], places, cuts, layout.pointsPerRank), isLatency: color === "latency", isClipped: state.ends.value === "most", isLog: state.scale.value === "log", filter, ranks, theme: theme.value,
    });
  }, inputs);
}

function Picture({ store, frames, state, view }: { store: Store; frames: Frames; state: SpaceState; view: MutableRef<SpaceView | null> }) {
  const box = useRef<HTMLDivElement>(null);
  const note = useSignal("");
  const pointer = useSignal<{ x: number; y: number } | null>(null);
  const scene = useScene(store, state);
  // Before it can be seen: the first click or key counts.
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const made = new SpaceView(store, frames, box.current, state, (text) => (note.value = text));
    view.current = made;
    return () => {
      view.current = null;
      state.pointed.value = null;
      made.dispose();
    };
  }, [store, frames, state, note, view]);
  // With the words about it: a key that comes now is about these points.
  useLayoutEffect(() => view.current?.show(scene), [scene, view]);
  const links = useLinks(state);
  useEffect(() => view.current?.join(links), [links, view]);
  const { why } = state.points.value;
  const known = state.shown.value;
  const of = state.of.value;
  const metrics = state.metrics.value;
  const sentence = scene && known
    ? drawnWords({ layout: known.answer.name, ranks: scene.ranks, hidden: scene.hidden, color: state.color.value, size: state.size.value, height: state.height.value, opacity: state.opacity.value, of }, scene.color)
    : "";
  const [cuts, color] = [state.cuts.value, state.color.value];
  const cutWords = useMemo(() => (scene ? sliceWords(cuts, scene, color) : ""), [cuts, scene, color]);
  const missing = [...new Set([state.color, state.size, state.height, state.opacity].map(({ value }) => value))]
    .map((id) => [id, state.missing(id)] as const).filter(([, text]) => text !== "").map(([id, text]) => `${labelOf(id, of)}: ${text}.`);
  const status = [why && sentenceOf(why), metrics.why && sentenceOf(metrics.why), ...missing, scene?.isOnePlace ? "All ranks are at one place: this run lacks what the layout asks for." : "", known?.answer.isOld ? "The file has an error: this is its last good layout." : "", note.value].filter(Boolean).join(" ");
  const pointed = state.pointed.value;
  return (
    <>
      <div class="space-picture" onPointerMove={(event) => {
        const area = event.currentTarget.getBoundingClientRect();
        pointer.value = { x: event.clientX - area.left, y: event.clientY - area.top };
      }} onPointerLeave={() => (pointer.value = null)}>
        <div class="host" ref={box} tabIndex={0} role="application" aria-label={`Ranks in space. ${sentence}`} aria-describedby="space-drawn" onKeyDown={(event) => {
          if (!view.current?.key(event)) return;
          event.preventDefault();
          event.stopPropagation();
        }} />
        {!scene && <div class="message"><h2>{why ? "The layout cannot be drawn" : "The points are on their way"}</h2><p>{why ? sentenceOf(why) : "The layout is evaluated for all ranks."}</p></div>}
        {scene && pointed !== null && pointer.value && <Tip text={tipOf(store, state, pointed, of)} {...pointer.value} />}
      </div>
      <Legend state={state} scene={scene} of={of} />
      <p class="space-words" id="space-drawn" role="status">{sentence} {cutWords} {metrics.known && <span class="soft">{whenWords(metrics.known.scope, metrics.known.answer)}</span>} {status && <span class="warn">{status}</span>}</p>
    </>
  );
}


function tipOf(store: Store, state: SpaceState, rank: number, of: Restriction): TipText {
  const ids = [...new Set([state.color, state.size, state.height, state.opacity].map(({ value }) => value))].filter((id) => metricOf(id) !== null);
  const run = store.run.peek();
  const rows = ids.map((id) => [labelOf(id, of), valueWords(state.values(id)?.[rank] ?? NaN, unitOf(id)), ""] as const);
  const layout = state.shown.peek()?.answer;
  const own = state.color.value === OWN && layout ? [["the layout\u2019s own value", valueWords(layout.color[rank * layout.pointsPerRank] ?? NaN, null), ""] as const] : [];
  return { title: `Rank ${rank}`, rows: [["node", nodeOfRank(run, rank) || "not known", ""], ...own, ...rows] };
}
