// What the run would take without its causes, in words.

import { type Blame, CAUSES, type WhatIf, type Without } from "../feed/found";
import { seconds } from "./found";

/** To be read after "if". */
export const CHANGES: Readonly<Record<Blame, string>> = {
  mapping: "ranks were placed as advised",
  pattern: "the load were balanced",
  background: "the network were quiet",
  cpu: "each rank had its own CPU",
};

/** The causes without which the run would be shorter. */
export function costly({ without }: WhatIf): readonly Blame[] {
  return CAUSES.filter((cause) => without.some(({ causes }) => causes.size === 1 && causes.has(cause)));
}

/** What the run would take without these causes; null where that is what it took. */
export function predicted({ without }: WhatIf, removed: ReadonlySet<Blame>): Without | null {
  return without.find(({ causes }) => causes.size === removed.size && [...causes].every((cause) => removed.has(cause))) ?? null;
}

/** How much shorter, and how sure that is. */
export function predictedWords({ recordedS }: WhatIf, { runS, leastS, mostS }: Without): string {
  const less = `${seconds(recordedS - runS)} less`;
  return seconds(leastS) === seconds(mostS) ? less : `${less}; between ${seconds(leastS)} and ${seconds(mostS)}`;
}
