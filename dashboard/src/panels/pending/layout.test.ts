import { describe, expect, it } from "vitest";
import { curveOf, hit, layoutOf, pointOn } from "./layout";
import { type MadeGroup, madePending, single } from "./made-pending";

const SIZE = { width: 600, height: 400 };
const laid = (groups: readonly MadeGroup[], width = 14) => layoutOf(madePending(groups, []).groups, groups.map(() => width), 40, SIZE);

describe("the oval of groups", () => {
  it("has all in sight, from the top on, clockwise", () => {
    for (const many of [1, 4, 128, 256]) {
      const { x, y, radius, centre } = laid(single(many));
      for (let at = 0; at < many; at++) {
        expect(x[at]).toBeGreaterThan(radius);
        expect(x[at]).toBeLessThan(SIZE.width - radius);
        expect(y[at]).toBeGreaterThan(radius);
        expect(y[at]).toBeLessThan(SIZE.height - radius);
      }
      expect(x[0]).toBeCloseTo(centre[0]);
      if (many > 1) expect(x[1]).toBeGreaterThan(centre[0] - 1e-6);
    }
  });

  it("keeps ranks of a node together, with a line along them where there are several nodes", () => {
    const { x, y, arcs } = laid(single(8));
    const away = (one: number, other: number): number => Math.hypot((x[one] ?? 0) - (x[other] ?? 0), (y[one] ?? 0) - (y[other] ?? 0));
    expect(arcs).toEqual([{ first: 0, last: 3 }, { first: 4, last: 7 }]);
    expect(away(3, 4)).toBeGreaterThan(1.5 * away(2, 3));
    expect(laid(single(4)).arcs).toEqual([]);
    expect(laid(Array.from({ length: 64 }, (_, at) => ({ ranks: 4, keys: [at, at] as const, of: [4 * at, 4 * at + 3] as const }))).arcs).toEqual([]);
  });

  it("leaves space for names, and cuts very long ones", () => {
    expect(laid(single(60), 90).rx).toBeLessThan(laid(single(60), 14).rx);
    expect(laid(single(60), 120).rx).toBe(laid(single(60), 5000).rx);
  });
});

describe("edges", () => {
  const layout = laid(single(8));

  it("go apart for the two directions", () => {
    const [one, other] = [pointOn(curveOf(layout, 1, 5), 0.5), pointOn(curveOf(layout, 5, 1), 0.5)];
    expect(Math.hypot(one[0] - other[0], one[1] - other[1])).toBeGreaterThan(10);
  });

  it("and groups are found under the pointer", () => {
    const edges = [[1, 5], [5, 1], [2, 2]] as const;
    edges.forEach(([from, to], at) => {
      if (from === to) return;
      expect(hit(layout, edges, ...pointOn(curveOf(layout, from, to), 0.5))).toEqual({ kind: "edge", at });
    });
    expect(hit(layout, edges, layout.x[3] ?? 0, layout.y[3] ?? 0)).toEqual({ kind: "group", at: 3 });
    expect(hit(layout, [], 300, 200)).toBeNull();
  });
});
