// Shares of time for tests.

import { KINDS, type Shares } from "../../feed/shares";

export function madeShares(rows: number, windows: number, cellOf: (row: number, window: number) => readonly number[], part: Partial<Shares> = {}): Shares {
  const units = new Int32Array(KINDS * rows * windows);
  for (let row = 0; row < rows; row++) {
    for (let window = 0; window < windows; window++) {
      cellOf(row, window).forEach((value, kind) => (units[(kind * rows + row) * windows + window] = value));
    }
  }
  return { fromNs: 0, widthNs: 100, windows, untilNs: windows * 100, firstRank: 0, ranksPerRow: 1, rows, unitNs: 1, units, ...part };
}
