import { describe, expect, it } from "vitest";
import type { Pairs } from "../../feed/regions";
import { lensOf, project } from "./camera";
import { cellsOf, heaviest } from "./matrix";
import { BESIDE_DIAGONAL, cellAt, EDGE_MAX, edgeNames, firstCamera, reliefOf } from "./relief";

const PAIRS: Pairs = {
  fromNs: 0, toNs: 1, src: Uint32Array.of(0, 1, 5, 5), dst: Uint32Array.of(1, 0, 4, 5), messages: Float64Array.of(1, 2, 3, 4), bytes: Float64Array.of(10, 30, 20, 0),
  exact: Float64Array.of(1, 3, 0, 0), latency: Float64Array.of(1, 2, NaN, NaN), leftOut: 0,
};

const SIZE = { width: 600, height: 400 };

describe("relief and matrix", () => {
  it("sums pairs by cell and finds the heaviest", () => {
    expect([...cellsOf(PAIRS, "bytes", 3, 2)]).toEqual([40, NaN, NaN, NaN, NaN, NaN, NaN, NaN, 20]);
    expect(cellsOf(PAIRS, "latency", 3, 2)[0]).toBeCloseTo(1.75);
    expect(heaviest(PAIRS, 2)).toEqual([1, 2]);
    expect(heaviest(PAIRS, 9)).toEqual([1, 2, 0]);
  });

  it("draws no more cells than a frame has time for, and keeps the greatest", () => {
    const relief = reliefOf(1000, 4, (column) => (column === 777 ? 1 : 0.1));
    expect(relief.columns).toBeLessThanOrEqual(EDGE_MAX);
    expect(relief.rows).toBe(4);
    const bars = [...relief.parts.keys()].filter((at) => relief.parts[at] === 1);
    expect(bars.map((at) => relief.from[at])).toEqual([777, 1777, 2777, 3777]);
  });

  it("finds the bar under the pointer", () => {
    const relief = reliefOf(3, 3, (column, row) => (column === 2 && row === 1 ? 1 : NaN));
    const lens = lensOf(firstCamera(SIZE), SIZE);
    const [x, y] = project(lens, (2.5 / 3) * 1.6 - 0.8, 0.8 - (1.5 / 3) * 1.6, 0.35);
    expect(cellAt(relief, lens, x, y)).toBe(1 * 3 + 2);
    expect(cellAt(relief, lens, 1, 1)).toBeNull();
  });

  it("fits into pictures of any size, and names rows that leave each other room", () => {
    for (const size of [SIZE, { width: 380, height: 260 }, { width: 1400, height: 300 }]) {
      const lens = lensOf(firstCamera(size), size);
      for (const [right, back, up] of [[-0.8, -0.8, -0.35], [0.8, -0.8, 0.35], [0.8, 0.8, -0.35], [-0.8, 0.8, 0.35]] as const) {
        const [x, y] = project(lens, right, back, up);
        expect(x > 0 && x < size.width && y > 0 && y < size.height).toBe(true);
      }
    }
    const names = edgeNames(lensOf(firstCamera(SIZE), SIZE), "rank", Array.from({ length: 40 }, (_, at) => `MPI_${at}`));
    expect(names[0]?.text).toBe("rank");
    expect(names.length).toBeLessThan(30);
    for (let at = 2; at < names.length; at++) expect(Math.abs((names[at]?.y ?? 0) - (names[at - 1]?.y ?? 0))).toBeGreaterThanOrEqual(13);
  });

  it("finds the cell whose value a bar of several cells has", () => {
    const relief = reliefOf(3 * EDGE_MAX, 1, (column) => (column === 100 ? 1 : column === 99 ? 0.5 : NaN));
    const lens = lensOf(firstCamera(SIZE), SIZE);
    const [x, y] = project(lens, (33.5 / EDGE_MAX) * 1.6 - 0.8, 0, 0.35);
    expect(cellAt(relief, lens, x, y)).toBe(100);
  });

  it("shows the diagonal of a matrix in its whole length", () => {
    const lens = lensOf(firstCamera(SIZE, BESIDE_DIAGONAL), SIZE);
    const usual = lensOf(firstCamera(SIZE), SIZE);
    const length = (through: typeof lens): number => {
      const [from, to] = [project(through, -0.8, 0.8, 0), project(through, 0.8, -0.8, 0)];
      return Math.abs(to[0] - from[0]);
    };
    expect(length(lens)).toBeGreaterThan(2 * length(usual));
  });
});
