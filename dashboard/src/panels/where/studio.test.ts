import { describe, expect, it } from "vitest";
import { targetAt, ranksInside } from "./hit";
import { ringPairs, rows } from "./made-up";
import { orderBy } from "./matrix";
import { Studio } from "./studio";

const UNIT = [10, 0, 0, 10, 0, 0] as const;

describe("the studio", () => {
  it("leaves what was moved by hand where it was put, and its links with it", () => {
    const studio = new Studio();
    const before = studio.arrange(rows(4, 6), ringPairs(4, 6), null).placement;
    studio.move([3], 50, -20, null);
    const disc = before.discs[1]!;
    const scene = studio.move([6, 7, 8, 9, 10, 11], 0, 100, 1)!;
    expect([scene.placement.x[3], scene.placement.y[3]]).toEqual([Math.fround(before.x[3]! + 50), Math.fround(before.y[3]! - 20)]);
    expect(scene.placement.discs[1]).toEqual({ ...disc, y: disc.y + 100 });
    const again = studio.arrange(rows(4, 6), ringPairs(4, 6), null);
    for (const rank of [3, 6, 11, 20]) {
      expect(again.placement.x[rank]).toBeCloseTo(scene.placement.x[rank]!, 4);
      expect(again.placement.y[rank]).toBeCloseTo(scene.placement.y[rank]!, 4);
    }
    expect(studio.arrange(rows(4, 6), ringPairs(4, 6), null, true).placement).toEqual(before);
  });

  it("cuts a part out of the whole matrix, with the scale of the whole", () => {
    const studio = new Studio();
    studio.arrange(rows(3, 5), ringPairs(3, 5), null);
    const { places } = orderBy(15, null);
    const ask = { ranks: 15, places, order: 0, measure: "messages", theme: "dark" } as const;
    const part = studio.cells({ ...ask, cells: { ranks: 1, column: 5, row: 0, columns: 2, rows: 1 } });
    expect(part).toMatchObject({ least: 1, most: 10 });
    expect([part?.pixels[3], part?.pixels[7]]).toEqual([255, 0]);
    expect(new Studio().cells({ ...ask, cells: { ranks: 1, column: 0, row: 0, columns: 1, rows: 1 } })).toBeNull();
  });
});

describe("what is under the pointer", () => {
  const scene = new Studio().arrange(rows(2, 6), ringPairs(2, 6), null);
  const at = (x: number, y: number) => targetAt(scene, UNIT, x * 10, y * 10);

  it("is a rank, else a region, else what is between regions, else nothing", () => {
    const { placement, curves } = scene;
    expect(at(placement.x[4]!, placement.y[4]!)).toEqual({ kind: "rank", rank: 4 });
    const disc = placement.discs[0]!;
    expect(at(disc.x - disc.radius + 0.1, disc.y)?.kind).toMatch(/region|rank/);
    const { points } = curves.trunks[0]!;
    expect(at(points[14]!, points[15]!)).toEqual({ kind: "between", a: 0, b: 1 });
    expect(at(1000, 1000)).toBeNull();
  });

  it("is in a lasso when it is inside", () => {
    const far = 10_000;
    expect(ranksInside(scene, UNIT, [[-far, -far], [far, -far], [far, far], [-far, far]])).toHaveLength(12);
    expect(ranksInside(scene, UNIT, [[far, far], [2 * far, far], [far, 2 * far]])).toEqual([]);
  });
});
