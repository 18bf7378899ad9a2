import { describe, expect, it } from "vitest";
import { scaleOf } from "./scale";
import { ticks } from "../chart/ticks";
import { binned, binOf, crowdsOf, dotsOf, fitOf, ordered, nearestPlace, nodeMeans, placesOf, sliced } from "./statistics";

describe("statistics", () => {
  it("orders ranks by value and leaves out what is not known", () => {
    expect([...ordered([3, NaN, 9, 3])]).toEqual([2, 0, 3]);
  });

  it("puts each value in one bin, the greatest too", () => {
    const values = [0, 1, 2, 3, 4, NaN];
    const bins = binned(values, scaleOf(values, false, false)!, 4);
    expect([...bins.counts]).toEqual([1, 1, 1, 2]);
    expect(binOf(4, bins.from, bins.width, 4)).toBe(3);
    expect([...binned([5, 5], scaleOf([5, 5], false, false)!, 10).counts]).toEqual([2]);
  });

  it("draws many dots small and faint, and those that stand alone larger", () => {
    const [few, some, many] = [16, 512, 16_384].map((ranks) => dotsOf(ranks, 100));
    expect(few!.pixels).toBeGreaterThan(6);
    expect(many!.pixels).toBeLessThan(2);
    expect([few!.opacity >= some!.opacity, some!.opacity > many!.opacity, many!.opacity < 0.4]).toEqual([true, true, true]);
    const alone = dotsOf(16_384, 1);
    expect([alone.pixels, alone.opacity]).toEqual([expect.closeTo(3), expect.closeTo(0.9)]);
    const same = (value: number): number => value;
    expect([...crowdsOf([1, 2, 50], [1, 3, 3], same, same)]).toEqual([2, 2, 1]);
  });

  it("finds the line and how well it fits", () => {
    const x = [0, 1, 2, 3, NaN];
    const fit = fitOf(x, [1, 3, 5, 7, 0]);
    expect([fit?.slope, fit?.offset, fit?.correlation, fit?.ranks]).toEqual([2, 1, 1, 4]);
    expect(fitOf(x, [-1, -3, -5, -7])?.correlation).toBeCloseTo(-1);
    expect(fitOf(x, [2, 2, 2, 2])).toBeNull();
    expect(fitOf([1, 2], [1, 2])).toBeNull();
  });

  it("has round steps", () => {
    expect(ticks(0, 1.5, 6)).toEqual([0, 0.5, 1, 1.5]);
    expect(ticks(7, 7, 5)).toEqual([7]);
    expect(ticks(0.3, 0.1 + 0.2, 6)).toEqual([0.3]);
    expect(ticks(1, 1 + Number.EPSILON, 6)).toEqual([1]);
    expect(ticks(0, 16 * 1024 * 1024, 4, 1024).map((value) => value / 2 ** 20)).toEqual([0, 5, 10, 15]);
  });

  it("averages ranks of a node", () => {
    const values = Float64Array.of(1, 3, NaN, 10, 7);
    expect([...nodeMeans(values, [0, 0, 0, 1, NaN])]).toEqual([2, 2, 2, 10, 7]);
  });

  it("cuts a layout along its axes", () => {
    const [x, y, z] = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0]];
    const of = (...cuts: (number | null)[]): number[] | null => {
      const found = sliced([x, y, z], [x, y, z].map(placesOf), cuts, 1);
      return found && [...found];
    };
    expect(of(null, null, null)).toBeNull();
    expect(of(1, null, null)).toEqual([0, 1, 0, 1]);
    expect(of(1, 0, null)).toEqual([0, 1, 0, 0]);
    expect(of(0.4, null, 0)).toEqual([1, 0, 1, 0]);
    expect(nearestPlace([0, 1, 4], 3)).toBe(4);
    expect(nearestPlace([0, 1, 4], -9)).toBe(0);
    // A remembered slice of another layout.
    expect(nearestPlace([0], 3)).toBeNull();
    expect(nearestPlace([], 3)).toBeNull();
    expect(placesOf([2, 1, NaN, 2])).toEqual([1, 2]);
    expect(placesOf(Array.from({ length: 5000 }, (_, at) => at)).length).toBe(64);
  });
});
