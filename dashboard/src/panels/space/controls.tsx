// Beside the points: which layout, and which figure of a rank is its colour, size, height and opacity.

import { type Signal, useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LayoutItem } from "../../feed/ranks";
import { FilterPart } from "./filter";
import { scaleOf } from "./scale";
import type { Store } from "../../state/store";
import { METRICS } from "../../words/metrics";
import { colours } from "../colours";
import { lensOf, project } from "./camera";
import { prepare } from "../canvas";
import type { MatrixValue } from "./matrix";
import { suggestionWords } from "./words";
import { NONE, OWN } from "./choices";
import { significant } from "../../words";
import { EVENT_NAMES, type LayoutFrom, type SpaceState } from "./state";

const GROUPS = [...new Set(METRICS.map(({ group }) => group))];

/** Faces with a figure of the ranks. */
const OF_FIGURE = new Set(["layout", "bars", "histogram", "scatter"]);

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
      {OF_FIGURE.has(face) && (
        <section>
          <h2>{face === "layout" ? "Figures" : "Figure"}</h2>
          <MetricSelect label={face === "layout" ? "Colour" : face === "scatter" ? "Across" : "Value"} of={state.color} first={face === "layout" ? { id: OWN, label: "the layout\u2019s own" } : null} />
          {face === "scatter" && <>
            <MetricSelect label="Up" of={state.other} first={null} />
            <MetricSelect label="Colour" of={state.dotColor} first={{ id: NONE, label: "the same for all" }} />
            <MetricSelect label="Size" of={state.dotSize} first={{ id: NONE, label: "the same for all" }} />
            <div class="group">
              <Toggle of={state.acrossScale} on="log" off="linear" title="The axis across is logarithmic">Log across</Toggle>
              <Toggle of={state.upScale} on="log" off="linear" title="The upright axis is logarithmic">Log up</Toggle>
            </div>
          </>}
          {face === "layout" && <>
            <MetricSelect label="Size" of={state.size} first={{ id: NONE, label: "the same for all" }} />
            <MetricSelect label="Height" of={state.height} first={{ id: NONE, label: "as the layout has it" }} />
            <MetricSelect label="Opacity" of={state.opacity} first={{ id: NONE, label: "opaque" }} />
            {events.map((isAsked, at) => isAsked && state.events[at] && <MetricSelect key={at} label={EVENT_NAMES[at] ?? ""} of={state.events[at]} first={null} />)}
          </>}
          <FunctionSelect store={store} state={state} />
          <SiteSelect state={state} />
          <PhaseSelect state={state} />
          {face === "histogram" && (
            <label class="row"><span>Bins</span><input type="range" min={4} max={100} value={Number(state.bins.value)} onInput={(event) => (state.bins.value = event.currentTarget.value)} /></label>
          )}
        </section>
      )}
      {face === "matrix" && (
        <section>
          <h2>Figure</h2>
          <label class="row"><span>Value</span><select value={state.matrixOf.value} onChange={(event) => (state.matrixOf.value = event.currentTarget.value as MatrixValue)}>
            <option value="bytes">bytes sent</option><option value="messages">messages sent</option><option value="latency">mean latency L</option>
          </select></label>
        </section>
      )}
      <section>
        <h2>Of</h2>
        <div class="group">
          <Toggle of={state.time} on="moment" off="range" title="Figures of the moment of the shared clock: they move with it">The clock{"\u2019"}s moment</Toggle>
          {OF_FIGURE.has(face) && <Toggle of={state.average} on="node" off="rank" title="Each rank shows the mean of its node">Mean per node</Toggle>}
        </div>
        {face === "layout" && <div class="group"><Toggle of={state.links} on="yes" off="no" title="Lines between the pairs of ranks that exchanged the most bytes">Heaviest messages</Toggle></div>}
      </section>
      {face === "layout" && <SlicePart state={state} />}
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
      <p class="small">{suggestionWords(found)}</p>
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
  if (!state.isOfFunction.value) return null;
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

function Toggle({ of, on, off, title, children }: { of: Signal<string>; on: string; off: string; title: string; children: ComponentChildren }) {
  return <button type="button" aria-pressed={of.value === on} title={title} onClick={() => (of.value = of.peek() === on ? off : on)}>{children}</button>;
}

