// The colours of causes, four and never used for anything else, and the quiet tones of what time in MPI was made of.
// From the same search as the families' hues, with these held apart from the functions as well; the tests hold them.

import type { Blame } from "../feed/found";
import type { FunctionColour } from "./index";

export const CAUSE_COLOURS: Readonly<Record<Blame, FunctionColour>> = {
  mapping: { dark: "#47d3ff", light: "#008ed4" },
  pattern: { dark: "#cd5db5", light: "#864374" },
  background: { dark: "#ffdc51", light: "#b38000" },
  cpu: { dark: "#3f9a32", light: "#1b4900" },
};

/** Waiting is cut up by causes once more, so `compute` and `cpuWait` never lie beside `waiting`. */
export const PART_TONES = {
  waiting: { dark: "#9ba7bd", light: "#406380" },
  compute: { dark: "#7294bf", light: "#466b91" },
  cpuWait: { dark: "#dcb788", light: "#6b481d" },
  base: { dark: "#5b719c", light: "#908fc0" },
  distance: { dark: "#d0deff", light: "#283c62" },
  excess: { dark: "#966b4c", light: "#836750" },
  operation: { dark: "#fcd4c0", light: "#543425" },
  other: { dark: "#7f8387", light: "#7a7e83" },
  unknown: { dark: "#bcc0c4", light: "#4b4f53" },
} as const satisfies Readonly<Record<string, FunctionColour>>;

export type Part = keyof typeof PART_TONES;
