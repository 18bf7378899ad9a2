import { describe, expect, it } from "vitest";
import { LEFT } from "../timeline/scale";
import { area, axis, columns, countAxis, line, loadMost, slowAxis, unevenAxis, windowAt } from "./course-layout";
import { madeCourses, noCourses } from "./made-courses";
import { courseScope, courseSubject, windowsIn } from "./windows";

const scale = { span: [10e9, 20e9] as const, width: 1000 };

describe("axes", () => {
  it("end at a round value that is not below the most, and make little of little", () => {
    expect(axis(5.1, 0)).toEqual({ values: [0, 2, 4, 6], most: 6 });
    expect(axis(0, 0.1).most).toBeCloseTo(0.1, 9);
    expect(countAxis(madeCourses()).most).toBe(100);
    expect(unevenAxis(madeCourses()).most).toBeCloseTo(0.6, 9);
    expect(slowAxis(madeCourses()).most).toBe(4);
    expect([loadMost(madeCourses()), loadMost(madeCourses({ greatestLoad: Float64Array.of(33, 1, Number.NaN) }))]).toEqual([4, 64]);
  });

  it("are there where nothing is", () => {
    for (const { values, most } of [countAxis(noCourses()), unevenAxis(noCourses()), slowAxis(noCourses())]) {
      expect(most).toBeGreaterThan(0);
      expect(values.every(Number.isFinite)).toBe(true);
    }
    expect(loadMost(noCourses())).toBe(4);
  });
});

describe("windows", () => {
  it("are where the timeline has them, cut where the view ends", () => {
    expect(columns(madeCourses(), scale).map(({ window, x, width }) => [window, x - LEFT, width])).toEqual([[0, 0, 100], [1, 100, 100], [2, 200, 100]]);
    const cut = columns(madeCourses(), { span: [10.5e9, 12e9], width: 300 });
    expect(cut.map(({ window, x, width }) => [window, Math.round(x - LEFT), Math.round(width)])).toEqual([[0, 0, 100], [1, 100, 200]]);
    expect(columns(madeCourses(), { span: [50e9, 60e9], width: 300 })).toEqual([]);
  });

  it("are found by time", () => {
    expect([9.9e9, 10e9, 12.99e9, 13e9].map((ns) => windowAt(madeCourses(), ns))).toEqual([-1, 0, 2, -1]);
  });
});

describe("shapes", () => {
  const all = columns(madeCourses(), scale);

  it("are areas of steps", () => {
    expect(area(all.slice(0, 2), (window) => 50 - 10 * window, () => 100)).toBe("M56 100H56V50H156H156V40H256H256V100H156H156V100H56Z");
    expect(area([], () => 0, () => 0)).toBe("");
  });

  it("are lines that break where nothing is known, and show what stands alone", () => {
    expect(line(all, (window) => [1, Number.NaN, 3][window] ?? 0, (value) => value)).toBe("M56 1H156M256 3H356");
    expect(line(all, (window) => [1, 2, Number.NaN][window] ?? 0, (value) => value)).toBe("M106 1L206 2");
    expect(line(all, () => Number.NaN, (value) => value)).toBe("");
  });
});

describe("the windows that are asked for", () => {
  it("begin at multiples of a round length and stay there while the run goes on", () => {
    const [one, other] = [100.2e9, 100.9e9].map((edge) => courseScope(null, null, null, edge, false));
    expect(one).toMatchObject({ seen: [0, 100e9], widthNs: 0.5e9 });
    expect(other).toMatchObject({ seen: [0, 100.5e9], widthNs: 0.5e9 });
    if (!one || !other) throw new Error("no scope");
    expect(courseSubject(one, null)).toBe(courseSubject(other, null));
    expect(JSON.stringify(one)).not.toBe(JSON.stringify(other));
  });

  it("go to the end of what is over", () => {
    expect(courseScope(null, null, null, 100.2e9, true)?.seen).toEqual([0, 100.5e9]);
    expect(courseScope([20e9, 44.1e9], null, null, 100e9, false)?.seen).toEqual([20e9, 44.2e9]);
  });

  it("are none before anything happened", () => {
    expect([courseScope(null, null, null, 0, false), courseScope([5e9, 6e9], null, null, 1e9, false)]).toEqual([null, null]);
  });

  it("are other ones for another range, other ranks, another zoom", () => {
    const of = (rangeNs: readonly [number, number] | null, ranks: readonly (readonly [number, number])[] | null, zoom: readonly [number, number] | null) => {
      const scope = courseScope(zoom, rangeNs, ranks, 100e9, true);
      return scope && courseSubject(scope, zoom);
    };
    expect(new Set([of(null, null, null), of([1e9, 2e9], null, null), of(null, [[0, 1]], null), of(null, null, [5e9, 9e9])]).size).toBe(4);
  });

  it("are as long in the selected range as those that are drawn, and no more than there may be", () => {
    expect([windowsIn([0, 10e9], 0.5e9), windowsIn([0, 1], 0.5e9), windowsIn([0, 1e12], 1e3)]).toEqual([20, 1, 512]);
    expect(courseScope(null, [5.5, 5.6], null, 1e9, true)?.chosen).toEqual([5, 6]);
  });
});
