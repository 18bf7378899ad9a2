// How wide an edge is and which colour it has, by what is in flight on it. The scale is the same at all times: two moments
// can be compared. Pure.

import { amountPart, amountRamp, stepOf } from "../../palette/ramps";
import type { Theme } from "../../palette/hosts";

export type Measure = "messages" | "bytes";

/** Where the scale ends. */
export const ENDS: Readonly<Record<Measure, readonly [least: number, most: number]>> = { messages: [1, 1000], bytes: [1, 2 ** 30] };
const THIN = 1.25;
const THICK = 7;

function part(amount: number, measure: Measure): number {
  const [least, most] = ENDS[measure];
  return amountPart(Math.max(least, amount), least, most);
}

export function widthOf(amount: number, measure: Measure): number {
  return THIN + (THICK - THIN) * part(amount, measure);
}

export function colourOf(amount: number, measure: Measure, theme: Theme): string {
  return amountRamp(theme)[stepOf(part(amount, measure))] ?? "";
}
