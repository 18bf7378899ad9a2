import { describe, expect, it } from "vitest";
import { parseRanks, ranges, rangesOf, rangesText } from "./ranks";

describe("ranks as people write them", () => {
  it("are ranges in order, each rank once", () => {
    expect(parseRanks("0-31, 40", 64)).toEqual([[0, 31], [40, 40]]);
    expect(parseRanks(" 7;3\u20135 4 ", 64)).toEqual([[3, 5], [7, 7]]);
    expect(parseRanks("60-99", 64)).toEqual([[60, 63]]);
    expect(parseRanks("5-3", 64)).toEqual([[3, 5]]);
    expect(parseRanks("", 64)).toBeNull();
  });

  it("are refused with what is wrong", () => {
    expect(parseRanks("3, x", 64)).toMatch(/\u201cx\u201d is neither/);
    expect(parseRanks(Array.from({ length: 257 }, (_, at) => 2 * at).join(), 999)).toMatch(/^At most 256 ranges/);
    expect(parseRanks("64", 64)).toBe("There is no rank 64: the last one is 63.");
  });

  it("are a list with commas in an address", () => {
    expect(ranges("40, 8-3, 9 12")).toBeNull();
    expect(ranges("40, 8\u20133,9, 12-10, 11-13")).toEqual([[3, 13], [40, 40]]);
    expect([ranges("12345678"), ranges("0-12345678"), ranges(""), ranges("a-b"), ranges("1-"), ranges("-1")]).toEqual([null, null, null, null, null, null]);
    expect(ranges(Array.from({ length: 257 }, (_, at) => 2 * at).join())).toBeNull();
    expect(ranges(rangesText([[0, 15], [40, 40]]))).toEqual([[0, 15], [40, 40]]);
  });

  it("come from any order of them", () => {
    expect(rangesOf([5, 3, 4, 9, 3])).toEqual([[3, 5], [9, 9]]);
    expect([rangesOf([]), rangesText([[0, 3], [7, 7]], ", ")]).toEqual([[], "0-3, 7"]);
  });
});
