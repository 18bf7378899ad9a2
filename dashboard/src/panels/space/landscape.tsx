// Functions by ranks: how long each rank was in which function, as a map of heat. Many ranks share a row.

import { useMemo } from "preact/hooks";
import type { Landscape } from "../../feed/ranks";
import { amountRamp, STEPS, stepOf } from "../../palette/ramps";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { counted, sentenceOf } from "../../words";
import { valueWords } from "../../words/metrics";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { type Area, ChartCanvas, type Hit } from "../chart/chart-canvas";
import { FieldLegend } from "./field";
import { reliefOf } from "./relief";
import { ReliefChart } from "./relief-chart";
import { partOf, type Scale, scaleOf } from "./scale";
import type { SpaceState } from "./state";

const MARGINS = { left: 168, right: 16, top: 12, bottom: 30 };
/** Functions with less time than these have no place. */
const FUNCTIONS_MAX = 40;

export function LandscapeFace({ store, state }: { store: Store; state: SpaceState }) {
  const { known, why, isAsking } = state.landscape.value;
  const map = known?.answer ?? null;
  if (!map || map.function.length === 0) {
    return <div class="message"><h2>{isAsking ? "The landscape is on its way" : "There is no landscape"}</h2><p>{why ? sentenceOf(why) : "It is summed up from the calls of the range."}</p></div>;
  }
  return <Field store={store} state={state} map={map} />;
}

function Field({ store, state, map }: { store: Store; state: SpaceState; map: Landscape }) {
  const [ends, kind] = [state.ends.value, state.scale.value];
  const functions = Math.min(FUNCTIONS_MAX, map.function.length);
  const scale = useMemo(() => scaleOf(map.seconds.subarray(0, functions * map.rows), ends === "most", kind === "log"), [map, ends, kind]);
  const isRelief = state.relief.value === "relief";
  const relief = useMemo(() => (isRelief && scale ? reliefOf(map.rows, functions, (row, at) => {
    const value = map.seconds[at * map.rows + row] ?? 0;
    return value > 0 ? Math.max(0.01, partOf(scale, value)) : NaN;
  }) : null), [isRelief, map, scale]);
  const name = (at: number): string => store.run.peek().functions.get(map.function[at] ?? 0)?.name ?? `function ${map.function[at] ?? 0}`;
  const cellAt = (x: number, y: number, { left, top, width, height }: Area): number | null => {
    const row = Math.floor(((x - left) / width) * map.rows);
    const at = Math.floor(((y - top) / height) * functions);
    return row >= 0 && row < map.rows && at >= 0 && at < functions ? at * map.rows + row : null;
  };
  const ranksOf = (row: number): [number, number] => [row * map.ranksPerRow, Math.min(store.run.peek().job.ranks || Infinity, (row + 1) * map.ranksPerRow) - 1];
  const hitOf = (cell: number): Hit => {
    const [first, last] = ranksOf(cell % map.rows);
    const value = map.seconds[cell] ?? 0;
    return { rank: first === last ? first : null, ranks: first === last ? null : [[first, last]], tip: { title: name(Math.floor(cell / map.rows)), rows: [[ranksWords([[first, last]]), valueWords(value, "time"), first === last ? "" : "mean of a rank"]] } };
  };
  const choose = (hit: Hit | null): void => {
    if (hit?.ranks) store.select({ ranks: hit.ranks });
    else if (hit && hit.rank !== null) store.selection.value = { kind: "rank", rank: hit.rank };
  };
  return (
    <>
      {relief ? <ReliefChart label="Time by function and rank" relief={relief} columns="rank" rows={Array.from({ length: functions }, (_, at) => name(at))} hit={hitOf} choose={choose} /> : <ChartCanvas label="Time by function and rank" inputs={[map, scale, theme.value]} margins={MARGINS}
        draw={(context, area, inks) => {
          paint(context, area, map, functions, scale);
          context.fillStyle = inks.text;
          context.textAlign = "right";
          context.textBaseline = "middle";
          const high = area.height / functions;
          const every = Math.max(1, Math.ceil(14 / high));
          for (let at = 0; at < functions; at += every) context.fillText(name(at), area.left - 8, area.top + (at + 0.5) * high, area.left - 12);
          context.fillStyle = inks.soft;
          context.textBaseline = "top";
          context.textAlign = "left";
          context.fillText("rank 0", area.left, area.top + area.height + 8);
          context.textAlign = "right";
          context.fillText(`rank ${ranksOf(map.rows - 1)[1]}`, area.left + area.width, area.top + area.height + 8);
          context.textAlign = "left";
        }}
        hit={(x, y, area) => {
          const cell = cellAt(x, y, area);
          return cell === null ? null : hitOf(cell);
        }}
        choose={choose} />}
      <FieldLegend state={state} name="time of a rank in the function" scale={scale} unit="time" />
      <p class="space-words" role="status">{counted(map.function.length, "function", "functions")}, {counted(map.rows, "column", "columns")} of {counted(map.ranksPerRow, "rank", "ranks")}. <span class="soft">{spanWords([map.fromNs, map.toNs])}.</span></p>
    </>
  );
}

function paint(context: CanvasRenderingContext2D, { left, top, width, height }: Area, map: Landscape, functions: number, scale: Scale | null): void {
  const ramp = amountRamp(theme.peek());
  const [wide, high] = [width / map.rows, height / functions];
  for (let at = 0; at < functions; at++) {
    for (let row = 0; row < map.rows; row++) {
      const value = map.seconds[at * map.rows + row] ?? 0;
      if (!(value > 0) || !scale) continue;
      context.fillStyle = ramp[Math.min(STEPS, stepOf(partOf(scale, value)))] ?? "";
      context.fillRect(left + row * wide, top + at * high, Math.max(1, wide), Math.max(1, high - (high > 6 ? 1 : 0)));
    }
  }
}
