// The head of a row: its name, and a colour, of the rank's region where regions are known, else of its node; and which
// ranks are marked.

import { hostColour, isRepeated, type Theme } from "../../palette/hosts";
import { regionLook } from "../../palette/regions";
import type { RunState } from "../../state/run";
import type { Selection } from "../../state/store";
import { ranksOfRow, type Rows } from "./fold";
import type { HeadMark } from "./overlay";
import type { MessagesState } from "./state";

/** The ranks of what is selected, as far as it names some. */
export function markedRanks(selection: Selection, run: RunState): ReadonlySet<number> {
  if (selection?.kind === "rank") return new Set([selection.rank]);
  if (selection?.kind === "call") return new Set([selection.call.rank]);
  if (selection?.kind !== "region") return new Set();
  const ranges = run.regions?.regions.find(({ id }) => id === selection.id)?.ranks ?? [];
  return new Set(ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at)));
}

/** A rank, or of several together the first and the last, or the first and how many more. */
export function rowName(rows: Rows, row: number): string {
  const ranks = ranksOfRow(rows, row);
  const [first, last] = [ranks[0] ?? 0, ranks[ranks.length - 1] ?? 0];
  if (ranks.length < 2) return String(first);
  return last - first === ranks.length - 1 ? `${first}\u2013${last}` : `${first} +${ranks.length - 1}`;
}

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
