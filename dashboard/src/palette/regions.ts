// The colours of regions of ranks. Twelve, apart under usual and dichromatic vision and from those of causes; more regions
// repeat them with a second mark. From the same search as the functions' hues; the tests hold them.

import type { FunctionColour } from "./index";

export const REGION_COLOURS: readonly FunctionColour[] = [
  ["#0fb4dd", "#4088fa"], ["#ffe295", "#975a31"], ["#8e54a6", "#7847c2"], ["#75ffe5", "#305c86"], ["#c53907", "#5d0000"], ["#bdc208", "#6a9607"],
  ["#ec609d", "#ea577d"], ["#287a58", "#4f4a00"], ["#b7ccff", "#a77abe"], ["#b78a44", "#9e1b59"], ["#097ce7", "#072798"], ["#fea49d", "#47075b"],
].map(([dark = "", light = ""]) => ({ dark, light }));

/** What a rank of a region looks like beside its colour. */
export const REGION_MARKS = ["full", "ring", "bar", "dot"] as const;
export type RegionMark = (typeof REGION_MARKS)[number];

export interface RegionLook { colour: FunctionColour; mark: RegionMark }

/** From the region's number alone: it stays what it is. */
export function regionLook(id: number): RegionLook {
  const colour = REGION_COLOURS[id % REGION_COLOURS.length]!;
  return { colour, mark: REGION_MARKS[Math.floor(id / REGION_COLOURS.length) % REGION_MARKS.length]! };
}
