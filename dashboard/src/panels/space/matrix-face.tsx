// Who sent how much to whom: senders by receivers, from above or as a relief. Many ranks share a row.

import { useMemo } from "preact/hooks";
import type { Pairs } from "../../feed/regions";
import { amountRamp, STEPS, stepOf } from "../../palette/ramps";
import { edgeNs } from "../../state/run";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { count, counted, sentenceOf } from "../../words";
import { type Unit, valueWords } from "../../words/metrics";
import { spanWords } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { type Area, ChartCanvas, type Hit } from "../chart/chart-canvas";
import { FieldLegend } from "./field";
import { cellsOf, MATRIX_EDGE, type MatrixValue } from "./matrix";
import { BESIDE_DIAGONAL, reliefOf } from "./relief";
import { ReliefChart } from "./relief-chart";
import { partOf, scaleOf } from "./scale";
import type { SpaceState } from "./state";

const MARGINS = { left: 96, right: 24, top: 12, bottom: 34 };
const VALUES: Record<MatrixValue, { label: string; unit: Unit }> = {
  bytes: { label: "bytes sent", unit: "bytes" }, messages: { label: "messages sent", unit: "count" }, latency: { label: "mean latency L", unit: "factor" },
};

export function MatrixFace({ store, state }: { store: Store; state: SpaceState }) {
  const { known, why, isAsking } = state.pairs.value;
  const pairs = known?.answer;
  const ranks = store.figures.value.job.ranks || store.figures.value.ranks.count;
  if (!pairs || pairs.src.length === 0 || ranks === 0) {
    return <div class="message"><h2>{isAsking ? "The messages are on their way" : "There are no messages between ranks"}</h2><p>{why ? sentenceOf(why) : "Choose a longer range of time."}</p></div>;
  }
  return <Matrix store={store} state={state} pairs={pairs} ranks={ranks} />;
}

function Matrix({ store, state, pairs, ranks }: { store: Store; state: SpaceState; pairs: Pairs; ranks: number }) {
  const of = state.matrixOf.value as MatrixValue;
  const { label, unit } = VALUES[of];
  const [ends, kind] = [state.ends.value, state.scale.value];
  const perCell = Math.ceil(ranks / MATRIX_EDGE);
  const edge = Math.ceil(ranks / perCell);
  const cells = useMemo(() => cellsOf(pairs, of, edge, perCell), [pairs, of, edge, perCell]);
  const scale = useMemo(() => scaleOf(cells.filter((value) => value > 0), ends === "most", kind === "log"), [cells, ends, kind]);
  const part = (value: number): number => (scale && value > 0 ? Math.max(0.02, partOf(scale, value)) : NaN);
  const isRelief = state.relief.value === "relief";
  const relief = useMemo(() => (isRelief ? reliefOf(edge, edge, (column, row) => part(cells[row * edge + column] ?? NaN)) : null), [isRelief, cells, scale]);
  const ranksOf = (at: number): [number, number] => [at * perCell, Math.min(ranks, (at + 1) * perCell) - 1];
  const hitOf = (cell: number): Hit | null => {
    const value = cells[cell] ?? NaN;
    if (!(value > 0)) return null;
    const [from, to] = [ranksOf(Math.floor(cell / edge)), ranksOf(cell % edge)];
    return { rank: null, ranks: from[0] === to[0] ? [from] : [from, to].sort(([one], [other]) => one - other), tip: { title: `${ranksWords([from])} to ${ranksWords([to])}`, rows: [[label, valueWords(value, unit), "a click selects both"]] } };
  };
  const choose = (hit: Hit | null): void => {
    if (hit?.ranks) store.select({ ranks: hit.ranks });
  };
  const name = `${label}, sender by receiver`;
  return (
    <>
      {relief ? (
        <ReliefChart label={name} relief={relief} columns="receiver" rows="sender" yaw={BESIDE_DIAGONAL} hit={hitOf} choose={choose} />
      ) : (
        <ChartCanvas label={name} inputs={[cells, scale, ranks, theme.value]} margins={MARGINS}
          draw={(context, area, inks) => {
            const side = squareOf(area);
            const ramp = amountRamp(theme.peek());
            const cell = side.width / edge;
            context.strokeStyle = inks.line;
            context.strokeRect(side.left + 0.5, side.top + 0.5, side.width, side.height);
            for (let at = 0; at < cells.length; at++) {
              const value = part(cells[at] ?? NaN);
              if (Number.isNaN(value)) continue;
              context.fillStyle = ramp[Math.min(STEPS, stepOf(value))] ?? "";
              context.fillRect(side.left + (at % edge) * cell, side.top + Math.floor(at / edge) * cell, Math.max(1, cell), Math.max(1, cell));
            }
            context.fillStyle = inks.soft;
            context.textBaseline = "top";
            context.fillText("receiver 0", side.left, side.top + side.height + 6);
            context.textAlign = "right";
            context.fillText(String(ranks - 1), side.left + side.width, side.top + side.height + 6);
            context.fillText("sender 0", side.left - 8, side.top);
            context.textBaseline = "bottom";
            context.fillText(String(ranks - 1), side.left - 8, side.top + side.height);
            context.textAlign = "left";
          }}
          hit={(x, y, area) => {
            const side = squareOf(area);
            const [column, row] = [Math.floor(((x - side.left) / side.width) * edge), Math.floor(((y - side.top) / side.height) * edge)];
            return column >= 0 && column < edge && row >= 0 && row < edge ? hitOf(row * edge + column) : null;
          }}
          choose={choose} />
      )}
      <FieldLegend state={state} name={label} scale={scale} unit={unit} />
      <p class="space-words" role="status">{counted(pairs.src.length, "pair", "pairs")} of ranks exchanged messages{perCell > 1 ? `; ${count(perCell)} ranks share a row` : ""}. <span class="soft">{spanWords([pairs.fromNs, Math.min(pairs.toNs, edgeNs(store.run.peek()))])}.</span> {pairs.leftOut > 0 && <span class="warn">{count(pairs.leftOut)} messages of other pairs are left out.</span>}</p>
    </>
  );
}

function squareOf({ left, top, width, height }: Area): Area {
  const side = Math.min(width, height);
  return { left: left + (width - side) / 2, top, width: side, height: side };
}
