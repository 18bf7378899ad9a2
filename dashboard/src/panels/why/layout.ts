// Where things are in the pictures of the tab Causes. Pure.

import type { Attribution, Blame, Cause, FindingsReport, Parts, Quiet } from "../../feed/found";
import { type Gaps, offNs } from "../../feed/switch";
import type { RankRanges, Span } from "../../state/perspective";
import type { RangeFigures } from "../../state/range-budgets";
import { nice } from "../../state/span";
import type { Row } from "../../words/found";
import { hasFigures } from "../../words/range";
import { ranksWords } from "../../words/regions";
import { type Scale, xOf } from "../timeline/scale";

/** A scale of shares that ended lower would make much of little. */
export const SHARE_LEAST = 0.05;

/** A row of a stacked bar with its part of the bar's length. */
export interface Segment extends Row { fraction: number }

/**
 * A bar can only show what is above nothing: rows below it stand apart, and the bar is as long as what it shows.
 */
export function stack(rows: readonly Row[]): { segments: Segment[]; apart: Row[]; shownS: number; apartS: number } {
  const shownS = rows.reduce((sum, { seconds }) => sum + Math.max(0, seconds), 0);
  const apart = rows.filter(({ seconds }) => seconds < 0);
  const segments = rows.filter(({ seconds }) => seconds >= 0).map((row) => ({ ...row, fraction: shownS > 0 ? row.seconds / shownS : 0 }));
  return { segments, apart, shownS, apartS: apart.reduce((sum, { seconds }) => sum + seconds, 0) };
}

/** The ranks' time of the stretch that was diagnosed and recorded, as the verdict took it where it says a share of it. */
export function ranksTimeS({ fromS, untilS, diagnosis: { verdict } }: FindingsReport, ranks: number, gaps: Gaps = []): number {
  if (verdict.share > 0 && verdict.avoidableS > 0) return verdict.avoidableS / verdict.share;
  return (untilS - fromS - offNs(gaps, fromS * 1e9, untilS * 1e9) / 1e9) * ranks;
}

/** What the figures that go by ranges are of. */
export interface Scope {
  /** In what they are, in words; empty where nothing else could be meant. */
  where: string;
  parts: Parts;
  causes: ReadonlyMap<Blame, number>;
  /** The cause that the verdict names. */
  top: Cause;
  ranksS: number;
  /** The stretch of the run, and its ranks; null: all. */
  spanNs: Span;
  only: RankRanges | null;
}

/** The selected range, or the whole run where there are no figures of a range. */
export function scopeOf(figures: RangeFigures, found: FindingsReport, ranks: number, gaps: Gaps = []): Scope {
  if (hasFigures(figures)) {
    const { budget: { parts, causes, verdict, fromNs, toNs }, scope: { rangeNs, ranks: only } } = figures;
    const where = [only ? `of ${ranksWords(only)}` : "", rangeNs ? "in the range" : "in the whole run"].filter(Boolean).join(" ");
    return { where, parts, causes: new Map(causes), top: verdict?.cause ?? "none", ranksS: ((toNs - fromNs - offNs(gaps, fromNs, toNs)) / 1e9) * ranksAmong(only, ranks), spanNs: [fromNs, toNs], only };
  }
  const { budget, verdict } = found.diagnosis;
  const where = figures.kind === "none" ? "" : "in the whole run";
  return { where, parts: budget, causes: new Map(verdict.causes), top: verdict.cause, ranksS: ranksTimeS(found, ranks, gaps), spanNs: [found.fromS * 1e9, found.untilS * 1e9], only: null };
}

/** How many of the job's ranks are chosen. */
export function ranksAmong(only: RankRanges | null, ranks: number): number {
  if (!only) return ranks;
  return only.reduce((sum, [first, last]) => sum + Math.max(0, Math.min(last, ranks - 1) - first + 1), 0);
}

export interface Bar {
  /** Its place in the list of stretches. */
  index: number;
  x: number;
  width: number;
  y: number;
  height: number;
  cause: Cause;
}

export interface Strip {
  bars: Bar[];
  /** Shares with a line of their own, from below. */
  lines: { share: number; y: number }[];
}

const LINES = 2;
const GAP_FROM_PIXELS = 6;
/** What is no cause, or next to nothing, is still there. */
const HEIGHT_LEAST = 2;

/** The share of the ranks' time that could be avoided in a stretch. */
export function avoidableShare(stretch: Attribution, ranks: number): number {
  const ranksS = (stretch.toS - stretch.fromS) * ranks;
  return ranksS > 0 ? Math.min(1, Math.max(0, stretch.avoidableS / ranksS)) : 0;
}

/** Stretches of the whole job as bars between `top` and `bottom`; those of regions lie across each other. */
export function strip(stretches: readonly Attribution[], ranks: number, scale: Scale, top: number, bottom: number): Strip {
  const left = xOf(scale, scale.span[0]);
  const right = left + scale.width;
  const inSight = stretches
    .map((stretch, index) => ({ stretch, index, from: xOf(scale, stretch.fromS * 1e9), to: xOf(scale, stretch.toS * 1e9) }))
    .filter(({ stretch, from, to }) => stretch.region === null && from < right && to > left);
  const most = inSight.reduce((found, { stretch }) => Math.max(found, avoidableShare(stretch, ranks)), SHARE_LEAST);
  const step = nice(most / LINES);
  const steps = Math.ceil(most / step - 1e-9);
  const yOf = (share: number): number => bottom - (share / (steps * step)) * (bottom - top);
  const bars = inSight.map(({ stretch, index, from, to }) => {
    const x = Math.max(left, from);
    const wide = Math.min(right, to) - x;
    const y = Math.min(bottom - HEIGHT_LEAST, yOf(avoidableShare(stretch, ranks)));
    return { index, x, y, width: Math.max(1, wide - (wide >= GAP_FROM_PIXELS ? 1 : 0)), height: bottom - y, cause: stretch.cause };
  });
  return { bars, lines: Array.from({ length: steps + 1 }, (_, at) => ({ share: at * step, y: yOf(at * step) })) };
}

/** Where there was network contention, as far as it is in sight. */
export function disturbed(stretches: readonly Quiet[], scale: Scale): { x: number; width: number }[] {
  const left = xOf(scale, scale.span[0]);
  const right = left + scale.width;
  return stretches
    .filter(({ isQuiet }) => !isQuiet)
    .map(({ fromS, toS }) => [Math.max(left, xOf(scale, fromS * 1e9)), Math.min(right, xOf(scale, toS * 1e9))] as const)
    .filter(([from, to]) => from < to)
    .map(([x, to]) => ({ x, width: Math.max(1, to - x) }));
}

/** The stretch of the whole job in which a time lies, else the last one before it; -1 before all. */
export function stretchAt(stretches: readonly Attribution[], timeNs: number): number {
  let found = -1;
  stretches.forEach((stretch, index) => {
    if (stretch.region === null && Math.round(stretch.fromS * 1e9) <= Math.round(timeNs)) found = index;
  });
  return found;
}

/** The stretch of the whole job in which a time lies; -1 where there is none. */
export function stretchIn(stretches: readonly Attribution[], timeNs: number): number {
  const at = stretchAt(stretches, timeNs);
  return timeNs <= (stretches[at]?.toS ?? -Infinity) * 1e9 ? at : -1;
}

/** The next stretch of the whole job in a direction; -1 when there is none. */
export function stretchBeside(stretches: readonly Attribution[], index: number, by: 1 | -1): number {
  for (let at = index + by; at >= 0 && at < stretches.length; at += by) if (stretches[at]?.region === null) return at;
  return -1;
}
