import { describe, expect, it } from "vitest";
import { ALL, filtered, filterEnds, partOf, quantile, scaleOf, valueAt } from "./scale";

const MANY = Array.from({ length: 101 }, (_, at) => at);

describe("scale", () => {
  it("spans where most values are: one outlier does not flatten the rest", () => {
    const values = [...MANY, 1e9];
    const clipped = scaleOf(values, true, false);
    expect([clipped?.least, clipped?.most, clipped?.known]).toEqual([0, 1e9, 102]);
    expect(clipped?.high).toBeLessThan(100);
    expect(partOf(clipped!, 50)).toBeCloseTo(0.49, 1);
    expect(partOf(clipped!, 1e9)).toBe(1);
    expect(partOf(scaleOf(values, false, false)!, 50)).toBeLessThan(1e-6);
  });

  it("shows the few that differ where most are equal", () => {
    const scale = scaleOf([...new Array<number>(100).fill(5), 7], true, false);
    expect([scale?.low, scale?.high]).toEqual([5, 7]);
  });

  it("shows ranks that are alike in colours that are alike", () => {
    const scale = scaleOf([1.9, 1.901, 1.902], false, false)!;
    expect(Math.abs(partOf(scale, 1.9) - partOf(scale, 1.902))).toBeLessThan(0.1);
    expect([scale.least, scale.most]).toEqual([1.9, 1.902]);
    expect(partOf(scaleOf([1, 2], false, false)!, 2)).toBe(1);
  });

  it("knows what is not known", () => {
    expect(scaleOf([NaN, Infinity], true, false)).toBeNull();
    const scale = scaleOf([NaN, 1, 3], false, false);
    expect([scale?.mean, scale?.deviation, scale?.known]).toEqual([2, 1, 2]);
    expect(partOf(scale!, NaN)).toBeNaN();
    const equal = scaleOf([4, 4], true, false);
    expect(partOf(equal!, 4)).toBe(0.5);
  });

  it("has logarithms of what is positive", () => {
    const scale = scaleOf([0, 1, 10, 100], false, true)!;
    expect([scale.low, scale.high, scale.isLog]).toEqual([1, 100, true]);
    expect([0, 1, 10, 100].map((value) => partOf(scale, value))).toEqual([0, 0, 0.5, 1]);
    expect(valueAt(scale, 0.5)).toBeCloseTo(10);
    expect(scaleOf([0, -1], false, true)?.isLog).toBe(false);
  });

  it("interpolates between values", () => {
    expect(quantile([0, 10], 0.25)).toBe(2.5);
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe("filter", () => {
  const scale = scaleOf(MANY, true, false);

  it("draws a range of values, or what is outside it", () => {
    const count = (filter: typeof ALL): number => filtered(MANY, filter, scale).reduce((sum, shown) => sum + shown, 0);
    expect(count(ALL)).toBe(101);
    expect(filterEnds({ from: 20, to: 30, isInverse: false }, scale!)).toEqual([20, 30]);
    expect(count({ from: 20, to: 30, isInverse: false })).toBe(11);
    expect(count({ from: 20, to: 30, isInverse: true })).toBe(92);
    expect([...filtered([0, NaN, 100], { from: 50, to: 100, isInverse: false }, scale)]).toEqual([0, 0, 1]);
    expect([...filtered([0, NaN], ALL, scale)]).toEqual([1, 1]);
  });
});
