// Notes and values of other programs: a list that leads to the moments, and their values over time.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Annotation, ValueSeries } from "../../feed/annotations";
import { edgeNs } from "../../state/run";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { clock, counted, short } from "../../words";
import { authorColour } from "../notes/lines";

/** More cannot be read in a list; the timeline has them all. */
const LISTED = 200;
const CHART = { width: 220, height: 28 };

export function Annotations({ store }: { store: Store }) {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const authors = useComputed(() => authorsOf(store)).value;
  useEffect(() => {
    if (!isOpen.value) return undefined;
    const away = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) isOpen.value = false;
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [isOpen.value, isOpen]);
  const { annotations, series } = store.annotations.value;
  if (annotations.length + series.length === 0) return null;
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !isOpen.value) return;
    isOpen.value = false;
    box.current?.querySelector("button")?.focus();
    event.stopPropagation();
  };
  return (
    <div class="annotations" ref={box} onKeyDown={keys}>
      <button type="button" aria-haspopup="dialog" aria-expanded={isOpen.value} title="Notes and values of other programs" onClick={() => (isOpen.value = !isOpen.value)}>
        {counted(annotations.length, "annotation", "annotations")}{series.length > 0 ? `, ${counted(series.length, "series", "series")}` : ""}
      </button>
      {isOpen.value && (
        <div class="list" role="dialog" aria-label="Notes and values of other programs">
          <div class="authors">
            <span class="soft">Show what these programs added:</span>
            {authors.map((author) => <Author key={author} store={store} author={author} />)}
          </div>
          {series.filter(({ author }) => !store.hiddenAuthors.value.has(author)).map((each) => <Series key={`${each.author} ${each.name}`} store={store} series={each} />)}
          <Notes store={store} close={() => (isOpen.value = false)} />
        </div>
      )}
    </div>
  );
}

function authorsOf(store: Store): string[] {
  const { annotations, series } = store.annotations.value;
  return [...new Set([...annotations, ...series].map(({ author }) => author))].sort();
}

function Author({ store, author }: { store: Store; author: string }) {
  const { hiddenAuthors } = store;
  const change = (isShown: boolean): void => {
    const hidden = new Set(hiddenAuthors.value);
    if (isShown) hidden.delete(author);
    else hidden.add(author);
    hiddenAuthors.value = hidden;
  };
  return (
    <label><input type="checkbox" checked={!hiddenAuthors.value.has(author)} onChange={(event) => change(event.currentTarget.checked)} />{author}</label>
  );
}

function Notes({ store, close }: { store: Store; close: () => void }) {
  const all = [...store.shownAnnotations.value].sort((a, b) => a.timeNs - b.timeNs);
  const go = ({ timeNs, rank }: Annotation): void => {
    close();
    store.command({ do: "seek", time_ns: timeNs });
    if (rank !== null) store.selection.value = { kind: "rank", rank };
  };
  return (
    <ol>
      {all.slice(0, LISTED).map((note) => (
        <li key={note.number}>
          <button type="button" onClick={() => go(note)}>
            <span class="swatch" style={{ backgroundColor: note.colour ?? authorColour(note.author, theme.value) }} />
            <span class="value small">{clock(note.timeNs, 6)}{note.untilNs > note.timeNs ? ` to ${clock(note.untilNs, 6)}` : ""}</span>
            <span class="small soft">{note.rank === null ? "all ranks" : `rank ${note.rank}`}, {note.author}</span>
            <span class="text">{note.text}</span>
          </button>
          {note.link && <a href={note.link} target="_blank" rel="noopener noreferrer">{note.link}</a>}
        </li>
      ))}
      {all.length > LISTED && <li class="soft small">{counted(all.length - LISTED, "more is", "more are")} in the timeline.</li>}
    </ol>
  );
}

/** Values over the whole run. */
function Series({ store, series }: { store: Store; series: ValueSeries }) {
  const edge = Math.max(1, edgeNs(store.figures.value));
  const values = series.value.filter(Number.isFinite);
  const [least, most] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
  const y = (value: number): number => (most > least ? CHART.height - 2 - ((value - least) / (most - least)) * (CHART.height - 4) : CHART.height / 2);
  const points = [...series.timeNs].map((timeNs, at) => `${((timeNs / edge) * CHART.width).toFixed(1)},${y(series.value[at] ?? 0).toFixed(1)}`).join(" ");
  const last = series.value[series.value.length - 1];
  const of = (value: number): string => `${short(value)}${series.unit ? ` ${series.unit}` : ""}`;
  return (
    <div class="series">
      <div><b>{series.name}</b> <span class="small soft">{series.author}, {counted(series.points, "value", "values")}</span></div>
      {last === undefined ? <span class="soft small">no values</span> : (
        <div class="chart">
          <svg viewBox={`0 0 ${CHART.width} ${CHART.height}`} role="img" aria-label={`${series.name} over the run, from ${of(least)} to ${of(most)}`}><polyline points={points} style={{ stroke: authorColour(series.author, theme.value) }} /></svg>
          <span class="small value">{of(least)} to {of(most)}, now {of(last)}</span>
        </div>
      )}
    </div>
  );
}
