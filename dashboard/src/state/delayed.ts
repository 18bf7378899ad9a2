// What "delayed" means on this page: above normal for such messages, or the paper's definition. One choice for all views.

import { remembered } from "./arrangement";

export const delayedBy = remembered("delayed", "normal", ["normal", "expected"]);

/** The delayed messages of a region, a pair of regions, or a stretch, by the definition that is chosen. */
export function delayedOf({ delayed, aboveExpected }: { delayed: number; aboveExpected: number }): number {
  return delayedBy.value === "normal" ? delayed : aboveExpected;
}

/** Likewise of windows, as a column. */
export function delayedColumn({ delayed, aboveExpected }: { delayed: readonly number[]; aboveExpected: readonly number[] }): readonly number[] {
  return delayedBy.value === "normal" ? delayed : aboveExpected;
}

/** What the number counts. */
export function delayedMeaning(hasNormal: boolean): string {
  return delayedBy.value === "normal" && hasNormal ? "longer than 95 % of such messages in quiet windows" : "longer than expected (L above 1): about half of all messages in any run";
}
