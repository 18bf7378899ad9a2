// Shapes of the three views: areas, columns and lines over windows. Pure; no coordinate is ever not a number.

import type { Courses } from "../../feed/courses";
import { nice } from "../../state/span";
import { type Scale, xOf } from "../timeline/scale";

/** Lines stand at round values. */
const LINES = 3;
/** Scales that ended lower would make much of little. */
const UNEVEN_LEAST = 0.1;
const SLOW_LEAST = 2;
const LOAD_LEAST = 4;

export interface Axis { values: number[]; most: number }

/** An axis from 0 to at least so much. */
export function axis(most: number, least: number): Axis {
  const step = nice(Math.max(most, least, 1e-9) / LINES);
  const steps = Math.max(1, Math.ceil(Math.max(most, least) / step - 1e-9));
  return { values: Array.from({ length: steps + 1 }, (_, at) => at * step), most: steps * step };
}

const most = (column: ArrayLike<number>): number => {
  let found = 0;
  for (let at = 0; at < column.length; at++) found = Math.max(found, column[at] || 0);
  return found;
};

export function countAxis({ inter, intra }: Courses): Axis {
  return axis(most(inter.map((value, at) => value + (intra[at] ?? 0))), LINES);
}

export function unevenAxis({ uneven }: Courses): Axis {
  return axis(most(uneven), UNEVEN_LEAST);
}

export function slowAxis({ slow }: Courses): Axis {
  return axis(most(slow), SLOW_LEAST);
}

/** The greatest load on the scale of colours: a power of two, which seldom changes while a run goes on. */
export function loadMost({ greatestLoad }: Courses): number {
  return 2 ** Math.ceil(Math.log2(Math.max(LOAD_LEAST, most(greatestLoad))));
}

export interface Column { window: number; x: number; width: number }

/** Where windows are, as far as they are in sight. */
export function columns({ fromNs, widthNs, windows }: Courses, scale: Scale): Column[] {
  const left = xOf(scale, scale.span[0]);
  const right = left + scale.width;
  const found: Column[] = [];
  for (let window = 0; window < windows; window++) {
    const x = Math.max(left, xOf(scale, fromNs + window * widthNs));
    const end = Math.min(right, xOf(scale, fromNs + (window + 1) * widthNs));
    if (end > left && x < right && end > x) found.push({ window, x, width: end - x });
  }
  return found;
}

/** The window at a time; -1 where there is none. */
export function windowAt({ fromNs, widthNs, windows }: Courses, ns: number): number {
  const window = Math.floor((ns - fromNs) / widthNs);
  return window >= 0 && window < windows ? window : -1;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** A stepped area between two heights of each window. */
export function area(all: readonly Column[], topOf: (window: number) => number, bottomOf: (window: number) => number): string {
  const [first] = all;
  if (!first) return "";
  const there = all.map(({ window, x, width }) => `H${round(x)}V${round(topOf(window))}H${round(x + width)}`).join("");
  const back = [...all].reverse().map(({ window, x, width }) => `H${round(x + width)}V${round(bottomOf(window))}H${round(x)}`).join("");
  return `M${round(first.x)} ${round(bottomOf(first.window))}${there}${back}Z`;
}

/** A line through the middles of windows, broken where there is no value; a value alone is a short dash. */
export function line(all: readonly Column[], valueOf: (window: number) => number, y: (value: number) => number): string {
  let path = "";
  let isOpen = false;
  all.forEach(({ window, x, width }, at) => {
    const value = valueOf(window);
    if (Number.isNaN(value)) {
      isOpen = false;
      return;
    }
    const next = all[at + 1];
    const isAlone = !isOpen && (!next || Number.isNaN(valueOf(next.window)));
    const height = round(y(value));
    path += isAlone ? `M${round(x)} ${height}H${round(x + Math.max(2, width))}` : `${isOpen ? "L" : "M"}${round(x + width / 2)} ${height}`;
    isOpen = true;
  });
  return path;
}
