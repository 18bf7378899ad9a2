import { expect, it } from "vitest";
import { patternRanks } from "./words";

it("names a few ranges of ranks, and counts the others", () => {
  expect(patternRanks([[0, 15]])).toBe("ranks 0\u201315");
  expect(patternRanks([[5, 5]])).toBe("rank 5");
  expect(patternRanks([[5, 5], [13, 13], [21, 22], [29, 29], [37, 37], [45, 46]])).toBe("ranks 5, 13, 21\u201322, 29 and 3 others");
});
