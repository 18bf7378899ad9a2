import { describe, expect, it } from "vitest";
import { KINDS } from "../../feed/shares";
import { alike, folded, ranksOfRow, rowByRank, single } from "./fold";
import { madeShares } from "./made-shares";

const order = Uint32Array.of(0, 1, 2, 3, 4, 5);

describe("rows of several ranks", () => {
  it("have those of one key, where the first of them was; open ones have a row each", () => {
    const rows = folded(order, (rank) => rank % 2, new Set());
    expect([[...rows.heads], [...ranksOfRow(rows, 0)], [...ranksOfRow(rows, 1)]]).toEqual([[0, 1], [0, 2, 4], [1, 3, 5]]);
    const open = folded(order, (rank) => rank % 2, new Set([1]));
    expect([...open.heads]).toEqual([0, 1, 3, 5]);
    expect([...rowByRank(open)]).toEqual([0, 1, 0, 2, 0, 3]);
  });

  it("may be of one rank each", () => {
    expect([...rowByRank(single(Uint32Array.of(2, 0)))]).toEqual([1, -1, 0]);
  });
});

describe("ranks that behave alike", () => {
  // Rank 3 waits for a CPU in the second half; ranks 4 and 5 wait for others all the time.
  const shares = madeShares(6, 8, (rank, window) => {
    const cell = Array<number>(KINDS).fill(0);
    if (rank === 3 && window >= 4) cell[1] = 90;
    else if (rank >= 4) [cell[0], cell[4]] = [40, 60];
    else [cell[0], cell[4]] = [90 + rank, 9 - rank];
    return cell;
  });

  it("are in one group, the fewest first", () => {
    const found = alike(order, shares);
    expect([...order].map((rank) => found.get(rank))).toEqual([2, 2, 2, 0, 1, 1]);
  });

  it("that are not known are a group of their own, and groups are few", () => {
    expect(alike(Uint32Array.of(0, 3, 99), shares).get(99)).toBe(2);
    const many = madeShares(400, 4, (rank) => Array.from({ length: KINDS }, (_, kind) => ((rank * 7919 + kind * 104729) % 97)));
    expect(new Set(alike(Uint32Array.from({ length: 400 }, (_, rank) => rank), many).values()).size).toBeLessThanOrEqual(24);
  });
});
