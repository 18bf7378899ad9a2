// The tab that says how: how latency went within regions of ranks and between them, a row each on the timeline's axis, and
// below them the range of time that all views share.

import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Course, Evolution } from "../../feed/evolution";
import type { Attribution } from "../../feed/found";
import type { RankRange } from "../../feed/regions";
import type { Store } from "../../state/store";
import { aboutEvolution, noEvolution, ranksOfCourse } from "../../words/evolution";
import { rangesShort, ranksWords } from "../../words/regions";
import { NotesStrip } from "../notes/strip";
import { useTable } from "../share/tables";
import { useSize } from "../size";
import { TermMark } from "../terms/term";
import { Legend } from "./legend";
import { memoryOf, type Memory } from "./memory";
import { RangeSlider } from "./range-slider";
import { Row, ROW_PIXELS } from "./row";
import { delayedBy, delayedMeaning } from "../../state/delayed";
import { hasWindows, keyOf, latencies, mostDelayed, ofRanks, worstFirst } from "./scale";
import { segmentRows, SEGMENT_COLUMNS, WINDOW_COLUMNS, windowRows } from "./tables";

export function How({ store }: { store: Store }) {
  const nothing = useComputed(() => noEvolution(store.figures.value)).value;
  const evolution = useComputed(() => store.figures.value.evolution).value;
  if (nothing || !evolution) return nothing && <div class="message"><h2>{nothing.title}</h2><p>{nothing.text}</p></div>;
  return <Rows store={store} evolution={evolution} />;
}

function Rows({ store, evolution }: { store: Store; evolution: Evolution }) {
  const memory = memoryOf(store);
  const isBetween = memory.side.value === "between";
  const { ranks, rangeNs } = store.perspective.value;
  const found = store.figures.value.found;
  const disturbances = found?.diagnosis.disturbances ?? [];
  const all = isBetween ? evolution.links : evolution.regions;
  const lost = lostSeconds(found?.diagnosis.attribution ?? []);
  const courses = ordered(ofRanks(all, ranks, (course) => ranksOfCourse(course, evolution)), evolution, memory, lost);
  const range = latencies(courses);
  const most = mostDelayed(courses);
  useTable("evolution of latency", () => ({ columns: WINDOW_COLUMNS, rows: windowRows(courses, evolution) }));
  useTable("stretches of latency", () => ({ columns: SEGMENT_COLUMNS, rows: segmentRows(courses, evolution) }));
  return (
    <div class="how">
      <Bar store={store} evolution={evolution} memory={memory} shown={courses.length} all={all.length} />
      <NotesStrip store={store} />
      {courses.length > 0
        ? <List store={store} memory={memory} courses={courses} row={(course) => <Row key={keyOf(course)} store={store} course={course} evolution={evolution} latencies={range} mostDelayed={most} disturbances={disturbances} lostS={course.other === null ? lost.get(course.region) ?? null : null} />} />
        : <Empty isBetween={isBetween} ranks={ranks} />}
      <Legend mostDelayed={most} hasNormal={evolution.hasNormal} note={rangeNs && !hasWindows(courses, rangeNs, evolution.windowS) ? "No window of the selected range is kept." : ""} />
      <RangeSlider store={store} windowNs={evolution.windowS * 1e9} />
    </div>
  );
}

/** What each region loses in the run, in seconds of its ranks; nothing is known of a job with one region, or before a verdict. */
function lostSeconds(attribution: readonly Attribution[]): ReadonlyMap<number, number> {
  return new Map(attribution.flatMap(({ region, avoidableS }) => (region === null ? [] : [[region, avoidableS]])));
}

function ordered(courses: readonly Course[], evolution: Evolution, memory: Memory, lost: ReadonlyMap<number, number>): readonly Course[] {
  if (memory.order.value === "ranks") {
    const first = (course: Course): number => ranksOfCourse(course, evolution)[0]?.[0] ?? Infinity;
    return [...courses].sort((one, other) => first(one) - first(other) || one.region - other.region || (one.other ?? 0) - (other.other ?? 0));
  }
  const isLost = memory.order.value === "lost" && courses.some(({ region, other }) => other === null && lost.has(region));
  const found = isLost ? worstFirst(courses, memory.keys, ({ region }) => lost.get(region) ?? null) : worstFirst(courses, memory.keys);
  memory.keys = found.map(keyOf);
  return found;
}

