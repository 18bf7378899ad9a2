// Above a view over time: what other programs added to what is in sight. Flags are buttons for
// the keyboard; series are lines. Nothing where there is nothing.

import { computed } from "@preact/signals";
import { useId, useMemo, useRef } from "preact/hooks";
import type { Annotation, ValueSeries } from "../../feed/annotations";
import { edgeNs } from "../../state/run";
import { wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { clock, counted, short } from "../../words";
import { sideways } from "../gestures";
import { useSize } from "../size";
import { LEFT, RIGHT, type Scale } from "../timeline/scale";
import { authorColour, type Flag, flagsOf, seriesLine, valueAt } from "./lines";

const HEIGHT = 30;
const MIDDLE = 8;
const LINE = { top: 16, bottom: 28 };
/** Names of more series than this would lie on each other; the list of the timeline has all. */
const NAMED = 3;

export function NotesStrip({ store }: { store: Store }) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box).value;
  const notes = store.shownAnnotations.value;
  const series = store.shownSeries.value;
  const plot = useId();
  const [fromNs, toNs] = store.zoom.value ?? wholeRun(edgeNs(store.figures.value));
  const scale = useMemo<Scale>(() => ({ span: [fromNs, toNs], width: Math.max(1, width - LEFT - RIGHT) }), [fromNs, toNs, width]);
  const flags = useMemo(() => (width > 0 ? flagsOf(notes, scale) : []), [notes, scale]);
  const lines = useMemo(() => series.map((each) => seriesLine(each, scale, LINE.top, LINE.bottom)), [series, scale]);
  if (notes.length + series.length === 0) return null;
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    const buttons = [...(box.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (by === 0 || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[Math.min(buttons.length - 1, Math.max(0, at + by))]?.focus();
  };
  return (
    <div class="notes-strip" ref={box} role="group" aria-label="Notes and values of other programs; left and right go from note to note" style={{ height: `${HEIGHT}px` }} onKeyDown={keys}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <clipPath id={plot}><rect x={LEFT} y={0} width={scale.width} height={HEIGHT} /></clipPath>
          {flags.map((flag) => flag.to - flag.x > 2 && <rect key={flag.notes[0]?.number} x={flag.x} y={MIDDLE - 1} width={flag.to - flag.x} height={3} style={{ fill: colourOf(flag) }} />)}
          <g clip-path={`url(#${plot})`}>
            {series.map((each, at) => <polyline key={`${each.author} ${each.name}`} points={lines[at]} style={{ stroke: authorColour(each.author, theme.value) }} />)}
          </g>
        </svg>
      )}
      {flags.map((flag, at) => (
        <button key={flag.notes[0]?.number} type="button" tabIndex={at === 0 ? 0 : -1} title={titleOf(flag)} aria-label={titleOf(flag)} style={{ left: `${flag.x - 6}px` }} onClick={() => goTo(store, flag.notes[0])}>
          <i style={{ backgroundColor: colourOf(flag) }} />
        </button>
      ))}
      {series.length > 0 && (
        <p class="small">
          {series.slice(0, NAMED).map((each) => <SeriesValue key={`${each.author} ${each.name}`} store={store} series={each} />)}
          {series.length > NAMED && <span class="soft">{series.length - NAMED} more</span>}
        </p>
      )}
    </div>
  );
}

/** A series and its value at the clock. Drawn again when the value changes, and not with each frame. */
function SeriesValue({ store, series }: { store: Store; series: ValueSeries }) {
  const { value } = useMemo(() => computed(() => valueAt(series, store.timeNs.value)), [store, series]);
  return <span title={`${series.name} by ${series.author}`}><i style={{ backgroundColor: authorColour(series.author, theme.value) }} />{series.name}{value === null ? "" : ` ${short(value)}${series.unit ? ` ${series.unit}` : ""}`}</span>;
}

function colourOf({ notes }: Flag): string {
  const [first] = notes;
  return first ? first.colour ?? authorColour(first.author, theme.value) : "";
}

function titleOf({ notes }: Flag): string {
  const [first] = notes;
  const more = notes.length > 1 ? `, and ${counted(notes.length - 1, "more note", "more notes")}` : "";
  return first ? `${noteWords(first)}${more}` : "";
}

export function noteWords({ timeNs, untilNs, rank, author, text }: Annotation): string {
  return `${text} (${author}, ${rank === null ? "all ranks" : `rank ${rank}`}, ${clock(timeNs, 6)}${untilNs > timeNs ? ` to ${clock(untilNs, 6)}` : ""})`;
}

export function goTo(store: Store, note: Annotation | undefined): void {
  if (!note) return;
  store.command({ do: "seek", time_ns: note.timeNs });
  if (note.rank !== null) store.selection.value = { kind: "rank", rank: note.rank };
}
