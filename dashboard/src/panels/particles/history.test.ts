import { describe, expect, it } from "vitest";
import type { History } from "../../feed/calls";
import { MOST_CELLS, HistoryCells } from "./history-cells";
import { columnsOf, HistoryRaster, opacityOf, placeOf, rowsOf, type HistoryShape } from "./history-raster";

type Cell = [row: number, functionId: number, bin: number, count: number];

function history(cells: readonly Cell[], ranksPerRow = 1): History {
  return {
    fromNs: 0, toNs: 1e9, binsPerOctave: 16, ranksPerRow, length: cells.length,
    row: Uint32Array.from(cells, ([row]) => row),
    function: Uint32Array.from(cells, ([, functionId]) => functionId),
    bin: Uint32Array.from(cells, ([, , bin]) => bin),
    count: Float64Array.from(cells, ([, , , count]) => count),
    total: cells.reduce((sum, [, , , count]) => sum + count, 0),
  };
}

function shape(more: Partial<HistoryShape> = {}): HistoryShape {
  const colours = new Uint8Array(4096 * 4);
  colours.set([255, 0, 0, 255, 0, 0, 255, 255], 4);
  return { columns: 60, rows: 40, scale: { unitNs: 1e3, topNs: 1e8 }, ranks: 4, colours, ranksShown: null, ...more };
}

