// How steadily messages take what they take: by size, for the mean of that size over the range. The calmest size is grey.

import { useSignal } from "@preact/signals";
import type { Courses } from "../../feed/courses";
import { amountRamp, stepOf } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { counted, duration, significant } from "../../words";
import { backgroundSentence, sizeWords, spread } from "../../words/courses";
import { type Chart, TimeChart, ValueLines } from "../chart/time-chart";
import { columns, line, slowAxis, windowAt } from "./course-layout";
import { windowWords } from "./course-tip";
import type { ViewProps } from "./views";

const HEIGHT = 132;

export function BackgroundView({ store, found: { seen, chosen } }: ViewProps) {
  const marked = useSignal<number | null>(null);
  const axis = slowAxis(seen);
  const yOf = (chart: Chart, value: number): number => chart.bottom - (value / axis.most) * (chart.bottom - chart.top);
  const valueOf = (size: number, window: number): number => seen.slow[size * seen.windows + window] ?? Number.NaN;
  const isWithin = seen.sizes.length > 0 && seen.sizes.every(({ isInter }) => !isInter);
  const mark = (size: number | null) => (): void => void (marked.value = size);
  return (
    <div class="view">
      <h3>Network contention: what messages {isWithin ? "within" : "between"} nodes take, by size</h3>
      <p>{backgroundSentence(chosen)}</p>
      <ul class={`legend small ${marked.value === null ? "" : "marks"}`} aria-label="Sizes">
        {seen.sizes.map((size, at) => (
          <li key={size.fromBytes}>
            <button type="button" class={marked.value === at ? "marked" : ""} onPointerEnter={mark(at)} onPointerLeave={mark(null)} onFocus={mark(at)} onBlur={mark(null)} title={sizeTitle(seen, at)} aria-label={`${sizeWords(size)}: ${sizeTitle(seen, at)}`}>
              <span class="swatch" style={{ backgroundColor: sizeColour(seen, at) }} />{sizeWords(size)}{at === seen.calmest && <span class="soft"> calmest</span>}
            </button>
          </li>
        ))}
        {seen.sizes.length > 0 && <li class="soft">1 is the mean of the size over what is drawn; a line breaks where there was no message</li>}
      </ul>
      <TimeChart store={store} height={HEIGHT} label={`What messages of each size took in each window of ${duration(seen.widthNs)}, for their mean. ${backgroundSentence(chosen)}`}
        draw={(chart) => {
          const all = columns(seen, chart.scale);
          // The grey one lies below the others, what is pointed at above.
          const order = seen.sizes.map((_, at) => at).sort((one, other) => rankOf(seen, one, marked.value) - rankOf(seen, other, marked.value));
          return (
            <>
              <ValueLines chart={chart} values={axis.values.filter((value) => value !== 1)} y={(value) => yOf(chart, value)} words={(value) => String(Number(value.toPrecision(3)))} />
              <rect class="edge" x={chart.clamp(chart.scale.span[0])} y={Math.round(yOf(chart, 1))} width={chart.scale.width} height={1} />
              <text x={chart.clamp(chart.scale.span[0]) - 8} y={Math.round(yOf(chart, 1)) + 4} text-anchor="end">1</text>
              {order.map((at) => (
                <path key={at} class={`course ${marked.value === null || marked.value === at ? "" : "dim"} ${marked.value === at ? "marked" : ""}`} d={line(all, (window) => valueOf(at, window), (value) => yOf(chart, value))} style={{ stroke: sizeColour(seen, at) }} />
              ))}
            </>
          );
        }}
        tip={(ns) => {
          const window = windowAt(seen, ns);
          if (window < 0) return null;
          return (
            <>
              <div>{windowWords(seen, window)}</div>
              {seen.sizes.map((size, at) => {
                const value = valueOf(at, window);
                return <div key={size.fromBytes}><span class="swatch" style={{ backgroundColor: sizeColour(seen, at) }} />{sizeWords(size)}<span>{Number.isNaN(value) ? "no message" : `${significant(value)} times its mean`}</span></div>;
              })}
            </>
          );
        }} />
    </div>
  );
}

function rankOf({ calmest }: Courses, size: number, marked: number | null): number {
  return size === marked ? 2 : size === calmest ? 0 : 1;
}

/** From small to large; the calmest has no colour. */
function sizeColour({ sizes, calmest }: Courses, size: number): string {
  if (size === calmest) return "var(--edge)";
  const order = sizes.map((_, at) => at).filter((at) => at !== calmest).sort((one, other) => (sizes[one]?.fromBytes ?? 0) - (sizes[other]?.fromBytes ?? 0));
  return amountRamp(theme.value)[stepOf(order.length > 1 ? order.indexOf(size) / (order.length - 1) : 0.5)] ?? "";
}

function sizeTitle(courses: Courses, size: number): string {
  const found = spread(courses, size);
  const messages = counted(courses.sizes[size]?.messages ?? 0, "message", "messages");
  return found ? `${messages}, ${significant(found.least)} to ${significant(found.most)} times their mean` : messages;
}
