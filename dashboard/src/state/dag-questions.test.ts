import { describe, expect, it } from "vitest";
import { same } from "../same";
import { type DagScope, lastSecond } from "./dag-questions";

describe("scopes of graphs", () => {
  it("are the same where the same is asked", () => {
    const scope = { rangeNs: [0, 5], ranks: [[0, 3]], isSelected: true } satisfies DagScope;
    expect(same(scope, { ...scope, rangeNs: [0, 5], ranks: [[0, 3]] })).toBe(true);
    expect([{ ...scope, rangeNs: [0, 6] as const }, { ...scope, ranks: null }, { ...scope, isSelected: false }].map((other) => same(scope, other))).toEqual([false, false, false]);
  });
});

describe("the last second", () => {
  it("is whole, and all there is of a run that is shorter", () => {
    expect(lastSecond(29.7e9)).toEqual([28e9, 29e9]);
    expect(lastSecond(1e9)).toEqual([0, 1e9]);
    expect(lastSecond(0.4e9)).toEqual([0, 0.4e9]);
  });
});
