import { describe, expect, it } from "vitest";
import { arranged, brought, fitted, isFitted, moved, ROW_MOST, rowAt, rowsByRank, rowsInSight, scrolled, settled, yOfRow, zoomedRows } from "./rows";

const KEYS = { node: (rank: number): number => rank % 2, region: (rank: number): number => (rank < 2 ? Infinity : 9 - rank) };

describe("the order of rows", () => {
  const sorted = (kind: "rank" | "node" | "region", byHand: number[] | null = null, only: [number, number][] | null = null): number[] => [...arranged(5, { kind, byHand, only }, KEYS)];

  it("is by rank, node or region, those without a region last", () => {
    expect(sorted("rank")).toEqual([0, 1, 2, 3, 4]);
    expect(sorted("node")).toEqual([0, 2, 4, 1, 3]);
    expect(sorted("region")).toEqual([4, 3, 2, 0, 1]);
  });

  it("is what hands made of it, with new ranks after the others, and only those that are selected", () => {
    expect(sorted("rank", [2, 0, 1])).toEqual([2, 0, 1, 3, 4]);
    expect(sorted("rank", [2, 0, 1], [[1, 2], [4, 9]])).toEqual([2, 1, 4]);
    expect([...rowsByRank(Uint32Array.of(2, 0, 4))]).toEqual([1, -1, 0, -1, 2]);
  });

  it("changes by taking one row to the place of another", () => {
    expect(moved([0, 1, 2, 3], 0, 2)).toEqual([1, 2, 0, 3]);
    expect(moved([0, 1, 2, 3], 3, 1)).toEqual([0, 3, 1, 2]);
    expect(moved([0, 1, 2, 3], 9, 1)).toEqual([0, 1, 2, 3]);
  });
});

describe("where rows are", () => {
  const frame = { rows: 2000, height: 400 };

  it("all are in sight at first, and never less high than that", () => {
    expect(fitted(frame)).toEqual({ top: 0, rowPixels: 0.2 });
    expect(fitted({ rows: 4, height: 400 }).rowPixels).toBe(ROW_MOST);
    expect(settled({ top: 900, rowPixels: 0.01 }, frame)).toEqual(fitted(frame));
    expect(isFitted(settled({ top: 0, rowPixels: 0.3 }, frame), frame)).toBe(false);
    expect(rowsInSight(fitted(frame), frame)).toEqual([0, 2000]);
  });

  it("what is under the pointer stays there", () => {
    let camera = fitted(frame);
    for (let step = 0; step < 12; step++) {
      const before = camera.top + 130 / camera.rowPixels;
      camera = zoomedRows(camera, frame, 1.5, 130);
      expect(camera.top + 130 / camera.rowPixels).toBeCloseTo(before, 6);
    }
    expect(rowAt(camera, 2000, 130)).toBe(Math.floor(camera.top + 130 / camera.rowPixels));
    expect(yOfRow(camera, rowAt(camera, 2000, 130))).toBeLessThanOrEqual(130.001);
  });

  it("scrolling ends at the first and at the last", () => {
    const camera = settled({ top: 0, rowPixels: 20 }, frame);
    expect(scrolled(camera, frame, -50).top).toBe(0);
    expect(scrolled(camera, frame, 1e9).top).toBe(1980);
    expect(rowsInSight(scrolled(camera, frame, 30), frame)).toEqual([1, 22]);
    expect(brought(camera, frame, 100).top).toBe(81);
    expect(brought(camera, frame, 5)).toEqual(camera);
    expect(rowAt(fitted({ rows: 2, height: 400 }), 2, 200)).toBe(-1);
  });
});
