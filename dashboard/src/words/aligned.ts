// By what two runs are aligned, in words. Pure.

import type { AlignBy } from "../feed/aligned";

export const BY_WORDS: Readonly<Record<AlignBy, { label: string; title: string }>> = {
  start: { label: "Start", title: "Both runs from their start" },
  phase: { label: "Phase", title: "Phases that the program names with MPI_Pcontrol" },
  turn: { label: "Turn", title: "Turns of the main loop" },
};

export function alignedWords(by: AlignBy): string {
  return by === "start" ? "both from their start, on one scale" : `by ${by}, on the time of A and one scale`;
}
