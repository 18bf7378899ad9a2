import { describe, expect, it } from "vitest";
import type { Segment } from "../../feed/evolution";
import { LEFT } from "../timeline/scale";
import { course, windows } from "./made-up";
import {
  bands, hasWindows, hit, latencies, latencyLabel, latencyLines, latencyY, marks, mostDelayed, ofRanks, picture, series, radius, RADIUS_LEAST, RADIUS_MAX, sizes, worstFirst,
} from "./scale";

const none = { length: 0, widthS: 0.1, timeS: [], latency: [], p10: [], p50: [], p90: [], exact: [] };
const plot = { scale: { span: [0, 1e9] as const, width: 1000 }, top: 0, bottom: 80 };

describe("the scale of latency", () => {
  it("holds all windows, 1 among them, and no unknown one", () => {
    expect(latencies([course(0, { points: windows(0, [1, 1.1]), bands: none })])).toEqual({ from: 0.5, to: 2 });
    expect(latencies([course(0, { points: windows(0, [0.3, 0, 5]), bands: none }), course(1, { provisional: windows(1, [9]) })])).toEqual({ from: 0.25, to: 16 });
    expect(latencies([course(0, { points: windows(0, [1e9]) })]).to).toBe(64);
  });

  it("goes by the logarithm and keeps inside", () => {
    const of = { from: 0.25, to: 4 };
    const at = (latency: number): number => latencyY(of, latency, 0, 80);
    expect([at(0.25), at(1), at(4)]).toEqual([72, 40, 8]);
    expect(at(1) - at(2)).toBeCloseTo(at(2) - at(4), 9);
    expect([at(100), at(0)]).toEqual([8, 72]);
  });

  it("has lines that have room, and 1 always", () => {
    expect(latencyLines({ from: 0.5, to: 8 }, 80)).toEqual([0.5, 1, 2, 4, 8]);
    expect(latencyLines({ from: 0.5, to: 64 }, 60)).toEqual([1, 8, 64]);
    expect([1, 2, 0.5, 0.25, 0.125].map(latencyLabel)).toEqual(["L 1", "2", "\u00bd", "\u00bc", "1/8"]);
  });
});

describe("circles", () => {
  it("have areas that go by their delayed messages", () => {
    expect(radius(400, 400)).toBe(RADIUS_MAX);
    expect((radius(400, 400) / radius(100, 400)) ** 2).toBeCloseTo(4, 9);
    expect((radius(300, 400) / radius(150, 400)) ** 2).toBeCloseTo(2, 9);
    expect([radius(0, 400), radius(3, 0), radius(1, 1e9)]).toEqual([RADIUS_LEAST, RADIUS_LEAST, RADIUS_LEAST]);
  });

  it("have a legend of round numbers that differ, and of the most", () => {
    expect(sizes(0)).toEqual([0]);
    expect(sizes(41)).toEqual([0, 5, 20, 41]);
    expect(sizes(234)).toEqual([0, 50, 100, 234]);
    for (const most of [7, 123, 4567]) {
      const all = sizes(most);
      expect(all.at(-1)).toBe(most);
      const seen = all.map((each) => radius(each, most));
      expect([...new Set(seen)]).toEqual(seen);
    }
    expect(mostDelayed([course(0, { points: windows(0, [1, 1], [3, 8]), provisional: windows(1, [1], [9]) })])).toBe(9);
  });

  it("stand in the middle of their windows; what is not known has none", () => {
    const of = course(0, { points: windows(0, [1, 0, 4], [0, 0, 5]), provisional: windows(0.3, [2], [1]) });
    const { circles, unknown, average } = picture(of, plot, 0.1, { from: 0.25, to: 4 }, 5);
    expect(circles.map(({ x, y, isFinal }) => [Math.round(x - LEFT), y, isFinal])).toEqual([[50, 40, true], [250, 8, true], [350, 24, false]]);
    expect(unknown.map(({ at, x }) => [at, Math.round(x - LEFT)])).toEqual([[1, 150]]);
    expect(average.split(" ")).toHaveLength(3);
    expect(hit(of, { circles, unknown, average }, LEFT + 251, 12, 80)).toMatchObject({ at: 2, isFinal: true });
    expect(hit(of, { circles, unknown, average }, LEFT + 150, 76, 80)).toMatchObject({ at: 1 });
    expect(hit(of, { circles, unknown, average }, LEFT + 500, 40, 80)).toBeNull();
  });

  it("are left out beyond the part in sight, and the line goes on to its edge", () => {
    const of = course(0, { points: windows(0, Array.from({ length: 50 }, () => 1)) });
    const { circles, average } = picture(of, { ...plot, scale: { span: [2e9, 3e9], width: 1000 } }, 0.1, { from: 0.5, to: 2 }, 1);
    expect(circles.map(({ at }) => at)).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
    expect(average.split(" ").length).toBe(12);
  });
});

