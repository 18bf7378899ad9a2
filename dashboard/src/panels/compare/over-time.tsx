// Both recordings over time, A above B from zero on: calls by function, where time in MPI went, or what could be avoided.

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { ALIGN_BY, type AlignBy, type Aligned } from "../../feed/aligned";
import type { Compared, CourseOfSide } from "../../feed/compared";
import { PARTS } from "../../feed/compared";
import { CAUSES } from "../../feed/found";
import { CAUSE_COLOURS, PART_TONES } from "../../palette/causes";
import { colourOf } from "../../palette";
import { theme } from "../../state/theme";
import { clock, count, roundDuration } from "../../words";
import { CAUSE_NAMES, seconds } from "../../words/found";
import { colours } from "../colours";
import { sideways } from "../gestures";
import { useSize } from "../size";
import { alignedWords, BY_WORDS } from "../../words/aligned";
import { PART_WORDS } from "./budget";
import { lossesOf, markAt, slotAt, slotRows, slotsOf, type StackRow, type Stacks, stacksOf } from "./layout";
import { AXES, nsAt, paint } from "./paint";

const KINDS = [
  { id: "calls", label: "Calls", title: "Calls that began, by function", note: "calls that began, by function" },
  { id: "time", label: "Time in MPI", title: "Where time in MPI went, summed over all threads", note: "where time in MPI went, summed over all threads" },
  { id: "avoidable", label: "Avoidable", title: "Avoidable time, by cause", note: "avoidable time, in seconds of ranks" },
] as const;
type Kind = (typeof KINDS)[number]["id"];

const TIP_ROWS = 10;

export function OverTime({ compared }: { compared: Compared }) {
  const kind = useSignal<Kind>("calls");
  const by = useSignal<AlignBy>(compared.comparison.alignedBy);
  const way = compared.aligned.find((each) => each.by === by.value) ?? null;
  const shown: Compared = way?.b ? { ...compared, b: way.b } : compared;
  const slot = useSignal<number | null>(null);
  const place = useSignal<{ x: number; y: number } | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(canvas);
  const stacks = useMemo(() => stacksOf(rowsOf(kind.value, shown, theme.value), shown.a, shown.b), [kind.value, by.value, compared, theme.value]);
  const drawn = useRef(stacks);
  drawn.current = stacks;
  const nothing = (side: CourseOfSide): string => (kind.value === "calls" || side.parts.length > 0 ? "" : "no diagnosis");
  useSignalEffect(() => {
    void [size.value, kind.value];
    const way = compared.aligned.find((each) => each.by === by.value);
    const shown: Compared = way?.b ? { ...compared, b: way.b } : compared;
    const { a, b } = shown;
    if (!canvas.current) return;
    paint(canvas.current, {
      stacks: stacksOf(rowsOf(kind.value, shown, theme.value), a, b), endsNs: [a.durationNs, b.durationNs], ownEndsNs: [a.durationNs, compared.b.durationNs], slot: slot.value,
      losses: lossesOf(way?.ownNs ?? new Float64Array(0), a.widthNs),
      marks: { ns: way?.markNs ?? new Float64Array(0), names: way?.markNames ?? [], kind: by.value },
      axis: kind.value === "calls" ? AXES.calls : AXES.seconds, nothing: [nothing(a), nothing(b)],
    }, colours.value);
  });
  const point = (event: PointerEvent): void => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return;
    slot.value = slotAt(drawn.current, nsAt(drawn.current, box.width, event.clientX - box.left));
    place.value = slot.value === null ? null : { x: event.clientX, y: box.top };
  };
  const leave = (): void => {
    slot.value = null;
    place.value = null;
  };
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (by === 0) return;
    event.preventDefault();
    slot.value = Math.min(stacks.slots - 1, Math.max(0, (slot.value ?? (by > 0 ? -1 : stacks.slots)) + by));
    const box = canvas.current?.getBoundingClientRect();
    if (box) place.value = { x: box.left + 56 + ((slot.value + 0.5) / stacks.slots) * (box.width - 68), y: box.top };
  };
  const chosen = KINDS.find(({ id }) => id === kind.value) ?? KINDS[0];
  const value = (n: number): string => (kind.value === "calls" ? count(n) : seconds(n));
  return (
    <section class="over-time">
      <h2>
        Over time <span class="soft">{chosen.note}; A above B, {alignedWords(way?.isPossible === false ? "start" : by.value)}</span>
        <span class="choice" role="group" aria-label="What is shown over time">
          {KINDS.map(({ id, label, title }) => <button type="button" key={id} title={title} aria-pressed={kind.value === id} onClick={() => (kind.value = id)}>{label}</button>)}
        </span>
      </h2>
      <Align by={by} way={way} onStretch={(ns) => (slot.value = slotAt(stacks, ns))} />
      <div class={`drawn ${way?.b ? "aligned" : ""}`} hidden={way?.isPossible === false} role="slider" tabIndex={0} aria-label={`${chosen.title} over time`} aria-valuemin={0} aria-valuemax={stacks.slots - 1} aria-valuenow={slot.value ?? 0}
        aria-valuetext={slot.value === null ? "no slot" : slotWords(stacks, slot.value, value, way)} onKeyDown={keys} onPointerMove={point} onPointerLeave={leave} onBlur={leave}>
        <canvas ref={canvas} />
      </div>
      <ul class="key" hidden={way?.isPossible === false}>
        {stacks.rows.map((row) => <li key={row.key}><span class="swatch" style={{ backgroundColor: row.colour }} />{row.name}</li>)}
        {stacks.rows.length === 0 && <li class="soft">{kind.value === "avoidable" ? "No avoidable time in either run." : "Nothing to show."}</li>}
      </ul>
      {slot.value !== null && place.value && <Tip stacks={stacks} slot={slot.value} place={place.value} value={value} way={way} />}
    </section>
  );
}

