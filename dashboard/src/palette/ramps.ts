// Colour scales of numbers: latency L, how much longer a message took than one of its size usually does (blue below 1,
// near-grey at 1, red from 4 on), and amounts on a logarithmic scale. Even: equal steps look equally far apart.

import { hexOf, oklch } from "./colour";

type Theme = "dark" | "light";
type Tone = readonly [lightness: number, chroma: number, hueDegrees: number];

/** Both ends are equally far from the middle; on the way the hue stays, and lightness and chroma go straight. */
const LATENCY: Readonly<Record<Theme, { low: Tone; middle: Tone; high: Tone }>> = {
  dark: { low: [0.72, 0.15, 248], middle: [0.53, 0.004, 250], high: [0.69, 0.182, 27] },
  light: { low: [0.47, 0.186, 260], middle: [0.62, 0.004, 250], high: [0.49, 0.2, 28] },
};
/** From little to much. */
const AMOUNT: Readonly<Record<Theme, readonly [from: Tone, to: Tone]>> = {
  dark: [[0.52, 0.12, 285], [0.95, 0.14, 105]],
  light: [[0.645, 0.1, 195], [0.24, 0.12, 300]],
};
/** From even to uneven: yellow to red. */
const LOAD: Readonly<Record<Theme, readonly [from: Tone, to: Tone]>> = {
  dark: [[0.9, 0.15, 102], [0.58, 0.21, 27]],
  light: [[0.66, 0.14, 92], [0.43, 0.18, 27]],
};
/** What is not known is neither low nor high nor usual: a tone of its own, and hatched where there is room. */
export const UNKNOWN_TONE: Readonly<Record<Theme, string>> = { dark: "#7d7667", light: "#9a9282" };

/** Where the scale of latency ends, on either side of 1. */
export const LATENCY_MAX = 4;
/** Steps of a scale; finer ones cannot be seen. */
export const STEPS = 64;

const made = new Map<string, readonly string[]>();

function ramp(name: string, at: (part: number) => Tone): readonly string[] {
  let found = made.get(name);
  if (!found) {
    found = Array.from({ length: STEPS + 1 }, (_, step) => hexOf(oklch(...at(step / STEPS))));
    made.set(name, found);
  }
  return found;
}

const between = (from: Tone, to: Tone, part: number): Tone => [
  from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part, from[2] + (to[2] - from[2]) * part,
];

/** From L = 1/4 and less to L = 4 and more, by its logarithm. */
export function latencyRamp(theme: Theme): readonly string[] {
  const { low, middle, high } = LATENCY[theme];
  return ramp(`latency ${theme}`, (part) => {
    const [lightness, chroma] = part < 0.5 ? between(low, middle, part * 2) : between(middle, high, part * 2 - 1);
    return [lightness, chroma, part < 0.5 ? low[2] : high[2]];
  });
}

export function amountRamp(theme: Theme): readonly string[] {
  const [from, to] = AMOUNT[theme];
  return ramp(`amount ${theme}`, (part) => between(from, to, part));
}

export function loadRamp(theme: Theme): readonly string[] {
  const [from, to] = LOAD[theme];
  return ramp(`load ${theme}`, (part) => between(from, to, part));
}

/** The place of a latency on its scale, from 0 to 1. */
export function latencyPart(latency: number): number {
  if (!(latency > 0)) return 0;
  return Math.min(1, Math.max(0, 0.5 + Math.log(latency) / Math.log(LATENCY_MAX) / 2));
}

export function stepOf(part: number): number {
  return Math.round(Math.min(1, Math.max(0, part)) * STEPS);
}

/** Null or not a number: not known. */
export function latencyColour(latency: number | null, theme: Theme): string {
  if (latency === null || Number.isNaN(latency)) return UNKNOWN_TONE[theme];
  return latencyRamp(theme)[stepOf(latencyPart(latency))] ?? UNKNOWN_TONE[theme];
}

/** The place of an amount between the least and the most there is, by its logarithm. */
export function amountPart(amount: number, least: number, most: number): number {
  if (!(most > least) || !(least > 0)) return 1;
  return Math.min(1, Math.max(0, Math.log(amount / least) / Math.log(most / least)));
}

/** Round numbers of a logarithmic scale, at most as many as wanted, the ends included where they are round. */
export function amountTicks(least: number, most: number, wanted: number, base = 10): number[] {
  if (!(most >= least) || !(least > 0)) return [];
  const all: number[] = [];
  const powerOf = (value: number): number => Math.log(value) / Math.log(base);
  for (let power = Math.floor(powerOf(least)); power <= Math.ceil(powerOf(most)); power++) {
    const value = base ** power;
    if (value >= least * 0.999 && value <= most * 1.001) all.push(value);
  }
  const every = Math.max(1, Math.ceil(all.length / Math.max(1, wanted)));
  return all.filter((_, at) => at % every === 0);
}
