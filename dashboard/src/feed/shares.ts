// What ranks' time was spent on, by row of ranks and window: sums over all calls, never a sample. Checked.

import { FeedError, type Fields, i32Column, list, natural } from "./columns";
import type * as Wire from "./types";

/** In the order of the columns. */
export const SHARE_KINDS = ["compute", "cpuWait", "transfer", "library", "work", "cpu", "network", "distance", "rest"] as const;
export type ShareKind = (typeof SHARE_KINDS)[number];
export const KINDS = SHARE_KINDS.length;

export interface Shares {
  fromNs: number;
  widthNs: number;
  windows: number;
  /** Time was diagnosed until then. */
  untilNs: number;
  firstRank: number;
  ranksPerRow: number;
  rows: number;
  unitNs: number;
  /** By kind, by row, then by window, in units. Waiting by cause is a difference: a part may be below zero. */
  units: Int32Array;
}

const CELLS_MAX = 1 << 20;

export function shares(from: Fields<Wire.Shares>): Shares {
  const figures = {
    fromNs: natural(from, "from_ns"), widthNs: natural(from, "width_ns"), windows: natural(from, "windows"), untilNs: natural(from, "until_ns"),
    firstRank: natural(from, "first_rank"), ranksPerRow: natural(from, "ranks_per_row"), rows: natural(from, "rows"), unitNs: natural(from, "unit_ns"),
  };
  const cells = figures.rows * figures.windows;
  const kinds = list(from, "kinds");
  if (kinds.length !== KINDS || cells > CELLS_MAX || figures.widthNs < 1 || figures.ranksPerRow < 1) throw new FeedError("The shares of time do not have the kinds and rows that they should.");
  const units = new Int32Array(KINDS * cells);
  kinds.forEach((column, kind) => {
    const values = i32Column<{ column: Uint8Array }>({ column }, "column");
    if (values.length !== cells) throw new FeedError(`The shares of "${SHARE_KINDS[kind] ?? ""}" are ${values.length} where others are ${cells}.`);
    units.set(values, kind * cells);
  });
  return { ...figures, units };
}
