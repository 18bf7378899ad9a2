// Beside the points: which layout, and which figure of a rank is its colour, size, height and opacity.

import { useComputed } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LayoutItem } from "../../feed/ranks";
import { FilterPart } from "./filter";
import { scaleOf } from "./scale";
import type { Store } from "../../state/store";
import { METRICS, metricOf } from "../../words/metrics";
import { nodeName } from "../../words/hosts";
import { colours } from "../colours";
import { lensOf, project } from "./camera";
import { prepare } from "../canvas";
import { suggestionWords } from "./words";
import { NONE, OWN } from "./choices";
import { EVENT_NAMES, type SpaceState } from "./state";

const GROUPS = [...new Set(METRICS.map(({ group }) => group))];

export function Controls({ store, state }: { store: Store; state: SpaceState }) {
  const face = state.face.value;
  // Of the least and the most value alone, which no choice of the scale changes.
  const colorScale = useComputed(() => {
    const values = state.color.value === OWN ? state.shown.value?.answer.color : state.values(state.color.value);
    return values ? scaleOf(values, false, false) : null;
  });
  const events = state.shown.value?.answer.events ?? [];
  return (
    <aside class="space-side" aria-label="What is drawn">
      {face === "layout" && <Suggested store={store} state={state} />}
      {face === "layout" && <Layouts state={state} />}
      {face !== "landscape" && (
        <section>
          <h2>{face === "layout" ? "Figures" : "Figure"}</h2>
          <MetricSelect label={face === "layout" ? "Colour" : face === "scatter" ? "Across" : "Value"} of={state.color} first={face === "layout" ? { id: OWN, label: "the layout\u2019s own" } : null} />
          {face === "scatter" && <MetricSelect label="Up" of={state.other} first={null} />}
          {face === "layout" && <>
            <MetricSelect label="Size" of={state.size} first={{ id: NONE, label: "the same for all" }} />
            <MetricSelect label="Height" of={state.height} first={{ id: NONE, label: "as the layout has it" }} />
            <MetricSelect label="Opacity" of={state.opacity} first={{ id: NONE, label: "opaque" }} />
            {events.map((isAsked, at) => isAsked && state.events[at] && <MetricSelect key={at} label={EVENT_NAMES[at] ?? ""} of={state.events[at]} first={null} />)}
          </>}
          <FunctionSelect store={store} state={state} />
          {face === "histogram" && (
            <label class="row"><span>Bins</span><input type="range" min={4} max={100} value={Number(state.bins.value)} onInput={(event) => (state.bins.value = event.currentTarget.value)} /></label>
          )}
        </section>
      )}
      {face === "layout" && <FilterPart state={state} scale={colorScale.value} />}
    </aside>
  );
}

/** Where ranks stand out, and how that is best seen. */
function Suggested({ store, state }: { store: Store; state: SpaceState }) {
  const found = state.suggestion.value.known?.answer;
  if (!found?.metric) return null;
  const isFollowed = state.from.value === "bundled" && state.layout.value === found.layout && state.color.value === found.metric;
  return (
    <section class="suggested">
      <p class="small">{suggestionWords(found, (host) => nodeName(store.run.peek(), host))}</p>
      <div class="group">
        {!isFollowed && <button type="button" title={`Layout ${found.layout}, coloured by it`} onClick={() => state.follow(found)}>Show</button>}
        <button type="button" title="Select these ranks for all views" onClick={() => store.select({ ranks: found.ranks })}>Select</button>
      </div>
    </section>
  );
}

interface Choice { id: string; label: string }

