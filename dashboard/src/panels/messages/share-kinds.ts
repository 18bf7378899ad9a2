// What rows show where calls are too dense: kinds of time, their names, and their colours, the same as in Causes.

import { CAUSE_COLOURS, PART_TONES } from "../../palette/causes";
import type { FunctionColour } from "../../palette";
import { SHARE_KINDS, type ShareKind } from "../../feed/shares";

interface Kind { label: string; meaning: string; colour: FunctionColour; opacity: number }

const KIND: Readonly<Record<ShareKind, Kind>> = {
  work: { label: "Waits: others compute", meaning: "Waiting in MPI for ranks that compute longer", colour: CAUSE_COLOURS.pattern, opacity: 1 },
  cpu: { label: "Waits: others lack a CPU", meaning: "Waiting in MPI for ranks that wait for a CPU", colour: CAUSE_COLOURS.cpu, opacity: 1 },
  network: { label: "Waits: slow transfers", meaning: "Waiting in MPI because transfers took longer than expected", colour: CAUSE_COLOURS.background, opacity: 1 },
  distance: { label: "Waits: between nodes", meaning: "Waiting in MPI because messages cross nodes", colour: CAUSE_COLOURS.mapping, opacity: 1 },
  rest: { label: "Waits: other", meaning: "Waiting in MPI for expected transfers, collectives and unknown reasons", colour: PART_TONES.waiting, opacity: 0.85 },
  transfer: { label: "Transfer", meaning: "Messages on their way", colour: PART_TONES.base, opacity: 0.85 },
  library: { label: "Other MPI", meaning: "Collectives at work, and calls that move nothing", colour: PART_TONES.other, opacity: 0.7 },
  cpuWait: { label: "Waits for a CPU", meaning: "Ready to run and without a CPU", colour: PART_TONES.cpuWait, opacity: 1 },
  compute: { label: "Computing", meaning: "Between calls, with a CPU", colour: PART_TONES.compute, opacity: 0.16 },
};

/** From the bottom of a row upwards: waiting first, computing last. */
export const STACKED: readonly ShareKind[] = ["work", "cpu", "network", "distance", "rest", "cpuWait", "transfer", "library", "compute"];
export const kindText = (kind: ShareKind): Pick<Kind, "label" | "meaning"> => KIND[kind];
export const kindColour = (kind: ShareKind, mode: "dark" | "light"): string => KIND[kind].colour[mode];

export const kindOpacity = (kind: ShareKind): number => KIND[kind].opacity;

/** Red, green, blue and opacity of each kind, 0 to 255, in the order of the columns. */
export function kindInks(mode: "dark" | "light"): readonly (readonly [number, number, number, number])[] {
  return SHARE_KINDS.map((kind) => {
    const value = Number.parseInt(KIND[kind].colour[mode].slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255, Math.round(255 * KIND[kind].opacity)];
  });
}