function Empty({ isBetween, ranks }: { isBetween: boolean; ranks: readonly RankRange[] | null }) {
  return (
    <div class="message">
      <h2>{isBetween ? "Nothing went between regions" : "No region"}</h2>
      <p>{ranks ? `None that is listed has ${ranksWords(ranks)}.` : isBetween ? "All messages that were recorded stayed inside a region." : "No message inside a region was recorded."}</p>
    </div>
  );
}

interface BarProps { store: Store; evolution: Evolution; memory: Memory; shown: number; all: number }

function Bar({ store, evolution, memory, shown, all }: BarProps) {
  const isBetween = memory.side.value === "between";
  const { ranks } = store.perspective.value;
  const about = aboutEvolution(evolution, store.figures.value, isBetween).join(" \u00b7 ");
  const order = (kind: "lost" | "worst" | "ranks"): void => {
    memory.keys = [];
    memory.order.value = kind;
  };
  return (
    <div class="how-bar">
      <div class="group" role="group" aria-label="Messages">
        <button type="button" aria-pressed={!isBetween} title="Messages inside each region" onClick={() => (memory.side.value = "inside")}>Inside</button>
        <button type="button" aria-pressed={isBetween} title="Messages between each two regions" onClick={() => (memory.side.value = "between")}>Between</button>
      </div>
      <div class="group" role="group" aria-label="Order">
        <button type="button" aria-pressed={memory.order.value === "lost"} title="The most avoidable time first; the greatest mean L where that is not known. Rows change places only if one is clearly worse" onClick={() => order("lost")}>Lost time</button>
        <button type="button" aria-pressed={memory.order.value === "worst"} title="The greatest mean L first" onClick={() => order("worst")}>Highest L</button>
        <button type="button" aria-pressed={memory.order.value === "ranks"} title="By the first rank" onClick={() => order("ranks")}>By rank</button>
      </div>
      {evolution.hasNormal && (
        <div class="group" role="group" aria-label="Delayed">
          <button type="button" aria-pressed={delayedBy.value === "expected"} title={`Delayed means ${delayedMeaning(evolution.hasNormal)}. Pressed: the definition of the PCLVis paper, L above 1`} onClick={() => (delayedBy.value = delayedBy.value === "normal" ? "expected" : "normal")}>L &gt; 1</button>
          <TermMark id="delayed" />
        </div>
      )}
      <p class="soft" title={`${about}. Only exact messages make up L.`}>{about}</p>
      {ranks && <button type="button" title={`Only rows with ${ranksWords(ranks)}: ${shown} of ${all}`} onClick={() => store.select({ ranks: null })}>All ranks, not only {rangesShort(ranks, 1)}</button>}
    </div>
  );
}

/** Only the rows in sight are there. */
function List({ store, memory, courses, row }: { store: Store; memory: Memory; courses: readonly Course[]; row: (course: Course) => ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const scroll = useSignal(memory.top);
  const { height } = useSize(box).value;
  useLayoutEffect(() => {
    box.current?.scrollTo(0, scroll.peek());
    return () => void (memory.top = scroll.peek());
  }, [memory]);
  const selection = store.selection.value;
  const wanted = selection?.kind === "region" ? `${selection.id}/` : null;
  const at = wanted === null ? -1 : courses.findIndex((course) => keyOf(course) === wanted);
  // Whatever was selected elsewhere is to be seen, once.
  useEffect(() => {
    const element = box.current;
    if (!element || at < 0) return;
    const top = at * ROW_PIXELS;
    if (top < element.scrollTop || top + ROW_PIXELS > element.scrollTop + element.clientHeight) element.scrollTop = top;
  }, [wanted]);
  const first = Math.max(0, Math.floor(scroll.value / ROW_PIXELS) - 1);
  const last = Math.min(courses.length, Math.ceil((scroll.value + height) / ROW_PIXELS) + 1);
  return (
    <div class="how-rows" ref={box} role="region" aria-label="Latency over time" tabIndex={0} onScroll={(event) => (scroll.value = event.currentTarget.scrollTop)}>
      <div style={{ height: `${first * ROW_PIXELS}px` }} />
      {courses.slice(first, last).map(row)}
      <div style={{ height: `${(courses.length - last) * ROW_PIXELS}px` }} />
    </div>
  );
}
