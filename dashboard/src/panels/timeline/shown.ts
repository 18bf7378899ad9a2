// Whether the timeline is there or folded to the strip of the whole run. Folded at first where the window is low.

import { computed, signal } from "@preact/signals";
import { remembered } from "../../state/arrangement";

/** In lower windows the views need the room. */
const LOW_PIXELS = 760;

const choice = remembered("shell.timeline", "auto", ["auto", "shown", "folded"]);
const isLow = signal(globalThis.innerHeight < LOW_PIXELS);
globalThis.addEventListener?.("resize", () => (isLow.value = globalThis.innerHeight < LOW_PIXELS));

export const isTimelineShown = computed(() => (choice.value === "auto" ? !isLow.value : choice.value === "shown"));

export function toggleTimeline(): void {
  choice.value = isTimelineShown.peek() ? "folded" : "shown";
}
