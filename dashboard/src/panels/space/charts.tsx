// The figures of ranks without a layout: bars by value, a histogram, two of them against each other, functions by rank.

import { RANGES_MAX, rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { count, counted, significant } from "../../words";
import { type Unit, valueWords } from "../../words/metrics";
import { amountRamp, STEPS, stepOf } from "../../palette/ramps";
import { type Area, ChartCanvas, drawAxis, type Hit } from "../chart/chart-canvas";
import { ticks } from "../chart/ticks";
import { LandscapeFace } from "./landscape";
import { MatrixFace } from "./matrix-face";
import { marks } from "./model";
import { RankTable } from "./rank-table";
import { NONE } from "./choices";
import { partOf, type Scale, scaleOf } from "./scale";
import type { SpaceState } from "./state";
import { binned, binOf, crowdsOf, dotsOf, fitOf, ordered } from "./statistics";
import { labelOf, type Restriction, unitOf, whenWords } from "./words";

const MARGINS = { left: 76, right: 32, top: 16, bottom: 36 };

export function Charts({ store, state }: { store: Store; state: SpaceState }) {
  const face = state.face.value;
  const of = state.of.value;
  if (face === "landscape") return <LandscapeFace store={store} state={state} />;
  if (face === "matrix") return <MatrixFace store={store} state={state} />;
  if (face === "table") return <RankTable store={store} state={state} />;
  const values = state.values(state.color.value);
  const { known, why, isAsking } = state.metrics.value;
  const missing = [why, state.missing(state.color.value), face === "scatter" ? state.missing(state.other.value) : ""].find(Boolean);
  const isThere = values && (face !== "scatter" || state.values(state.other.value));
  if (!isThere) {
    return <div class="message"><h2>{isAsking && !missing ? "The figures are on their way" : "There are no such figures"}</h2><p>{missing ? `${labelOf(state.color.value, of)}: ${missing.replace(/\.$/, "")}.` : "They are read from the recording."}</p></div>;
  }
  const shared = { store, state, values, of };
  return (
    <>
      {face === "bars" && <Bars {...shared} />}
      {face === "histogram" && <Histogram {...shared} />}
      {face === "scatter" && <Scatter {...shared} />}
      <p class="space-words" role="status"><Sentence {...shared} /> {known && <span class="soft">{whenWords(known.scope, known.answer)}</span>}</p>
    </>
  );
}

function baseOf(unit: Unit | null): number {
  return unit === "bytes" ? 1024 : 10;
}

/** Of a logarithmic axis powers of ten, or of two where there are few. */
function ticksOf(scale: Scale, unit: Unit | null): number[] {
  if (!scale.isLog || !(scale.high > scale.low)) return ticks(scale.least, scale.most, 6, baseOf(unit));
  const tens = Math.log10(scale.high / scale.low);
  const base = tens >= 2 ? 10 ** Math.ceil(tens / 6) : 2 ** Math.ceil((tens / 6) * Math.log2(10));
  const found: number[] = [];
  for (let at = base ** Math.ceil(Math.log(scale.low) / Math.log(base)); at <= scale.high; at *= base) found.push(at);
  return found.length > 1 ? found : [scale.low, scale.high];
}

interface FaceProps { store: Store; state: SpaceState; values: Float64Array; of: Restriction }

function Sentence({ state, values, of }: FaceProps) {
  const id = state.color.value;
  const scale = scaleOf(values, false, false);
  const words = (value: number): string => valueWords(value, unitOf(id));
  if (!scale) return <>No rank has this figure.</>;
  const other = state.face.value === "scatter" ? state.values(state.other.value) : null;
  const fit = other && fitOf(values, other);
  if (other) {
    return <>{counted(scale.known, "rank", "ranks")}; {labelOf(id, of)} and {labelOf(state.other.value, of)}: {fit ? `correlation ${fit.correlation.toFixed(2).replace("-", "\u2212")}.` : "one of the two is the same for all ranks, so there is no correlation."}</>;
  }
  return <>{counted(scale.known, "rank", "ranks")}; {labelOf(id, of)}: {words(scale.least)} to {words(scale.most)}, mean {words(scale.mean)}, standard deviation {words(scale.deviation)}.</>;
}

function pick(store: Store): (hit: Hit | null) => void {
  return (hit) => {
    if (hit?.ranks && hit.ranks.length <= RANGES_MAX) store.select({ ranks: hit.ranks });
    else if (hit?.rank !== undefined && hit.rank !== null) store.selection.value = { kind: "rank", rank: hit.rank };
    else if (!hit) store.selection.value = null;
  };
}

function isShown(store: Store, ranks: number): (rank: number) => boolean {
  const chosen = store.perspective.peek().ranks;
  const found = chosen && marks(chosen, ranks);
  return (rank) => !found || found[rank] === 1;
}

function Bars({ store, state, values, of }: FaceProps) {
  const id = state.color.value;
  const unit = unitOf(id);
  const order = ordered(values);
  const scale = scaleOf(values, false, false);
  const selected = store.selection.value?.kind === "rank" ? store.selection.value.rank : -1;
  const top = Math.max(0, scale?.most ?? 0);
  const rankAt = (x: number, { left, width }: Area): number => order[Math.floor(((x - left) / width) * order.length)] ?? -1;
  return (
    <ChartCanvas label={`Bars of ${labelOf(id, of)}, the greatest first`} inputs={[values, store.perspective.value.ranks, selected]} margins={MARGINS}
      draw={(context, area, inks) => {
        const placeOf = (value: number): number => area.top + area.height * (1 - (top > 0 ? value / top : 0));
        drawAxis(context, area, inks, ticks(0, top, 6, baseOf(unit)), placeOf, (value) => valueWords(value, unit), true);
        const shown = isShown(store, values.length);
        const wide = area.width / Math.max(1, order.length);
        order.forEach((rank, at) => {
          context.fillStyle = rank === selected ? inks.accent : shown(rank) ? inks.fill : inks.bar;
          const y = placeOf(values[rank] ?? 0);
          context.fillRect(area.left + at * wide, y, Math.max(1, wide - (wide > 4 ? 1 : 0)), area.top + area.height - y);
        });
        if (!scale) return;
        for (const [value, dash] of [[scale.mean, []], [scale.mean + scale.deviation, [4, 4]], [scale.mean - scale.deviation, [4, 4]]] as const) {
          if (value < 0 || value > top) continue;
          context.setLineDash([...dash]);
          context.strokeStyle = inks.text;
          context.lineWidth = 1;
          context.beginPath();
          context.moveTo(area.left, placeOf(value));
          context.lineTo(area.left + area.width, placeOf(value));
          context.stroke();
        }
        context.setLineDash([]);
        context.fillStyle = inks.soft;
        context.textBaseline = "top";
        context.textAlign = "right";
        context.fillText("line: mean; dashed: one standard deviation", area.left + area.width, area.top + area.height + 8);
        context.textAlign = "left";
        context.fillText(`${count(order.length)} ranks, the greatest first`, area.left, area.top + area.height + 8);
      }}
      hit={(x, _, area) => {
        const rank = rankAt(x, area);
        if (rank < 0 || x < area.left) return null;
        return { rank, ranks: null, tip: { title: `Rank ${rank}`, rows: [[labelOf(id, of), valueWords(values[rank] ?? NaN, unit), ""], ["place", `${count(order.indexOf(rank) + 1)} of ${count(order.length)}`, ""]] } };
      }}
      choose={pick(store)}
      enclose={([from], [to], area) => {
        const [first, last] = [from, to].map((x) => Math.min(order.length - 1, Math.max(0, Math.floor(((x - area.left) / area.width) * order.length)))).sort((one, other) => one - other) as [number, number];
        const ranks = rangesOf(order.slice(first, last + 1));
        if (ranks.length <= RANGES_MAX) store.select({ ranks });
      }} />
  );
}

const BIN_PIXELS_MIN = 2;

function Histogram({ store, state, values, of }: FaceProps) {
  const id = state.color.value;
  const unit = unitOf(id);
  const scale = scaleOf(values, false, false);
  if (!scale) return null;
  const bins = binned(values, scale, Math.min(100, Math.max(1, Number(state.bins.value))));
  const most = Math.max(1, ...bins.counts);
  const binAt = (x: number, { left, width }: Area): number => Math.floor(((x - left) / width) * bins.counts.length);
  const ends = (bin: number): string => `${valueWords(bins.from + bin * bins.width, unit)} to ${valueWords(bins.from + (bin + 1) * bins.width, unit)}`;
  const ranksOf = (bin: number): [number, number][] => rangesOf([...values.keys()].filter((rank) => binOf(values[rank] ?? NaN, bins.from, bins.width, bins.counts.length) === bin));
  return (
    <ChartCanvas label={`How many ranks have which ${labelOf(id, of)}`} inputs={[values, bins.counts.length]} margins={MARGINS}
      draw={(context, area, inks) => {
        const placeOf = (value: number): number => area.top + area.height * (1 - value / most);
        drawAxis(context, area, inks, ticks(0, most, 5).filter(Number.isInteger), placeOf, (value) => `${count(value)}`, true);
        const wide = area.width / bins.counts.length;
        context.fillStyle = inks.fill;
        bins.counts.forEach((number, bin) => {
          // Few ranks among many are what is looked for.
          const high = number > 0 ? Math.max(BIN_PIXELS_MIN, area.top + area.height - placeOf(number)) : 0;
          context.fillRect(area.left + bin * wide, area.top + area.height - high, Math.max(1, wide - 1), high);
        });
        const across = (value: number): number => area.left + (scale.most > scale.least ? ((value - scale.least) / (scale.most - scale.least)) * area.width : area.width / 2);
        drawAxis(context, { ...area, top: area.top + area.height, height: 4 }, inks, ticks(scale.least, scale.most, 6, baseOf(unit)), across, (value) => valueWords(value, unit), false);
      }}
      hit={(x, _, area) => {
        const bin = binAt(x, area);
        const number = bins.counts[bin];
        if (number === undefined || x < area.left) return null;
        return { rank: null, ranks: number > 0 ? ranksOf(bin) : null, tip: { title: ends(bin), rows: [["ranks", count(number), number > 0 ? "a click selects them" : ""]] } };
      }}
      choose={pick(store)} />
  );
}

/** How many times as large the largest dot is. */
const DOT_GROWS = 4;
/** Smaller ones are squares, which nobody sees. */
const ROUND_PIXELS = 2.5;
/** What lies at the ends is whole. */
const INSET = 6;

function Scatter({ store, state, values, of }: FaceProps) {
  const up = state.values(state.other.value);
  const [across, upright] = [scaleOf(values, false, state.acrossScale.value === "log"), up && scaleOf(up, false, state.upScale.value === "log")];
  const [tones, sizes] = [state.dotColor, state.dotSize].map(({ value }) => (value === NONE ? null : state.values(value))) as [Float64Array | null, Float64Array | null];
  const [toneScale, sizeScale] = [tones && scaleOf(tones, state.ends.value === "most", false), sizes && scaleOf(sizes, state.ends.value === "most", false)];
  if (!up || !across || !upright) return null;
  const [unit, otherUnit] = [unitOf(state.color.value), unitOf(state.other.value)];
  const fit = fitOf(values, up);
  const xOf = (value: number, { left, width }: Area): number => left + INSET + partOf(across, value) * (width - 2 * INSET);
  const yOf = (value: number, { top, height }: Area): number => top + INSET + (1 - partOf(upright, value)) * (height - 2 * INSET);
  const selected = store.selection.value?.kind === "rank" ? store.selection.value.rank : -1;
  return (
    <ChartCanvas label={`${labelOf(state.color.value, of)} and ${labelOf(state.other.value, of)} of each rank`} inputs={[values, up, tones, sizes, across.isLog, upright.isLog, store.perspective.value.ranks, selected, theme.value]} margins={MARGINS}
      draw={(context, area, inks) => {
        drawAxis(context, area, inks, ticksOf(upright, otherUnit), (value) => yOf(value, area), (value) => valueWords(value, otherUnit), true);
        drawAxis(context, area, inks, ticksOf(across, unit), (value) => xOf(value, area), (value) => valueWords(value, unit), false);
        const shown = isShown(store, values.length);
        const crowds = crowdsOf(values, up, (value) => xOf(value, area), (value) => yOf(value, area));
        const ramp = amountRamp(theme.peek());
        const ink = ramp[stepOf(0.25) % (STEPS + 1)] ?? inks.fill;
        for (let rank = 0; rank < values.length; rank++) {
          const [x, y] = [values[rank] ?? NaN, up[rank] ?? NaN];
          if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
          const tone = tones && toneScale ? (ramp[Math.min(STEPS, stepOf(partOf(toneScale, tones[rank] ?? NaN)))] ?? ink) : ink;
          const part = sizes && sizeScale ? partOf(sizeScale, sizes[rank] ?? NaN) : NaN;
          const dots = dotsOf(values.length, crowds[rank] ?? 1);
          context.globalAlpha = dots.opacity;
          const dot = dots.pixels * (Number.isNaN(part) ? 1 : 1 + part * (DOT_GROWS - 1));
          context.fillStyle = shown(rank) ? tone : inks.line;
          if (dot < ROUND_PIXELS) context.fillRect(xOf(x, area) - dot / 2, yOf(y, area) - dot / 2, dot, dot);
          else {
            context.beginPath();
            context.arc(xOf(x, area), yOf(y, area), dot / 2, 0, 2 * Math.PI);
            context.fill();
          }
        }
        context.globalAlpha = 1;
        // A line is one only where both axes are linear.
        if (fit && !across.isLog && !upright.isLog) {
          context.save();
          context.beginPath();
          context.rect(area.left, area.top, area.width, area.height);
          context.clip();
          context.strokeStyle = inks.accent;
          context.lineWidth = 1.5;
          context.beginPath();
          // The line may leave the plot, where the scale would bend it.
          const lineY = (value: number): number => area.top + INSET + (area.height - 2 * INSET) * (1 - (value - upright.low) / Math.max(upright.high - upright.low, Number.MIN_VALUE));
          context.moveTo(area.left + INSET, lineY(fit.offset + fit.slope * across.low));
          context.lineTo(area.left + area.width - INSET, lineY(fit.offset + fit.slope * across.high));
          context.stroke();
          context.restore();
        }
        if (selected >= 0 && Number.isFinite(values[selected]) && Number.isFinite(up[selected])) {
          context.strokeStyle = inks.accent;
          context.lineWidth = 2;
          context.beginPath();
          context.arc(xOf(values[selected] ?? 0, area), yOf(up[selected] ?? 0, area), 6, 0, 2 * Math.PI);
          context.stroke();
        }
      }}
      hit={(x, y, area) => {
        let [found, away] = [-1, 64];
        for (let rank = 0; rank < values.length; rank++) {
          const squared = (xOf(values[rank] ?? NaN, area) - x) ** 2 + (yOf(up[rank] ?? NaN, area) - y) ** 2;
          if (squared < away) [found, away] = [rank, squared];
        }
        if (found < 0) return null;
        const residual = fit ? (up[found] ?? 0) - (fit.offset + fit.slope * (values[found] ?? 0)) : NaN;
        return {
          rank: found, ranks: null, tip: {
            title: `Rank ${found}`, rows: [
              [labelOf(state.color.value, of), valueWords(values[found] ?? NaN, unit), ""], [labelOf(state.other.value, of), valueWords(up[found] ?? NaN, otherUnit), ""],
              ...(Number.isFinite(residual) ? [["off the line by", residual < 0 ? `\u2212${valueWords(-residual, otherUnit)}` : valueWords(residual, otherUnit), `correlation ${significant(fit?.correlation ?? 0)}`] as const] : []),
            ],
          },
        };
      }}
      choose={pick(store)}
      enclose={([x1, y1], [x2, y2], area) => {
        const found = [...values.keys()].filter((rank) => {
          const [x, y] = [xOf(values[rank] ?? NaN, area), yOf(up[rank] ?? NaN, area)];
          return x >= Math.min(x1, x2) && x <= Math.max(x1, x2) && y >= Math.min(y1, y2) && y <= Math.max(y1, y2);
        });
        const ranks = rangesOf(found);
        if (ranks.length <= RANGES_MAX) store.select({ ranks: ranks.length > 0 ? ranks : null });
      }} />
  );
}
