import { describe, expect, it } from "vitest";
import { moved, stepped } from "./range";

const WINDOW = 100;
const EDGE = 10_000;

describe("the range", () => {
  it("follows an end that is dragged, and never gets shorter than a window", () => {
    expect(moved([2000, 5000], "from", 0, 3000, WINDOW, EDGE)).toEqual([3000, 5000]);
    expect(moved([2000, 5000], "from", 0, 9000, WINDOW, EDGE)).toEqual([4900, 5000]);
    expect(moved([2000, 5000], "to", 0, 100, WINDOW, EDGE)).toEqual([2000, 2100]);
    expect(moved([2000, 5000], "to", 0, 20_000, WINDOW, EDGE)).toEqual([2000, EDGE]);
  });

  it("moves as a whole, with its length kept", () => {
    expect(moved([2000, 5000], "both", 3000, 4000, WINDOW, EDGE)).toEqual([3000, 6000]);
    expect(moved([2000, 5000], "both", 3000, -9000, WINDOW, EDGE)).toEqual([0, 3000]);
    expect(moved([2000, 5000], "both", 3000, 90_000, WINDOW, EDGE)).toEqual([7000, EDGE]);
  });

  it("begins anew beside it", () => {
    expect(moved([0, 10], "new", 6000, 4000, WINDOW, EDGE)).toEqual([4000, 6000]);
    expect(moved([0, 10], "new", 9990, 9995, WINDOW, EDGE)).toEqual([9900, EDGE]);
  });

  it("goes by windows with the keys, by ten with Shift", () => {
    expect(stepped([2000, 5000], "from", "ArrowRight", false, WINDOW, EDGE)).toEqual([2100, 5000]);
    expect(stepped([2000, 5000], "to", "ArrowLeft", true, WINDOW, EDGE)).toEqual([2000, 4000]);
    expect(stepped([2000, 5000], "from", "Home", false, WINDOW, EDGE)).toEqual([0, 5000]);
    expect(stepped([2000, 5000], "to", "End", false, WINDOW, EDGE)).toEqual([2000, EDGE]);
    expect(stepped([2000, 5000], "to", "x", false, WINDOW, EDGE)).toBeNull();
  });
});
