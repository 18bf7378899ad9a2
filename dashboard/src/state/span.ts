// The visible part of the run, and the ticks of its axis. Pure.

import type { Span } from "./perspective";

/** Single microseconds can be distinguished from here on; closer in there is nothing more to see. */
export const SPAN_MIN_NS = 4e3;
/** A run that has just begun still needs an axis. */
const WHOLE_MIN_NS = 1e6;

export function wholeRun(edgeNs: number): Span {
  return [0, Math.max(WHOLE_MIN_NS, edgeNs)];
}

/** A range in the words of a question; null is the whole run. */
export function askedRange(rangeNs: Span | null): { from_ns: number; to_ns: number } {
  return rangeNs ? { from_ns: Math.floor(rangeNs[0]), to_ns: Math.ceil(rangeNs[1]) } : { from_ns: 0, to_ns: Number.MAX_SAFE_INTEGER };
}

/** What is shown of a moment: a tenth of a second before it, more of a long run. It moves in steps of a quarter of that. */
export function momentOf(timeNs: number, edgeNs: number): Span {
  // In steps: a run that goes on would change it all the time.
  const width = 1e8 * 2 ** Math.max(0, Math.floor(Math.log2(edgeNs / 1e10)));
  const step = width / 4;
  const to = Math.max(width, Math.ceil(Math.min(timeNs, edgeNs) / step) * step);
  return [to - width, to];
}

export function lengthOf(span: Span): number {
  return span[1] - span[0];
}

/** Inside the run, with its length kept where that is possible; null when it is the whole run. */
export function inside(span: Span, edgeNs: number): Span | null {
  const whole = wholeRun(edgeNs);
  const length = Math.max(SPAN_MIN_NS, lengthOf(span));
  if (length >= lengthOf(whole)) return null;
  const from = Math.min(Math.max(0, span[0]), whole[1] - length);
  return [from, from + length];
}

/** `factor` under 1 zooms in; `atNs` keeps its place. */
export function zoomed(span: Span, factor: number, atNs: number, edgeNs: number): Span | null {
  const length = Math.max(SPAN_MIN_NS, lengthOf(span) * factor);
  const part = Math.min(1, Math.max(0, (atNs - span[0]) / lengthOf(span)));
  const from = atNs - part * length;
  return inside([from, from + length], edgeNs);
}

export function panned(span: Span, byNs: number, edgeNs: number): Span | null {
  return inside([span[0] + byNs, span[1] + byNs], edgeNs);
}

/** The range with some room around it. */
export function around(range: Span, edgeNs: number): Span | null {
  const margin = Math.max(SPAN_MIN_NS / 2, lengthOf(range) * 0.1);
  return inside([range[0] - margin, range[1] + margin], edgeNs);
}

/** The smallest 1, 2 or 5 times a power of ten that is not below. */
export function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999999) ?? value;
}

const SECOND_NS = 1e9;
/** Above a second, people count in minutes and hours. */
const LONG_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];

export interface Ticks {
  stepNs: number;
  /** Digits behind the second that tell two ticks apart. */
  digits: number;
  atNs: number[];
}

/** At most `most` ticks. */
export function timeTicks(span: Span, most: number): Ticks {
  const least = lengthOf(span) / Math.max(1, most);
  const long = LONG_STEPS_S.find((step) => step * SECOND_NS >= least);
  const days = Math.ceil(least / (86400 * SECOND_NS)) * 86400 * SECOND_NS;
  const stepNs = least <= SECOND_NS / 2 ? Math.max(1, nice(least)) : long === undefined ? days : long * SECOND_NS;
  const digits = stepNs >= SECOND_NS ? 0 : Math.min(9, Math.ceil(-Math.log10(stepNs / SECOND_NS) - 1e-9));
  const atNs: number[] = [];
  for (let index = Math.ceil(span[0] / stepNs); index * stepNs <= span[1]; index++) atNs.push(index * stepNs);
  return { stepNs, digits, atNs };
}
