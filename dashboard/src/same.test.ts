import { describe, expect, it } from "vitest";
import { same, unchanged } from "./same";

describe("plain things", () => {
  const regions = () => ({ version: 3, regions: [{ ranks: [[0, 3], [8, 8]], latency: Number.NaN, name: "a" }], between: null });

  it("are the same where they say the same", () => {
    expect(same(regions(), regions())).toBe(true);
    expect([same(null, null), same([], []), same([1, [2]], [1, [2]]), same("a", "a"), same(Number.NaN, Number.NaN)]).toEqual([true, true, true, true, true]);
  });

  it("differ by a value, a length, a name, or what is none", () => {
    const other = regions();
    other.regions[0]?.ranks.push([9, 9]);
    expect(same(regions(), other)).toBe(false);
    expect([same([1, 2], [1]), same({ a: 1 }, { b: 1 }), same(null, {}), same(0, null), same([1], 1), same(undefined, null)]).toEqual([false, false, false, false, false, false]);
  });

  it("stay the object that they were", () => {
    const before = regions();
    expect(unchanged(before, regions())).toBe(before);
    const later = { ...regions(), version: 4 };
    expect(unchanged(before, later)).toBe(later);
  });
});
