import { describe, expect, it } from "vitest";
import { KINDS, SHARE_KINDS } from "../../feed/shares";
import { madeShares } from "./made-shares";
import { bandsOf } from "./raster";
import { mixed, partsOf, rasterShares, type SharePlot, summed } from "./raster-shares";
import { kindInks, STACKED } from "./share-kinds";

const cell = (compute: number, work: number): number[] => SHARE_KINDS.map((kind) => (kind === "compute" ? compute : kind === "work" ? work : 0));

describe("sums over ranks and time", () => {
  it("are those of the ranks that are meant, and never below zero", () => {
    const sums = summed(madeShares(3, 2, (rank, window) => cell(10 * rank + window, -5)), [1, 2]);
    expect([...sums.subarray(0, 2)]).toEqual([30, 32]);
    expect([...sums.subarray(8, 10)]).toEqual([0, 0]);
  });

  it("of ranks that share a row are their part of it", () => {
    const shares = madeShares(1, 1, () => cell(80, 40), { ranksPerRow: 4, firstRank: 8 });
    expect(summed(shares, [8, 9])[0]).toBe(40);
    expect(summed(shares, [7, 12])[0]).toBe(0);
  });

  it("cover windows as far as these lie in the time", () => {
    const shares = madeShares(1, 4, (_, window) => cell(window === 1 ? 0 : 100, window === 1 ? 100 : 0));
    const sums = summed(shares, [0]);
    const parts = new Float64Array(KINDS);
    partsOf(shares, sums, 1, 50, 150, parts);
    expect([parts[0], parts[4]]).toEqual([0.5, 0.5]);
    partsOf(shares, sums, 1, 120, 130, parts);
    expect([parts[0], parts[4]]).toEqual([0, 1]);
    // Two ranks could have done twice as much.
    partsOf(shares, sums, 2, 0, 400, parts);
    expect(parts[0]).toBeCloseTo(0.375);
    partsOf(shares, sums, 1, 900, 950, parts);
    expect([...parts].every((part) => part === 0)).toBe(true);
  });
});

describe("shares as pixels", () => {
  const drawn = (rows: number, rowPixels: number, width: number, shares: ReturnType<typeof madeShares>): { pixels: Uint32Array; plot: SharePlot } => {
    const height = Math.round(rows * rowPixels);
    const plot = { width, height, fromNs: 0, nsPerPixel: (shares.windows * shares.widthNs) / width, bands: bandsOf(rows, 0, rowPixels, height), order: Uint32Array.from({ length: rows }, (_, row) => row), inks: kindInks("dark") };
    const pixels = new Uint32Array(width * height);
    for (const steps = rasterShares(pixels, shares, plot); !steps.next().done;);
    return { pixels, plot };
  };

  it("fill rows from the bottom, waiting first", () => {
    const { pixels } = drawn(1, 20, 1, madeShares(1, 1, () => cell(50, 50)));
    const inks = kindInks("dark").map(([red, green, blue, alpha]) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0);
    const work = inks[SHARE_KINDS.indexOf("work")];
    expect(STACKED[0]).toBe("work");
    expect(pixels[18]).toBe(work);
    expect([...pixels].filter((pixel) => pixel === work)).toHaveLength(10);
    expect(pixels[2]).toBe(inks[0]);
  });

  it("let one of many low rows be seen that does otherwise", () => {
    const { pixels } = drawn(64, 4, 3, madeShares(64, 3, (rank) => (rank === 21 ? cell(100, 0) : cell(30, 70))));
    const colour = (row: number): number => pixels[row * 4 * 3 + 1] ?? 0;
    expect(colour(21)).not.toBe(colour(20));
    expect(new Set([...Array(64).keys()].filter((row) => row !== 21).map(colour)).size).toBe(1);
  });

  it("are nothing after what was diagnosed", () => {
    const { pixels } = drawn(1, 4, 4, madeShares(1, 4, () => cell(0, 100), { untilNs: 200 }));
    expect([...pixels.subarray(0, 4)].map((pixel) => pixel > 0)).toEqual([true, true, true, false]);
  });

  it("mix colours by their parts", () => {
    const parts = new Float64Array(KINDS);
    expect(mixed(parts, kindInks("dark"))).toBe(0);
    parts[4] = 0.5;
    expect(mixed(parts, kindInks("dark")) >>> 24).toBe(128);
  });
});