describe("the whole series", () => {
  it("has a step for each slot, and none where nothing was measured", () => {
    const of = course(0, { bands: { length: 3, widthS: 0.1, timeS: [0, 0.1, 0.4], latency: [1, 2, 4], p10: [1, 1, 2], p50: [1, 2, 4], p90: [2, 4, 4], exact: [5, 5, 5] } });
    const { area, median } = series(of, plot, { from: 0.25, to: 4 });
    expect(area.split("Z").filter(Boolean)).toHaveLength(3);
    // Slots that follow each other are one line; after a gap another begins.
    expect([median.match(/M/g)?.length, median.match(/L/g)?.length]).toEqual([2, 1]);
    expect(median.startsWith(`M${LEFT.toFixed(1)},40.0h100`)).toBe(true);
  });

  it("shows disturbances as far as they are in sight", () => {
    const found = marks([{ cause: "cpu", fromS: 0.5, toS: 9 }, { cause: "cpu", fromS: 3, toS: 4 }], plot);
    expect(found.map(({ x, width }) => [Math.round(x - LEFT), Math.round(width)])).toEqual([[500, 500]]);
  });
});

describe("stretches", () => {
  const segment = (kind: Segment["kind"], fromS: number, toS: number): Segment => ({ kind, fromS, toS, isClosed: true, windows: 5, messages: 1, exact: 1, delayed: 1, aboveExpected: 2, latency: 2, rise: 0.45 });

  it("are bands where they stand out, cut at the sides", () => {
    const found = bands([segment("rest", 0, 0.2), segment("growth", 0.2, 0.5), segment("steady", 0.5, 9), segment("growth", 20, 21)], plot);
    expect(found.map(({ segment: { kind }, x, width }) => [kind, Math.round(x - LEFT), Math.round(width)])).toEqual([["growth", 200, 300], ["steady", 500, 500]]);
  });
});

describe("rows", () => {
  const row = (region: number, latency: number | null): ReturnType<typeof course> => course(region, { latency });
  const ids = (courses: readonly { region: number }[]): number[] => courses.map(({ region }) => region);

  it("have the worst first, the unknown last", () => {
    expect(ids(worstFirst([row(0, 1), row(1, null), row(2, 3), row(3, 2)], []))).toEqual([2, 3, 0, 1]);
  });

  it("change places only where one is clearly worse", () => {
    expect(ids(worstFirst([row(0, 1.1), row(1, 1), row(2, 1.05)], ["1/", "2/", "0/"]))).toEqual([1, 2, 0]);
    expect(ids(worstFirst([row(0, 2), row(1, 1), row(2, 1.05), row(3, 9)], ["1/", "2/", "0/"]))).toEqual([3, 0, 1, 2]);
  });

  it("have windows in a range, or none that is kept", () => {
    const all = [course(0, { points: windows(1, [1, 2]), provisional: windows(4, [1]) })];
    expect([[0, 1e9], [1.05e9, 1.06e9], [1.2e9, 4e9], [3e9, 4.05e9]].map(([from = 0, to = 0]) => hasWindows(all, [from, to], 0.1))).toEqual([false, true, false, true]);
  });

  it("are those of the ranks that are looked at", () => {
    const all = [course(0), course(1), course(2)];
    expect(ids(ofRanks(all, [[3, 4]], ({ ranks }) => ranks))).toEqual([0, 1]);
    expect(ofRanks(all, null, ({ ranks }) => ranks)).toBe(all);
  });
});
