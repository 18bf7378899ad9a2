// The colour at the head of a row: of the rank's region where regions are known, else of its node.

import { hostColour, isRepeated, type Theme } from "../../palette/hosts";
import { regionLook } from "../../palette/regions";
import type { RunState } from "../../state/run";
import type { HeadMark } from "./overlay";
import type { MessagesState } from "./state";

export function headMark(run: RunState, state: MessagesState, rank: number, theme: Theme): HeadMark | null {
  const region = state.regionOf.peek()[rank];
  if (state.sort.peek() !== "node" && region !== undefined) {
    const { colour, mark } = regionLook(region);
    return { colour: colour[theme], mark };
  }
  if (run.ranks.heard[rank] !== 1) return null;
  const node = run.ranks.node[rank] ?? 0;
  return { colour: hostColour(node, theme), mark: isRepeated(node) ? "bar" : "full" };
}