/** Time in MPI and calls can be of one call site. */
function SiteSelect({ state }: { state: SpaceState }) {
  const sites = [...state.sites.value].slice(0, SITES_SHOWN);
  if (!state.isOfFunction.value || sites.length === 0) return null;
  return (
    <label class="row">
      <span>Call site</span>
      <select value={state.site.value} onChange={(event) => (state.site.value = event.currentTarget.value)}>
        <option value="all">all call sites</option>
        {sites.map(([id, place]) => <option key={id} value={String(id)}>{place}</option>)}
      </select>
    </label>
  );
}

const SITES_SHOWN = 500;

/** Figures of calls and messages can be of a phase that the program names. */
function PhaseSelect({ state }: { state: SpaceState }) {
  const phases = state.phases.value;
  if (phases.length === 0) return null;
  return (
    <label class="row">
      <span>Phase</span>
      <select value={state.phase.value} onChange={(event) => (state.phase.value = event.currentTarget.value)}>
        <option value="all">all phases</option>
        {phases.map(({ id, name }) => <option key={id} value={String(id)}>{name}</option>)}
      </select>
    </label>
  );
}

/** Where the layout is cut: one place of each axis, or all of them. */
function SlicePart({ state }: { state: SpaceState }) {
  return (
    <section>
      <h2>Slices</h2>
      {state.places.value.map((all, axis) => {
        const of = state.slices[axis];
        if (!of || all.length < 2) return null;
        const cut = state.cuts.value[axis] ?? null;
        const isOn = cut !== null;
        const words = isOn ? significant(cut) : "all";
        const name = "xyz"[axis] ?? "";
        return (
          <div class="row slice" key={name}>
            <button type="button" aria-pressed={isOn} title={`Only ranks at one ${name}`} onClick={() => (of.value = isOn ? "off" : String(all[Math.floor(all.length / 2)] ?? 0))}>{name}</button>
            <input type="range" min={0} max={all.length - 1} disabled={!isOn} aria-label={`Place of the slice along ${name}`} aria-valuetext={words} value={isOn ? all.indexOf(cut) : 0} onInput={({ currentTarget: { value } }) => (of.value = String(all[Number(value)] ?? 0))} />
            <output>{words}</output>
          </div>
        );
      })}
    </section>
  );
}

function Layouts({ state }: { state: SpaceState }) {
  const all = state.layouts.value;
  const isChosen = (item: LayoutItem): boolean => state.from.value === fromOf(item) && state.layout.value.toLowerCase() === item.name.toLowerCase();
  const chosen = all?.items.find(isChosen);
  return (
    <section>
      <h2>Layout</h2>
      <div class="thumbs" role="group" aria-label="Layouts">
        {all?.items.map((item) => (
          <button type="button" key={`${fromOf(item)} ${item.name}`} aria-pressed={isChosen(item)} class={item.isComplete ? "" : "lacking"} title={`${item.sentence}${item.isComplete ? "" : " This run lacks what it asks for."}`} onClick={() => state.choose(fromOf(item), item.name)}>
            <Thumbnail item={item} />
            <span>{item.name}</span>
          </button>
        ))}
        {state.draft.value !== null && (
          <button type="button" aria-pressed={state.from.value === "draft"} title="The layout that you wrote" onClick={() => state.choose("draft", "")}><span class="own">{"\u270e"}</span><span>yours</span></button>
        )}
      </div>
      <p class="small soft">{state.from.value === "draft" ? "Your own layout." : chosen ? `${chosen.sentence}${chosen.isComplete ? "" : " This run lacks what it asks for, so some values are 0."}` : ""}</p>
      {chosen && (chosen.keeper === "recording" || chosen.keeper === "user") && (
        <p class="small soft">{chosen.keeper === "recording" ? "Kept with the recording." : "Kept for you, for all runs."} <button type="button" onClick={() => void state.forget(chosen.keeper as "recording" | "user", chosen.name).catch(() => undefined)}>Forget</button></p>
      )}
      {all?.file && <p class="small soft">{`From the file ${all.file}; it is read again when it changes.`}</p>}
      {all?.errors.map((error, at) => <p key={at} class="small warn">{error.line > 0 ? `${all.file}:${error.line}:${error.column}: ${error.text}` : error.text}</p>)}
    </section>
  );
}

function fromOf({ isFile, keeper }: LayoutItem): LayoutFrom {
  return isFile ? "file" : keeper === "recording" || keeper === "user" ? keeper : "bundled";
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
