// Colours for canvases: the functions' own, and those of the style sheet as they are in the theme of the moment.

import { computed, type ReadonlySignal, type Signal } from "@preact/signals";
import { colourOf } from "../palette";
import type { RunState } from "../state/run";
import { theme } from "../state/theme";

const NAMES = ["ground", "raised", "line", "edge", "text", "soft", "accent", "bar", "fill", "good", "bad", "warn"] as const;
export type Colours = Record<(typeof NAMES)[number], string>;

/** Read anew when the theme changes; the attribute on the document is set by then. */
export const colours: ReadonlySignal<Colours> = computed(() => {
  void theme.value;
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Colours;
});

export function functionColours(run: Signal<RunState>): ReadonlySignal<ReadonlyMap<number, string>> {
  const functions = computed(() => run.value.functions);
  return computed(() => new Map([...functions.value].map(([id, row]) => [id, colourOf(row.name, row.family)[theme.value]])));
}
