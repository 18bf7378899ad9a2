import { describe, expect, it } from "vitest";
import { madeCalls, type MadeCall, randomCalls } from "./made-traffic";
import { bandsOf, densityOf, faint, laneLines, type Plot, rasterBars, rasterTime, Sums } from "./raster";
import { tracksOf } from "./tracks";

const INKS = Uint32Array.of(0xff000000, 0xff000001, 0xff000002, 0, 0xff000004, 0xff0000ff);

function plotOf(rows: number, rowPixels: number, width: number, toNs: number, part: Partial<Plot> = {}): Plot {
  const height = Math.max(1, Math.round(rows * rowPixels));
  return {
    width, height, fromNs: 0, nsPerPixel: toNs / width, bands: bandsOf(rows, 0, rowPixels, height), order: Uint32Array.from({ length: rows }, (_, row) => row),
    inks: INKS, allFromNs: 0, share: 1, ...part,
  };
}

function drawn(how: typeof rasterBars, rows: readonly MadeCall[], plot: Plot): Uint32Array {
  const calls = madeCalls(rows);
  const pixels = new Uint32Array(plot.width * plot.height);
  for (const steps = how(pixels, tracksOf(calls), calls, plot); !steps.next().done;);
  return pixels;
}

describe("rows as lines of pixels", () => {
  it.each([[7, 0, 20], [100, 0, 0.37], [100, 12.4, 0.9], [31, 3.5, 2.6]])("are each in one band, and bands are beside each other (%f rows from %f, %f high)", (rows, top, rowPixels) => {
    const bands = bandsOf(rows, top, rowPixels, 60);
    for (const [at, band] of bands.entries()) {
      expect(band.y1).toBeGreaterThan(band.y0);
      expect(band.to).toBeGreaterThan(band.from);
      const next = bands[at + 1];
      if (next) expect([next.y0, next.from]).toEqual([band.y1, band.to]);
    }
    expect(bands[0]?.y0).toBe(0);
    expect(bands.at(-1)?.y1).toBe(Math.min(60, Math.round((rows - top) * rowPixels)));
  });

  it("are shared by several ranks where they are lower than a pixel", () => {
    expect(bandsOf(8, 0, 0.5, 4).map(({ from, to }) => to - from).reduce((sum, each) => sum + each)).toBe(8);
    expect(bandsOf(2000, 0, 0.2, 400)).toHaveLength(400);
    expect(bandsOf(9, 0, 0.45, 5).at(-1)?.to).toBe(9);
  });
});

describe("bars", () => {
  it("are where their calls are, a pixel at least, within others on top", () => {
    const plot = plotOf(1, 2, 10, 100);
    expect([...drawn(rasterBars, [{ rank: 0, from: 20, to: 70 }, { rank: 0, from: 40, to: 50, id: 2 }, { rank: 0, from: 90, to: 91, id: 4 }, { rank: 0, from: 0, to: 20, id: 3 }], plot)].slice(0, 10).map((ink) => ink & 0xff))
      .toEqual([0, 0, 1, 1, 2, 1, 1, 0, 0, 4]);
  });

  it("of threads lie side by side", () => {
    const plot = plotOf(1, 4, 1, 10);
    expect([...drawn(rasterBars, [{ rank: 0, thread: 0, from: 0, to: 10, id: 1 }, { rank: 0, thread: 5, from: 0, to: 10, id: 2 }], plot)].map((ink) => ink & 0xff)).toEqual([1, 1, 2, 2]);
    expect(laneLines({ y0: 10, y1: 31, from: 0, to: 1 }, 1, 2)).toEqual([20, 30]);
  });

  it("of functions without a colour of their own have the last one", () => {
    expect(drawn(rasterBars, [{ rank: 0, from: 0, to: 10, id: 9999 }], plotOf(1, 1, 1, 10))[0]).toBe(0xff0000ff);
  });
});

