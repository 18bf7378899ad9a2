import { describe, expect, it } from "vitest";
import type { Blame, WhatIf } from "../feed/found";
import { costly, predicted, predictedWords } from "./whatif";

const without = (causes: Blame[], runS: number, leastS = runS, mostS = runS) => ({ causes: new Set(causes), runS, leastS, mostS });
const WHAT_IF: WhatIf = { recordedS: 6, without: [without(["pattern"], 4), without(["cpu"], 5.5), without(["pattern", "cpu"], 3, 2.5, 3.25)] };

describe("what the run would take", () => {
  it("knows which causes cost something", () => {
    expect(costly(WHAT_IF)).toEqual(["pattern", "cpu"]);
    expect(costly({ recordedS: 6, without: [] })).toEqual([]);
  });

  it("finds the replay without some causes, whatever their order", () => {
    expect(predicted(WHAT_IF, new Set<Blame>(["cpu", "pattern"]))?.runS).toBe(3);
    expect(predicted(WHAT_IF, new Set<Blame>(["pattern"]))?.runS).toBe(4);
    expect(predicted(WHAT_IF, new Set())).toBeNull();
  });

  it("says how much shorter it is, and between what where that is not known closely", () => {
    expect(predictedWords(WHAT_IF, without(["pattern"], 4))).toBe("2.00 s less");
    expect(predictedWords(WHAT_IF, without(["pattern", "cpu"], 3, 2.5, 3.25))).toBe("3.00 s less; between 2.50 s and 3.25 s");
  });
});
