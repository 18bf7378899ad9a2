import { describe, expect, it } from "vitest";
import { gridLines, heightOf, topOf, UNITS_NS } from "./scale";

describe("heights", () => {
  it.each(UNITS_NS)("go from 0 to 1 and only up, with a unit of %d ns", (unitNs) => {
    const scale = { unitNs, topNs: 1e10 };
    expect(heightOf(0, scale)).toBe(0);
    expect(heightOf(1e10, scale)).toBeCloseTo(1, 12);
    let before = -1;
    for (let ageNs = 1; ageNs <= 1e10; ageNs *= 1.5) {
      const height = heightOf(ageNs, scale);
      expect(height).toBeGreaterThan(before);
      expect(height).toBeCloseTo(Math.log(1 + ageNs / unitNs) / Math.log(1 + 1e10 / unitNs), 9);
      before = height;
    }
  });

  it("never leave the plot", () => {
    const scale = { unitNs: 1e3, topNs: 1e6 };
    expect(heightOf(1e12, scale)).toBe(1);
    expect(heightOf(-5, scale)).toBe(0);
  });

  it("end at the decade at or above the longest call, and at 1 ms at least", () => {
    expect(topOf(0)).toBe(1e6);
    expect(topOf(1e6)).toBe(1e6);
    expect(topOf(1e6 + 1)).toBe(1e7);
    expect(topOf(7.86e9)).toBe(1e10);
  });
});

describe("grid lines", () => {
  it.each([60, 120, 300, 700, 1400])("have labels that do not touch in a plot of %d px", (heightPx) => {
    for (const unitNs of UNITS_NS) {
      for (let topNs = 1e6; topNs <= 1e14; topNs *= 10) {
        const labelled = gridLines({ unitNs, topNs }, heightPx, 17).filter(({ label }) => label !== "");
        const atPx = labelled.map(({ height }) => height * heightPx);
        for (let at = 1; at < atPx.length; at++) expect(atPx[at]! - atPx[at - 1]!).toBeGreaterThanOrEqual(17 - 1e-9);
        expect(labelled[0]?.label).toBe("0");
        expect(labelled.at(-1)?.ageNs).toBe(topNs);
      }
    }
  });

  it("carry units", () => {
    const labels = gridLines({ unitNs: 1e3, topNs: 1e9 }, 600, 17).map(({ label }) => label).filter(Boolean);
    expect(labels).toEqual(["0", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
  });

  it("are fine between decades only where those are wide", () => {
    const fine = (heightPx: number): number =>
      gridLines({ unitNs: 1e3, topNs: 1e9 }, heightPx, 17).filter(({ label }) => label === "").length;
    expect(fine(300)).toBe(0);
    expect(fine(900)).toBeGreaterThan(10);
  });
});
