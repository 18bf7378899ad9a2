// The ranks that the verdict on what is shown blames, as graph and table mark them.

import type { Blame } from "../../feed/found";
import type { Region } from "../../feed/regions";
import { keptOf } from "../../state/kept";
import { rangeFigures } from "../../state/range-budgets";
import type { Store } from "../../state/store";
import { type Blamed, blamedAndWhy } from "../../words/overview";

export interface BlamedRanks { cause: Blame; ranks: ReadonlySet<number> }

const asSet = keptOf((ranks: Blamed["ranks"]) => new Set(ranks));

/** Null where the verdict blames no ranks. Reads signals. */
export function blamedIn(store: Store): BlamedRanks | null {
  const { blamed } = blamedAndWhy(store.figures.value.found, rangeFigures(store.scope.value, store.selected.value));
  return blamed && { cause: blamed.cause, ranks: asSet(blamed.ranks) };
}

/** Those of a region, in order. */
export function blamedOfRegion({ ranks }: Region, blamed: BlamedRanks | null): number[] {
  const found: number[] = [];
  if (!blamed) return found;
  for (const [first, last] of ranks) for (let rank = first; rank <= last; rank++) if (blamed.ranks.has(rank)) found.push(rank);
  return found;
}
