// The colour of a latency, in shares of what is usual: blue below 1, nearly grey at 1, red at 4 and above. The same
// everywhere. Halving and doubling are equally far from 1 on the scale.

import { hexOf, oklch } from "./colour";

export type Theme = "light" | "dark";

/** From here on it does not get redder. */
export const LATENCY_MAX = 4;
/** For a latency that is not known: never a filled mark. */
export const UNKNOWN_LATENCY: Readonly<Record<Theme, string>> = { dark: "#8b939d", light: "#6d7680" };

interface End { lightness: number; chroma: number; hueDegrees: number }
const ENDS: Readonly<Record<Theme, { low: End; middle: End; high: End }>> = {
  dark: {
    low: { lightness: 0.66, chroma: 0.16, hueDegrees: 250 },
    middle: { lightness: 0.8, chroma: 0.012, hueDegrees: 250 },
    high: { lightness: 0.62, chroma: 0.22, hueDegrees: 27 },
  },
  light: {
    low: { lightness: 0.48, chroma: 0.18, hueDegrees: 257 },
    middle: { lightness: 0.645, chroma: 0.01, hueDegrees: 257 },
    high: { lightness: 0.48, chroma: 0.2, hueDegrees: 27 },
  },
};
const STEPS = 64;
const made = new Map<Theme, readonly string[]>();

/** From -1 (a quarter of what is usual, or less) over 0 to 1 (four times, or more). */
export function latencyPlace(latency: number): number {
  return Math.max(-1, Math.min(1, Math.log(latency) / Math.log(LATENCY_MAX)));
}

function scale(theme: Theme): readonly string[] {
  const before = made.get(theme);
  if (before) return before;
  const { low, middle, high } = ENDS[theme];
  const colours = Array.from({ length: 2 * STEPS + 1 }, (_, at) => {
    const place = at / STEPS - 1;
    const end = place < 0 ? low : high;
    const by = Math.abs(place);
    const between = (one: number, other: number): number => one + (other - one) * by;
    return hexOf(oklch(between(middle.lightness, end.lightness), between(middle.chroma, end.chroma), end.hueDegrees));
  });
  made.set(theme, colours);
  return colours;
}

export function latencyColour(latency: number, theme: Theme): string {
  if (!(latency >= 0)) return UNKNOWN_LATENCY[theme];
  return scale(theme)[Math.round((latencyPlace(latency) + 1) * STEPS)] ?? UNKNOWN_LATENCY[theme];
}
