// The timeline: how many calls of each function started when, from the whole run down to microseconds; cursor, range,
// and the whole run in small under it.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { zoomBy } from "../../state/actions";
import type { Store } from "../../state/store";
import { clock, count, counted, roundDuration } from "../../words";
import { Annotations } from "../annotations/annotations";
import { PathRow } from "../critical/row";
import { pathOf } from "../critical/state";
import { Icon } from "../icons";
import { useTable } from "../share/tables";
import { isTimelineShown, toggleTimeline } from "./shown";
import { type Hover, TimelineView } from "./view";

const TIP_ROWS = 12;
const TIP_NOTES = 4;

export function Timeline({ store, frames }: { store: Store; frames: Frames }) {
  const plot = useRef<HTMLDivElement>(null);
  const minimap = useRef<HTMLDivElement>(null);
  const hover = useSignal<Hover | null>(null);
  const words = useSignal("");
  const view = useRef<TimelineView | null>(null);
  useTable("calls over time", () => view.current?.table() ?? { columns: [], rows: [] });
  useEffect(() => {
    if (!plot.current || !minimap.current) return undefined;
    const made = new TimelineView(store, frames, plot.current, minimap.current, { hover, words });
    view.current = made;
    return () => made.dispose();
  }, [store, frames, hover, words]);
  const path = pathOf(store);
  const whole = store.zoom.value === null;
  return (
    <section class={isTimelineShown.value ? "timeline" : "timeline folded"} aria-label="Timeline">
      {!isTimelineShown.value && <button type="button" class="icon unfold" title="Show the timeline (h)" aria-label="Show the timeline" onClick={toggleTimeline}><Icon name="unfold" /></button>}
      <div class="bar">
        <h2>Timeline</h2>
        <span class="value small soft">{words.value}</span>
        <div class="buttons">
          <button type="button" aria-pressed={path.isShown.value === "shown"} title="The critical path as a row: what ended each wait" onClick={() => (path.isShown.value = path.isShown.peek() === "shown" ? "hidden" : "shown")}>Path</button>
          <Annotations store={store} />
          <button type="button" class="icon" title="Zoom out (-)" aria-label="Zoom out" disabled={whole} onClick={() => zoomBy(store, 2)}><Icon name="minus" /></button>
          <button type="button" class="icon" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoomBy(store, 0.5)}><Icon name="plus" /></button>
          <button type="button" title="Show the whole run (0)" disabled={whole} onClick={() => (store.zoom.value = null)}>Whole run</button>
          <button type="button" class="icon" title="Fold the timeline (h)" aria-label="Fold the timeline" onClick={toggleTimeline}><Icon name="fold" /></button>
        </div>
      </div>
      <div class="plot" ref={plot} role="img" aria-label={`Calls started by function. ${words.value}`}>
        <canvas /><canvas />
      </div>
      {path.isShown.value === "shown" && <PathRow store={store} />}
      <div class="minimap" ref={minimap} role="img" aria-label="The whole run; the frame is what the timeline shows"><canvas /></div>
      {hover.value && <Tip hover={hover.value} width={plot.current?.clientWidth ?? innerWidth} />}
    </section>
  );
}

function Tip({ hover, width }: { hover: Hover; width: number }) {
  const rest = hover.rows.slice(TIP_ROWS);
  const total = hover.rows.reduce((sum, row) => sum + row.calls, 0);
  return (
    <div class="tip" style={hover.x < width / 2 ? { left: `${hover.x + 12}px` } : { right: `${width - hover.x + 12}px` }}>
      <div><b>{clock(hover.fromNs, hover.digits)}</b><span>{roundDuration(hover.binNs)}{hover.incomplete ? ", not over" : ""}</span></div>
      {hover.annotations.slice(0, TIP_NOTES).map((note) => (
        <div key={note.number}><span class="swatch" style={{ backgroundColor: note.colour ?? "var(--accent)" }} /><span>{note.author}: {note.text}</span></div>
      ))}
      {hover.annotations.length > TIP_NOTES && <div><span>{counted(hover.annotations.length - TIP_NOTES, "more annotation", "more annotations")}</span></div>}
      <div><span>{counted(total, "call", "calls")} started</span></div>
      {hover.rows.slice(0, TIP_ROWS).map((row) => (
        <div key={row.name}><span class="swatch" style={{ backgroundColor: row.colour }} /><span>{row.name}</span><span>{count(row.calls)}</span></div>
      ))}
      {rest.length > 0 && <div><span>{counted(rest.length, "more function", "more functions")}</span><span>{count(rest.reduce((sum, row) => sum + row.calls, 0))}</span></div>}
    </div>
  );
}
