// Expected transfer times, by size: a line for messages between nodes and one for those within, both axes by their
// logarithms; below it how many samples each bin rests on.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Criteria } from "../../feed/criteria";
import { bytes, roundDuration } from "../../words";
import { binWords } from "../../words/criteria";
import { partTone } from "../causes";
import { sideways } from "../gestures";
import { useSize } from "../size";
import {
  CRITERIA_LEFT, CRITERIA_RIGHT, CRITERIA_TOP, type CriteriaChart, criteriaChart, discs, nearestPoint, type Point, sampleBars, SAMPLES_FEW, SAMPLES_PIXELS,
  SIZES_PIXELS, type Scope, steps,
} from "./criteria-layout";

const HEIGHT = 280;
/** Discs that touch say nothing more than their line. */
const DISCS_MAX = 300;
const TONES = { inter: "distance", intra: "base" } as const;

export function CriteriaPicture({ criteria }: { criteria: Criteria }) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box).value;
  const current = useSignal(0);
  const pointed = useSignal<{ x: number; y: number } | null>(null);
  const hasFocus = useSignal(false);
  const chart = criteriaChart(criteria, width, HEIGHT);
  const { points } = chart;
  const at = Math.min(current.value, points.length - 1);
  const shown = pointed.value || hasFocus.value ? points[at] : undefined;
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (by === 0 || event.shiftKey) return;
    event.preventDefault();
    current.value = Math.min(points.length - 1, Math.max(0, at + by));
  };
  return (
    <div class="criteria-box" ref={box} role="slider" tabIndex={0} aria-label="Criteria by size of messages" aria-valuemin={0} aria-valuemax={Math.max(0, points.length - 1)}
      aria-valuenow={Math.max(0, at)} aria-valuetext={points[at] ? binWords(points[at], SAMPLES_FEW) : "none"} style={{ height: `${HEIGHT}px` }}
      onKeyDown={keys} onFocus={() => (hasFocus.value = true)} onBlur={() => (hasFocus.value = false)} onPointerLeave={() => (pointed.value = null)}
      onPointerMove={(event) => {
        const { left, top } = event.currentTarget.getBoundingClientRect();
        pointed.value = { x: event.clientX - left, y: event.clientY - top };
        current.value = Math.max(0, nearestPoint(points, pointed.value.x, pointed.value.y));
      }}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <Axes chart={chart} width={width} />
          {(["intra", "inter"] as const).map((scope) => <Line key={scope} scope={scope} points={points.filter((point) => point.scope === scope)} chart={chart} />)}
          {shown && <circle class="pointed" cx={shown.x} cy={shown.y} r={5} />}
        </svg>
      )}
      {shown && <div class="tip" style={shown.x < width / 2 ? { left: `${shown.x + 12}px`, top: "8px", bottom: "auto" } : { right: `${width - shown.x + 12}px`, top: "8px", bottom: "auto" }}><div class="words"><span class="swatch" style={{ backgroundColor: partTone(TONES[shown.scope]) }} /><span>{binWords(shown, SAMPLES_FEW)}</span></div></div>}
    </div>
  );
}

function Axes({ chart: { sizes, times, bottom }, width }: { chart: CriteriaChart; width: number }) {
  const wide = Math.max(0, width - CRITERIA_LEFT - CRITERIA_RIGHT);
  return (
    <>
      {times.map(({ ns, y }) => (
        <g key={ns}>
          <rect class="line" x={CRITERIA_LEFT} y={Math.round(y)} width={wide} height={1} />
          <text x={CRITERIA_LEFT - 8} y={Math.round(y) + 4} text-anchor="end">{roundDuration(ns)}</text>
        </g>
      ))}
      {sizes.map(({ bytes: size, x }) => (
        <g key={size}>
          <rect class="line" x={Math.round(x)} y={CRITERIA_TOP} width={1} height={HEIGHT - SIZES_PIXELS - CRITERIA_TOP} />
          <text x={Math.round(x)} y={HEIGHT - 6} text-anchor="middle">{bytes(size).replace(".00", "").replace(".0", "")}</text>
        </g>
      ))}
      <rect class="edge" x={CRITERIA_LEFT} y={bottom} width={wide} height={1} />
      <rect class="edge" x={CRITERIA_LEFT} y={bottom + SAMPLES_PIXELS} width={wide} height={1} />
      <text x={CRITERIA_LEFT - 8} y={bottom + SAMPLES_PIXELS - 8} text-anchor="end">samples</text>
    </>
  );
}

function Line({ scope, points, chart }: { scope: Scope; points: readonly Point[]; chart: CriteriaChart }) {
  const stroke = partTone(TONES[scope]);
  const sure = points.filter(({ samples }) => samples >= SAMPLES_FEW);
  const unsure = points.filter(({ samples }) => samples < SAMPLES_FEW);
  return (
    <>
      <path class="criterion" d={steps(points)} style={{ stroke }} />
      {points.length <= DISCS_MAX && <>
        <path d={discs(sure, 2.5)} style={{ fill: stroke }} />
        <path class="few" d={discs(unsure, 2.5)} style={{ stroke }} />
      </>}
      <path class="samples" d={sampleBars(points, chart.samplesMost, chart.bottom + SAMPLES_PIXELS)} style={{ stroke }} />
    </>
  );
}
