import { describe, expect, it } from "vitest";
import type { CallDurations } from "../../feed/durations";
import { Axis, countHeights, histogramOf, nextBar, shareHeights, ticksOf } from "./histogram";

function durations(rows: readonly (readonly [bin: number, selected: number, run: number])[]): CallDurations {
  const column = (at: 0 | 1 | 2): Float64Array => Float64Array.from(rows.map((row) => row[at]));
  return {
    fromNs: 0, toNs: 1, binsPerOctave: 4, length: rows.length,
    bin: Uint32Array.from(column(0)), selected: column(1), run: column(2),
    longest: undefined as unknown as CallDurations["longest"],
  };
}

const AREA = { left: 10, top: 0, width: 200, height: 100 };

describe("histogram of durations", () => {
  it("has a bar for each bin between the first and the last, with its bounds", () => {
    const { bars, selected, run } = histogramOf(durations([[40, 1, 2], [42, 3, 3]]));
    // 2^10 - 1 is the least duration of bin 40.
    expect(bars).toEqual([
      { bin: 40, lowNs: 1023, highNs: 1217, selected: 1, run: 2 },
      { bin: 41, lowNs: 1217, highNs: 1448, selected: 0, run: 0 },
      { bin: 42, lowNs: 1448, highNs: 1722, selected: 3, run: 3 },
    ]);
    expect([selected, run]).toEqual([4, 5]);
  });

  it("is empty without calls", () => {
    const empty = histogramOf(durations([]));
    expect([empty.bars, ticksOf(empty), nextBar(empty, -1, 1), shareHeights(empty).ticks]).toEqual([[], [], -1, []]);
    expect(countHeights(empty).of(0, 0)).toBe(0);
  });

  it("puts bars and durations on one axis", () => {
    const histogram = histogramOf(durations([[40, 1, 1], [59, 1, 1]]));
    const axis = new Axis(histogram, AREA);
    expect([axis.leftOf(0), axis.leftOf(20)]).toEqual([10, 210]);
    expect(axis.placeOf(1023)).toBeCloseTo(10);
    for (const at of [0, 7, 19]) expect(axis.at(axis.leftOf(at) + 1)).toBe(at);
    expect([axis.at(9), axis.at(211)]).toEqual([-1, -1]);
    // A single bar is no wider than others.
    expect(new Axis(histogramOf(durations([[40, 1, 1]])), AREA).step).toBeCloseTo(200 / 12);
  });

  it("names powers of ten, and more where these are few", () => {
    expect(ticksOf(histogramOf(durations([[40, 1, 1], [90, 1, 1]])))).toEqual([1e4, 1e5, 1e6]);
    expect(ticksOf(histogramOf(durations([[40, 1, 1], [56, 1, 1]])))).toEqual([2000, 5000, 10000]);
  });

  it("compares shares of the selection with those of the run", () => {
    const heights = shareHeights(histogramOf(durations([[40, 2, 2], [44, 2, 14]])));
    // 14 of 16 calls are the greatest share.
    expect([heights.of(14, 16), heights.of(7, 16), heights.of(0, 4), heights.of(0, 0)]).toEqual([1, 0.5, 0, 0]);
    const last = heights.ticks.at(-1);
    expect(last?.label.replace(/\s/g, "")).toBe("80.0%");
    expect(last?.part).toBeCloseTo(0.8 / (14 / 16));
  });

  it("shows single calls on a logarithmic axis", () => {
    const heights = countHeights(histogramOf(durations([[40, 1, 1], [44, 0, 1023]])));
    expect([heights.of(0, 0), heights.of(1, 0), heights.of(1023, 0)]).toEqual([0, 0.1, 1]);
    expect(heights.ticks.map(({ label }) => label)).toEqual(["0", "1", "10", "100", "1 k"]);
  });

  it("steps from bar to bar with calls", () => {
    const histogram = histogramOf(durations([[40, 1, 1], [41, 0, 5], [44, 2, 2]]));
    expect(nextBar(histogram, -1, 1)).toBe(0);
    expect(nextBar(histogram, 0, 1)).toBe(4);
    expect(nextBar(histogram, 4, 1)).toBe(4);
    expect(nextBar(histogram, -1, -1)).toBe(4);
    expect(nextBar(histogram, 4, -1)).toBe(0);
  });
});