function drawn(answers: readonly History[], as = shape()): HistoryRaster {
  const raster = new HistoryRaster();
  raster.configure(as);
  for (const answer of answers) {
    raster.add(answer);
    while (!raster.complete) raster.work(0, () => 1);
  }
  return raster;
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

describe("opacity", () => {
  it("follows the formula", () => {
    expect(opacityOf(1, 100, 0.2)).toBeCloseTo(0.2, 12);
    expect(opacityOf(10, 100, 0.2)).toBeCloseTo(0.6, 12);
    expect(opacityOf(100, 100, 0.2)).toBeCloseTo(1, 12);
  });
  it("is full where no place has more than one call, and nothing where there is none", () => {
    expect(opacityOf(1, 1, 0.2)).toBe(1);
    expect(opacityOf(0, 1, 0.2)).toBe(0);
    expect(opacityOf(0, 50, 0.2)).toBe(0);
  });
});

describe("the places of a cell", () => {
  it.each([1, 2, 3, 7, 64, 100, 1021])("are all met once in %d calls", (places) => {
    for (const seed of [1, 77, 0xabcdef]) {
      const met = new Set(Array.from({ length: places }, (_, visit) => placeOf(visit, places, seed)));
      expect(met.size).toBe(places);
      expect(Math.max(...met)).toBe(places - 1);
    }
  });

  it("of ranks have the same gaps between them, or none", () => {
    for (const ranks of [4, 16, 64, 100]) {
      const gaps = Array.from({ length: ranks - 1 }, (_, rank) => columnsOf(rank + 1, rank + 2, ranks, 829)[0] - columnsOf(rank, rank + 1, ranks, 829)[1]);
      expect(new Set(gaps).size).toBe(1);
    }
  });

  it("of ranks and bins lie inside the picture, beside each other", () => {
    for (const ranks of [1, 4, 100, 1024, 16384]) {
      let before = 0;
      for (let rank = 0; rank < ranks; rank++) {
        const [left, right] = columnsOf(rank, rank + 1, ranks, 600);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(right).toBeLessThanOrEqual(600);
        expect(right).toBeGreaterThan(left);
        expect(left).toBeGreaterThanOrEqual(before);
        before = left;
      }
    }
    for (let bin = 0; bin < 700; bin++) {
      const [bottom, top] = rowsOf(bin, 16, { unitNs: 1e3, topNs: 1e8 }, 400);
      expect(bottom).toBeGreaterThanOrEqual(0);
      expect(top).toBeLessThanOrEqual(400);
      expect(top).toBeGreaterThan(bottom);
    }
  });
});

describe("the picture of the history", () => {
  const cells: Cell[] = [];
  for (let at = 0; at < 400; at++) cells.push([at % 4, 1 + (at % 2), 120 + ((at * 37) % 200), 1 + ((at * 13) % 50)]);

  it("shows every call once", () => {
    expect(sum(drawn([history(cells)]).density)).toBe(history(cells).total);
  });

  it("is the same however the calls arrived", () => {
    const whole = drawn([history(cells)]);
    const ones = cells.flatMap(([row, functionId, bin, count]) =>
      Array.from({ length: count }, (): Cell => [row, functionId, bin, 1]),
    );
    const half = ones.length >> 1;
    const parts = drawn([history(ones.slice(0, half)), history(ones.slice(half))]);
    expect(parts.density).toEqual(whole.density);
    expect(parts.densest).toBe(whole.densest);
  });

  it("is the same after its shape changed and changed back", () => {
    const raster = drawn([history(cells)]);
    const before = raster.density.slice();
    raster.configure(shape({ scale: { unitNs: 1e3, topNs: 1e9 } }));
    while (!raster.complete) raster.work(0, () => 1);
    expect(raster.density).not.toEqual(before);
    expect(sum(raster.density)).toBe(history(cells).total);
    raster.configure(shape());
    while (!raster.complete) raster.work(0, () => 1);
    expect(raster.density).toEqual(before);
  });

  it("mixes colours in linear light", () => {
    const raster = drawn([history([[0, 1, 200, 3], [0, 2, 200, 3]])], shape({ columns: 1, rows: 1, ranks: 1 }));
    expect([...raster.meanColour]).toEqual([0.5, 0, 0.5]);
    expect([...raster.image()!.colours]).toEqual([188, 0, 188, 255]);
  });

  it("leaves out hidden functions and ranks", () => {
    const colours = shape().colours.slice();
    colours[1 * 4 + 3] = 0;
    const ofTwo = cells.filter(([, functionId]) => functionId === 2).reduce((total, [, , , count]) => total + count, 0);
    expect(sum(drawn([history(cells)], shape({ colours })).density)).toBe(ofTwo);
    const ofRankOne = cells.filter(([row]) => row === 1).reduce((total, [, , , count]) => total + count, 0);
    expect(sum(drawn([history(cells)], shape({ ranksShown: Uint8Array.of(0, 1, 0, 0) })).density)).toBe(ofRankOne);
  });

  it("counts beyond what a half or single float could", () => {
    const raster = drawn([history([[0, 1, 200, 2 ** 24]]), history([[0, 1, 200, 1]])], shape({ columns: 1, rows: 1, ranks: 1 }));
    expect(raster.densest).toBe(2 ** 24 + 1);
  });

  it("works in slices", () => {
    const raster = new HistoryRaster();
    raster.configure(shape());
    raster.add(history(cells));
    let slices = 0;
    while (raster.work(0, () => 1)) slices++;
    expect(slices).toBe(Math.ceil(cells.length / 256));
  });
});

describe("cells", () => {
  it("become coarser rather than more than they may", () => {
    const cells = new HistoryCells(100);
    const raster = new HistoryRaster(cells);
    raster.configure(shape({ ranks: 1024, columns: 1024 }));
    raster.add(history(Array.from({ length: 1024 }, (_, row): Cell => [row, 1, 200, 2])));
    while (!raster.complete) raster.work(0, () => 1);
    expect(cells.length).toBeLessThanOrEqual(100);
    expect(cells.ranksPerRow).toBe(16);
    expect(sum(raster.density)).toBe(2048);
    expect(MOST_CELLS).toBeLessThan(2 ** 20);
  });

  it("refuse answers whose rows are wider than theirs", () => {
    const raster = drawn([history([[0, 1, 200, 1]], 2)]);
    expect(raster.add(history([[0, 1, 200, 1]], 4))).toBe(false);
    expect(raster.add(history([[1, 1, 200, 1]], 1))).toBe(true);
    while (!raster.complete) raster.work(0, () => 1);
    expect(raster.cells.length).toBe(1);
  });
});