type Way = Aligned<CourseOfSide> | null;

/** The ways to put B on the clock of A, what the chosen one matched, and where B took another time. */
function Align({ by, way, onStretch }: { by: Signal<AlignBy>; way: Way; onStretch: (ns: number) => void }) {
  return (
    <div class="align">
      <span class="choice" role="group" aria-label="What puts both runs on one clock">
        {ALIGN_BY.map((each) => <button type="button" key={each} title={BY_WORDS[each].title} aria-pressed={by.value === each} onClick={() => (by.value = each)}>{BY_WORDS[each].label}</button>)}
      </span>
      <p class={way?.isPossible === false ? "impossible" : "soft"} role="status">{way?.isPossible === false ? `The runs cannot be aligned by ${by.value}. ` : ""}{way?.reason}</p>
      {way && way.stretches.length > 0 && (
        <ol class="stretches" aria-label="Where B took another time">
          {way.stretches.map((stretch) => (
            <li key={`${stretch.aFromNs} ${stretch.sentence}`}>
              <button type="button" title="Show where it begins" onClick={() => onStretch(stretch.aFromNs)}>{stretch.sentence.replaceAll(" %", "\u00a0%")}</button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** The turn or phase of a slot, and B's own time there. */
function own(stacks: Stacks, slot: number, way: Way): string | null {
  if (!way?.b) return null;
  const mark = markAt(way, (slot + 0.5) * stacks.widthNs);
  return `${mark === null ? "" : `${way.by} ${mark}, `}B at ${clock(way.ownNs[slot] ?? 0)}, ${roundDuration((way.ownNs[slot + 1] ?? 0) - (way.ownNs[slot] ?? 0))}`;
}

function Tip({ stacks, slot, place, value, way }: { stacks: Stacks; slot: number; place: { x: number; y: number }; value: (n: number) => string; way: Way }) {
  const rows = slotRows(stacks, slot);
  const inB = own(stacks, slot, way);
  const beside = place.x < innerWidth / 2 ? { left: `${place.x + 12}px` } : { right: `${innerWidth - place.x + 12}px` };
  return (
    <div class="tip" style={{ top: `${place.y + 8}px`, bottom: "auto", ...beside }}>
      <table>
        <thead><tr><th scope="col">{clock(slot * stacks.widthNs)}, {roundDuration(stacks.widthNs)}</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
        <tbody>
          {rows.slice(0, TIP_ROWS).map(({ row, a, b }) => (
            <tr key={row.key}><td><span class="swatch" style={{ backgroundColor: row.colour }} />{row.name}</td><td>{value(a)}</td><td>{value(b)}</td></tr>
          ))}
          {rows.length === 0 && <tr><td>nothing</td><td /><td /></tr>}
        </tbody>
      </table>
      {inB !== null && <div>{inB}</div>}
      {rows.length > TIP_ROWS && <div>and {rows.length - TIP_ROWS} more</div>}
    </div>
  );
}

function slotWords(stacks: Stacks, slot: number, value: (n: number) => string, way: Way): string {
  const rows = slotRows(stacks, slot).slice(0, 4).map(({ row, a, b }) => `${row.name} ${value(a)} in A, ${value(b)} in B`);
  const inB = own(stacks, slot, way);
  return `${clock(slot * stacks.widthNs)}${inB === null ? "" : ` (${inB})`}: ${rows.join("; ") || "nothing"}`;
}

function rowsOf(kind: Kind, { comparison, a, b }: Compared, shade: "light" | "dark"): StackRow[] {
  const row = (key: string, name: string, colour: string, values: "calls" | "parts" | "avoidable", ofA: number, ofB: number): StackRow => ({
    key, name, colour, a: slotsOf(a[values], ofA, a.slots), b: slotsOf(b[values], ofB, b.slots),
  });
  switch (kind) {
    case "calls":
      // Functions with most calls are at the bottom, or they would hide the others.
      return [...comparison.functions]
        .sort((one, other) => (other.calls.a ?? 0) + (other.calls.b ?? 0) - (one.calls.a ?? 0) - (one.calls.b ?? 0))
        .map(({ id, name, family }) => row(name, name, colourOf(name, family)[shade], "calls", a.functions.indexOf(id), b.functions.indexOf(id)));
    case "time":
      return PARTS.map((part, at) => row(part, PART_WORDS[part], PART_TONES[part][shade], "parts", at, at));
    case "avoidable":
      return CAUSES.map((cause, at) => row(cause, CAUSE_NAMES[cause], CAUSE_COLOURS[cause][shade], "avoidable", at, at));
  }
}
