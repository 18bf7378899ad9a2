import { describe, expect, it } from "vitest";
import type { Criteria, Criterion } from "../../feed/criteria";
import { CRITERIA_LEFT, CRITERIA_RIGHT, criteriaChart, discs, nearestPoint, sampleBars, SAMPLES_PIXELS, steps } from "./criteria-layout";

const bin = (fromBytes: number, medianNs: number, samples = 100, toBytes = fromBytes + 50): Criterion => ({ fromBytes, toBytes, samples, medianNs, normalNs: 1.5 * medianNs });
const criteria = (inter: Criterion[], intra: Criterion[]): Criteria => ({ version: 1, isFinal: true, inter, intra, collectives: [] });

describe("the chart of criteria", () => {
  const chart = criteriaChart(criteria([bin(0, 2000), bin(50, 2100), bin(4000, 20_000, 3)], [bin(0, 400)]), 1000, 280);

  it("has sizes to the right and times upwards, by their logarithms", () => {
    const [first, second, third, within] = chart.points;
    expect(first?.left).toBe(CRITERIA_LEFT);
    expect(third?.right).toBeCloseTo(1000 - CRITERIA_RIGHT, 6);
    expect([first, second, third].map((point) => point?.x)).toEqual([...chart.points.slice(0, 3).map(({ x }) => x)].sort((a, b) => a - b));
    expect(within?.y).toBeGreaterThan(first?.y ?? Infinity);
    expect(third?.y).toBeLessThan(second?.y ?? 0);
    expect(chart.times.map(({ ns }) => ns)).toEqual([100, 1000, 10_000, 100_000]);
    expect(chart.sizes.map(({ bytes }) => bytes)).toEqual([16, 64, 256, 1024]);
  });

  it("has a step for each bin, with gaps between those that are apart", () => {
    const inter = chart.points.filter(({ scope }) => scope === "inter");
    expect(steps(inter).match(/M/g)).toHaveLength(2);
    expect(steps(inter).match(/V/g)).toHaveLength(1);
    expect(discs(inter, 2).match(/M/g)).toHaveLength(3);
  });

  it("finds the bin under the pointer, of the scope that is nearer", () => {
    const [first, , third, within] = chart.points;
    expect(nearestPoint(chart.points, first?.x ?? 0, first?.y ?? 0)).toBe(0);
    expect(nearestPoint(chart.points, within?.x ?? 0, within?.y ?? 0)).toBe(3);
    expect(nearestPoint(chart.points, third?.x ?? 0, 0)).toBe(2);
    expect(nearestPoint([], 5, 5)).toBe(-1);
  });

  it("has bars of samples that stay in their place", () => {
    const heights = [...sampleBars(chart.points, chart.samplesMost, 200).matchAll(/v-([\d.]+)/g)].map(([, height]) => Number(height));
    expect(heights).toHaveLength(4);
    for (const height of heights) expect(height).toBeLessThanOrEqual(SAMPLES_PIXELS);
  });

  it.each<[string, Criteria, number]>([
    ["nothing known", criteria([], []), 1000],
    ["no width yet", criteria([bin(0, 2000)], []), 0],
    ["times and samples of nothing", criteria([bin(0, 0, 0)], [bin(0, 0, 0)]), 800],
    ["one size", criteria([bin(0, 1)], []), 800],
    ["sizes of gigabytes", criteria([bin(2 ** 32, 1e12, 1e9, 2 ** 33)], []), 800],
  ])("has only numbers with %s", (_, found, width) => {
    const { points, sizes, times, samplesMost, bottom } = criteriaChart(found, width, 280);
    const all = [...points.flatMap(({ x, y, left, right }) => [x, y, left, right]), ...sizes.map(({ x }) => x), ...times.map(({ y }) => y)];
    expect(all.every(Number.isFinite)).toBe(true);
    expect(`${steps(points)}${discs(points, 2)}${sampleBars(points, samplesMost, bottom)}`).not.toMatch(/NaN|Infinity/);
  });
});
