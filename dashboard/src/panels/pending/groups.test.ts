import { describe, expect, it } from "vitest";
import { CLOSED, isOpenWord, openedOf, opening, openWord, ranksOf } from "./groups";
import { madePending } from "./made-pending";

describe("open groups", () => {
  it("are kept as a word of an address", () => {
    const opened = [[256, 256], [288, 32]] as const;
    expect(openWord(opened)).toBe("256-256.288-32");
    expect(openedOf(openWord(opened))).toEqual(opened);
    expect(openWord([])).toBe(CLOSED);
    for (const wrong of ["", "1", "1-2.", "1-2-3", "1-2.3-4.5-6.7-8", "99999999-1"]) expect([isOpenWord(wrong), openedOf(wrong)]).toEqual([false, []]);
  });

  it("are open within the ones that they are a part of", () => {
    const once = opening([], [256, 256]);
    const twice = opening(once, [288, 32]);
    expect(twice).toEqual([[256, 256], [288, 32]]);
    expect(opening(twice, [320, 32])).toEqual([[256, 256], [320, 32]]);
    expect(opening(twice, [512, 256])).toEqual([[512, 256]]);
    expect(openWord(opening([[0, 999], [0, 99], [0, 9]], [0, 3])).split(".").length).toBe(3);
  });
});

describe("the ranks of groups", () => {
  const { groups } = madePending([{ ranks: 3, keys: [0, 0], of: [0, 8] }, { ranks: 6, keys: [1, 2], of: [1, 7] }], []);

  it("are those of their nodes", () => {
    expect(ranksOf(groups, [0], (rank) => rank % 4)).toEqual([[0, 0], [4, 4], [8, 8]]);
    expect(ranksOf(groups, [0, 1], (rank) => rank % 4)).toEqual([[0, 2], [4, 6], [8, 8]]);
  });

  it("are too many pieces to be selected where every other is one", () => {
    const many = madePending([{ ranks: 500, keys: [0, 0], of: [0, 999] }], []).groups;
    expect(ranksOf(many, [0], (rank) => rank % 2)).toBeNull();
  });
});
