import { expect, test } from "vitest";
import { apart } from "./ticks";

test("words keep their distance from all that are more important", () => {
  expect([...apart([40, 31, 10, 28], 12)]).toEqual([0, 2, 3]);
  expect([...apart([], 12)]).toEqual([]);
  expect([...apart([5, 5], 1)]).toEqual([0]);
});
