// What graphs are asked of.

import type { Dag } from "../feed/dag";
import type { NewestFigures } from "./newest";
import type { RankRanges, Span } from "./perspective";

/** What a graph is asked of. */
export interface DagScope {
  rangeNs: Span;
  /** Null: all. */
  ranks: RankRanges | null;
  /** Whether somebody selected the range; else it is the last second. */
  isSelected: boolean;
}

export interface KnownDag { dag: Dag; scope: DagScope }

export type DagFigures = NewestFigures<KnownDag>;

const SECOND_NS = 1e9;

/** The last whole second before a moment; of a run that is shorter, all there is. */
export function lastSecond(timeNs: number): Span {
  const to = Math.floor(timeNs / SECOND_NS) * SECOND_NS;
  return to >= SECOND_NS ? [to - SECOND_NS, to] : [0, Math.max(1, Math.floor(timeNs))];
}