describe("time in MPI", () => {
  it.each([4, 5])("is summed by function and column as a slow count does (%i)", (seed) => {
    const rows = randomCalls(seed, 300, 1);
    const [width, toNs] = [50, 3000];
    const sums = new Sums(width, INKS);
    for (const { from, to, id = 1 } of rows) sums.add(INKS[id] ?? 0, (from * width) / toNs, (to * width) / toNs, 1);
    for (let column = 0; column < width; column++) {
      for (const [slot, ink] of sums.inks.entries()) {
        let inside = 0;
        for (const { from, to, id = 1 } of rows) if (INKS[id] === ink) inside += Math.max(0, Math.min(to, ((column + 1) * toNs) / width) - Math.max(from, (column * toNs) / width));
        // The slot of functions that are not drawn is never asked for.
        if (ink !== sums.inks[0]) expect(sums.at(slot, column)).toBeCloseTo((inside * width) / toNs, 6);
      }
    }
  });

  it("fills a high row as far as it was spent, by function from below", () => {
    const plot = plotOf(1, 11, 1, 100);
    const column = [...drawn(rasterTime, [{ rank: 0, from: 0, to: 30, id: 1 }, { rank: 0, from: 40, to: 60, id: 2 }], plot)].map((ink) => ink & 0xff);
    expect(column).toEqual([0, 0, 0, 0, 0, 2, 2, 1, 1, 1, 0]);
    expect(drawn(rasterTime, [{ rank: 0, from: 0, to: 1 }], plot).filter((ink) => ink !== 0)).toHaveLength(1);
  });

  it("is the colour of what took most where rows are low, the fainter the less there was", () => {
    const plot = plotOf(4, 0.5, 1, 100);
    const [first = 0, second = 0] = drawn(rasterTime, [{ rank: 0, from: 0, to: 100, id: 2 }, { rank: 1, from: 0, to: 10, id: 1 }, { rank: 3, from: 0, to: 1, id: 4 }], plot);
    expect([first & 0xff, second & 0xff]).toEqual([2, 4]);
    expect(first >>> 24).toBeGreaterThan(second >>> 24);
    expect(second >>> 24).toBeGreaterThanOrEqual(0x4c);
    expect(faint(0xff123456, 0.5)).toBe(0x80123456);
  });

  it("counts known calls for those that are not, and never more than there is", () => {
    const sampled = plotOf(1, 101, 1, 100, { allFromNs: 5, share: 0.25 });
    const filled = (rows: MadeCall[]): number => drawn(rasterTime, rows, sampled).filter((ink) => ink !== 0).length;
    expect(filled([{ rank: 0, from: 0, to: 4 }])).toBe(16);
    expect(filled([{ rank: 0, from: 0, to: 10 }])).toBe(10);
    expect(filled([{ rank: 0, from: 0, to: 98 }, ...Array.from({ length: 9 }, (_, at) => ({ rank: 0, from: 10 * at, to: 10 * at + 4 }))])).toBe(100);
  });
});

describe("what is drawn", () => {
  const density = (rows: readonly MadeCall[], plot: Plot): { calls: number; isTime: boolean } => {
    const calls = madeCalls(rows);
    return densityOf(tracksOf(calls), calls, plot);
  };
  const many = Array.from({ length: 40 }, (_, at) => ({ rank: 0, from: 2 * at, to: 2 * at + 1 }));

  it("is bars while calls can be distinguished, else time", () => {
    expect(density(many, plotOf(1, 9, 200, 100))).toEqual({ calls: 40, isTime: false });
    expect(density(many, plotOf(1, 9, 10, 100))).toEqual({ calls: 40, isTime: true });
    expect(density(many, plotOf(1, 1, 200, 100)).isTime).toBe(true);
    expect(density([...many, { rank: 0, from: 200, to: 300 }, { rank: 0, from: 3, to: 4, id: 3 }], plotOf(1, 9, 200, 100)).calls).toBe(40);
  });
});