function MetricSelect({ label, of, first }: { label: string; of: Signal<string>; first: Choice | null }) {
  return (
    <label class="row">
      <span>{label}</span>
      <select value={of.value} onChange={(event) => (of.value = event.currentTarget.value)}>
        {first && <option value={first.id}>{first.label}</option>}
        {GROUPS.map((group) => (
          <optgroup key={group} label={group}>
            {METRICS.filter((metric) => metric.group === group).map(({ id, label: words }) => <option key={id} value={id}>{words}</option>)}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** Time in MPI and calls can be of one function. */
function FunctionSelect({ store, state }: { store: Store; state: SpaceState }) {
  const functions = useComputed(() => [...store.figures.value.functions.values()].sort((one, other) => other.timeNs - one.timeNs)).value;
  const isUseful = [state.color, state.size, state.height, state.opacity, state.other].some(({ value }) => metricOf(value)?.isOfFunction);
  if (!isUseful) return null;
  return (
    <label class="row">
      <span>Function</span>
      <select value={state.function.value} onChange={(event) => (state.function.value = event.currentTarget.value)}>
        <option value="all">all of MPI</option>
        {functions.map(({ id, name }) => <option key={id} value={String(id)}>{name}</option>)}
      </select>
    </label>
  );
}

function Layouts({ state }: { state: SpaceState }) {
  const all = state.layouts.value;
  const isChosen = (item: LayoutItem): boolean => state.from.value === (item.isFile ? "file" : "bundled") && state.layout.value.toLowerCase() === item.name.toLowerCase();
  const chosen = all?.items.find(isChosen);
  return (
    <section>
      <h2>Layout</h2>
      <div class="thumbs" role="group" aria-label="Layouts">
        {all?.items.map((item) => (
          <button type="button" key={`${item.isFile} ${item.name}`} aria-pressed={isChosen(item)} class={item.isComplete ? "" : "lacking"} title={`${item.sentence}${item.isComplete ? "" : " This run lacks what it asks for."}`} onClick={() => state.choose(item.isFile ? "file" : "bundled", item.name)}>
            <Thumbnail item={item} />
            <span>{item.name}</span>
          </button>
        ))}
        {state.draft.value !== null && (
          <button type="button" aria-pressed={state.from.value === "draft"} title="The layout that you wrote" onClick={() => state.choose("draft", "")}><span class="own">{"\u270e"}</span><span>yours</span></button>
        )}
      </div>
      <p class="small soft">{state.from.value === "draft" ? "Your own layout." : chosen ? `${chosen.sentence}${chosen.isComplete ? "" : " This run lacks what it asks for, so some values are 0."}` : ""}</p>
      {all?.file && <p class="small soft">{`From the file ${all.file}; it is read again when it changes.`}</p>}
      {all?.errors.map((error, at) => <p key={at} class="small warn">{error.line > 0 ? `${all.file}:${error.line}:${error.column}: ${error.text}` : error.text}</p>)}
    </section>
  );
}

const THUMBNAIL = { yaw: -Math.PI / 3, pitch: 0.5, distance: 4.2, x: 0, y: 0, z: 0 };

function Thumbnail({ item }: { item: LayoutItem }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ink = colours.value.soft;
  useEffect(() => {
    const sheet = canvas.current && prepare(canvas.current);
    if (!sheet || item.length === 0) return;
    const { context, width, height } = sheet;
    const axes = [item.x, item.y, item.z].map((axis) => {
      let [least, most] = [Infinity, -Infinity];
      for (const value of axis) if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
      return { middle: (least + most) / 2, length: most - least };
    });
    const longest = Math.max(...axes.map(({ length }) => length)) || 1;
    const isFlat = (axes[2]?.length ?? 0) === 0 && (axes[1]?.length ?? 0) > 0;
    const lens = lensOf(isFlat ? { ...THUMBNAIL, yaw: -Math.PI / 2, pitch: Math.PI / 2, distance: 4 } : THUMBNAIL, { width, height });
    context.fillStyle = ink;
    for (let point = 0; point < item.length; point++) {
      const at = [item.x, item.y, item.z].map((axis, index) => (((axis[point] ?? NaN) - (axes[index]?.middle ?? 0)) * 1.9) / longest) as [number, number, number];
      const [x, y] = project(lens, ...at);
      if (Number.isFinite(x) && Number.isFinite(y)) context.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
    }
  }, [item, ink]);
  return <canvas ref={canvas} aria-hidden="true" />;
}
