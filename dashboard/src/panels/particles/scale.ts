// Heights: the logarithmic scale of ages and durations, and the lines of its grid.
import { duration } from "../../words";

export interface Scale {
  /** Below about one unit heights are linear, above it logarithmic. */
  unitNs: number;
  /** The age at the top. */
  topNs: number;
}

export const UNITS_NS: readonly number[] = [1e3, 1e6, 1e9];
/** A run that has no long calls yet is not shown larger than this. */
const LEAST_TOP_NS = 1e6;

/** The decade at or above the longest duration. */
export function topOf(longestNs: number): number {
  let topNs = LEAST_TOP_NS;
  while (topNs < longestNs) topNs *= 10;
  return topNs;
}

/** The logarithm at the top of the scale that was asked for last: particles ask for the same one many thousand times. */
const last = { unitNs: 0, topNs: 0, logTop: 1 };

/** ln(1 + top / unit). */
export function logTopOf(scale: Scale): number {
  if (scale.unitNs !== last.unitNs || scale.topNs !== last.topNs) {
    last.unitNs = scale.unitNs;
    last.topNs = scale.topNs;
    last.logTop = Math.log1p(scale.topNs / scale.unitNs);
  }
  return last.logTop;
}

/** 0 at the bottom, 1 at the top; never outside. */
export function heightOf(ageNs: number, scale: Scale): number {
  if (!(ageNs > 0)) return 0;
  const height = Math.log(1 + ageNs / scale.unitNs) / logTopOf(scale);
  return height < 1 ? height : 1;
}

export interface GridLine {
  ageNs: number;
  height: number;
  /** Empty for the fine lines between decades. */
  label: string;
}

/** Labelled decades from the top down, as many as fit without touching, and fine lines where decades are wide. */
export function gridLines(scale: Scale, heightPx: number, labelPx: number): GridLine[] {
  const lines: GridLine[] = [{ ageNs: 0, height: 0, label: "0" }];
  let abovePx = Number.POSITIVE_INFINITY;
  for (let ageNs = scale.topNs; ageNs >= 1; ageNs /= 10) {
    const height = heightOf(ageNs, scale);
    const atPx = height * heightPx;
    if (atPx < labelPx) break;
    if (abovePx - atPx < labelPx) continue;
    lines.push({ ageNs, height, label: duration(ageNs).replace(/\.0+(?= )/, "") });
    abovePx = atPx;
    const decadePx = atPx - heightOf(ageNs / 10, scale) * heightPx;
    if (decadePx < 4 * labelPx) continue;
    for (const part of [0.2, 0.5]) {
      lines.push({ ageNs: ageNs * part, height: heightOf(ageNs * part, scale), label: "" });
    }
  }
  return lines.sort((one, other) => one.height - other.height);
}
