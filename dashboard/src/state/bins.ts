// What the timeline draws: counts of call starts in bins of one length, by function. From the summary of the whole run
// while that is fine enough, else from the answer to a question. Pure.

import type { TimelineAnswer } from "../feed/answer";
import type { Span } from "./perspective";
import type { Timeline } from "./run";
import { lengthOf, nice } from "./span";

export interface Bins {
  fromNs: number;
  binNs: number;
  bins: number;
  ids: readonly number[];
  /** `counts[f * bins + bin]` belongs to `ids[f]`. */
  counts: Float64Array;
}

/** A bin narrower than this is joined with its neighbours. */
const PIXELS_PER_BIN = 3;

/** This number of windows is a picture, if not the finest. */
const WINDOWS_ENOUGH = 120;

/** Whether the summary of the whole run is fine enough for a span drawn `pixels` wide; the whole run is always live. */
export function summarySuffices(timeline: Timeline, span: Span, pixels: number, whole: boolean): boolean {
  const windows = lengthOf(span) / timeline.windowNs;
  return timeline.windowNs > 0 && (windows >= pixels / PIXELS_PER_BIN / 1.3 || (whole && windows >= WINDOWS_ENOUGH));
}

/** Windows put together by powers of two: bars stay what they are while the run grows. */
export function fromSummary(timeline: Timeline, span: Span, pixels: number): Bins {
  const least = (lengthOf(span) * PIXELS_PER_BIN) / Math.max(1, pixels) / timeline.windowNs;
  const each = 2 ** Math.max(0, Math.ceil(Math.log2(least)));
  const binNs = each * timeline.windowNs;
  const first = Math.max(0, Math.floor(span[0] / binNs));
  const end = Math.min(Math.ceil(timeline.windows / each), Math.ceil(span[1] / binNs));
  const bins = Math.max(0, end - first);
  const ids = [...timeline.counts.keys()].sort((a, b) => a - b);
  const counts = new Float64Array(ids.length * bins);
  ids.forEach((id, row) => {
    const column = timeline.counts.get(id);
    if (!column) return;
    for (let bin = 0; bin < bins; bin++) {
      const start = (first + bin) * each;
      const stop = Math.min(start + each, column.length);
      let sum = 0;
      for (let window = start; window < stop; window++) sum += column[window] ?? 0;
      counts[row * bins + bin] = sum;
    }
  });
  return { fromNs: first * binNs, binNs, bins, ids, counts };
}

/** What to ask for a span: aligned to round bins, with half a span to each side for panning. */
export function question(span: Span, pixels: number, edgeNs: number): { fromNs: number; toNs: number; bins: number } {
  const binNs = Math.max(1, nice((lengthOf(span) * PIXELS_PER_BIN) / Math.max(1, pixels)));
  const margin = lengthOf(span) / 2;
  const first = Math.max(0, Math.floor((span[0] - margin) / binNs));
  const end = Math.max(first + 1, Math.ceil(Math.min(span[1] + margin, edgeNs) / binNs));
  return { fromNs: first * binNs, toNs: end * binNs, bins: end - first };
}

export function fromAnswer(answer: TimelineAnswer): Bins {
  return {
    fromNs: answer.fromNs,
    binNs: (answer.toNs - answer.fromNs) / Math.max(1, answer.bins),
    bins: answer.bins,
    ids: [...answer.functions],
    counts: answer.counts,
  };
}

/** Whether these bins cover a span (as far as the run goes) at about the right length of bins. */
export function covers(bins: Bins, span: Span, pixels: number, edgeNs: number): boolean {
  const wantedNs = Math.max(1, nice((lengthOf(span) * PIXELS_PER_BIN) / Math.max(1, pixels)));
  const fits = bins.binNs <= wantedNs * 1.01 || bins.binNs / wantedNs < 1.5;
  return fits && bins.binNs >= wantedNs / 2.6 && bins.fromNs <= span[0] && bins.fromNs + bins.bins * bins.binNs >= Math.min(span[1], edgeNs);
}

/** The highest stack of the bins that a span shows, hidden functions left out. */
export function highest(bins: Bins, span: Span, hidden: ReadonlySet<number>): number {
  const first = Math.max(0, Math.floor((span[0] - bins.fromNs) / bins.binNs));
  const end = Math.min(bins.bins, Math.ceil((span[1] - bins.fromNs) / bins.binNs));
  let most = 0;
  for (let bin = first; bin < end; bin++) {
    let sum = 0;
    for (let row = 0; row < bins.ids.length; row++) {
      if (!hidden.has(bins.ids[row] ?? -1)) sum += bins.counts[row * bins.bins + bin] ?? 0;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** The counts of one bin, most first. */
export function binCounts(bins: Bins, bin: number, hidden: ReadonlySet<number>): { id: number; calls: number }[] {
  const rows: { id: number; calls: number }[] = [];
  bins.ids.forEach((id, row) => {
    const calls = bins.counts[row * bins.bins + bin] ?? 0;
    if (calls > 0 && !hidden.has(id)) rows.push({ id, calls });
  });
  return rows.sort((a, b) => b.calls - a.calls);
}
