import { describe, expect, it } from "vitest";
import { bundle, POINTS } from "./bundle";
import { fitted, matrixOf, moved, panned, toScreen, toWorld, turned, zoomed } from "./camera";
import { layout, type Placement } from "./layout";
import { type Label, placeLabels } from "./labels";
import { linksOf, rankLatency } from "./links";
import { ringPairs, rows } from "./made-up";
import { graphOf, places } from "./pivots";

const made = (many: number, row: number): Placement => layout(rows(many, row).regions, linksOf(ringPairs(many, row)), null);

function overlaps({ discs }: Placement): string[] {
  return discs.flatMap((one, at) => discs.slice(at + 1)
    .filter((other) => Math.hypot(one.x - other.x, one.y - other.y) < one.radius + other.radius - 1e-3)
    .map((other) => `${one.id} and ${other.id}`));
}

describe("links", () => {
  it("take both ways together, the heaviest first to stay", () => {
    const links = linksOf(ringPairs(2, 4));
    expect([...links.a]).toEqual([0, 0, 0, 1, 2, 4, 4, 5, 6]);
    expect([...links.b]).toEqual([1, 3, 4, 2, 3, 5, 7, 6, 7]);
    expect([links.messages[0], links.bytes[0]]).toEqual([20, 2000]);
    // Only 0 to 1 is known, not 1 to 0.
    expect(links.latency[0]).toBe(1);
    const few = linksOf(ringPairs(2, 4), 8);
    expect([few.length, few.leftOut, [...few.b].includes(4)]).toEqual([8, 1, false]);
    expect(rankLatency(links, 8)[0]).toBeCloseTo((20 * 1 + 20 * 1 + 2 * ((1 + 5) / 2)) / 42, 1);
  });
});

describe("the layout", () => {
  it("is the same for the same input, with every rank in its disc and no discs that overlap", () => {
    for (const [many, row] of [[1, 1], [1, 64], [8, 8], [16, 32], [40, 50], [60, 1]] as const) {
      const placement = made(many, row);
      expect(made(many, row)).toEqual(placement);
      expect(placement.x).toHaveLength(many * row);
      expect(overlaps(placement)).toEqual([]);
      const outside = Array.from(placement.x.keys()).filter((rank) => {
        const disc = placement.discs[placement.regionOf[rank] ?? -1]!;
        return !(Math.hypot((placement.x[rank] ?? 0) - disc.x, (placement.y[rank] ?? 0) - disc.y) <= disc.radius);
      });
      expect(outside).toEqual([]);
    }
  });

  it("keeps ranks apart", () => {
    const { x, y } = made(2, 40);
    for (let a = 0; a < 40; a++) for (let b = 0; b < a; b++) expect(Math.hypot(x[a]! - x[b]!, y[a]! - y[b]!)).toBeGreaterThan(0.6);
  });

  it("stays put when regions come again, whatever is exchanged, and moves only what has to when they change", () => {
    const before = made(8, 8);
    const busier = ringPairs(8, 8);
    busier.messages = busier.messages.map((messages, at) => messages * (1 + (at % 7)));
    expect(layout(rows(8, 8).regions, linksOf(busier), before)).toEqual(before);
    // Rank 8 changes from region 1 to region 0.
    const changed = rows(8, 8).regions.map((region) => (region.id === 0 ? { ...region, ranks: [[0, 8]] as const } : region.id === 1 ? { ...region, ranks: [[9, 15]] as const } : region));
    const after = layout(changed, linksOf(busier), before);
    expect(after.regionOf[8]).toBe(0);
    expect(overlaps(after)).toEqual([]);
    for (let rank = 16; rank < 64; rank++) expect([after.x[rank], after.y[rank]]).toEqual([before.x[rank], before.y[rank]]);
    // Other regions altogether.
    const other = rows(4, 16).regions.map((region) => ({ ...region, id: region.id + 50 }));
    expect(layout(other, linksOf(busier), before)).toEqual(layout(other, linksOf(busier), null));
  });

  it("shows a grid as a grid, and says nothing of a graph without links", () => {
    const [a, b]: [number[], number[]] = [[], []];
    for (let at = 0; at < 36; at++) {
      if (at % 6 < 5) { a.push(at); b.push(at + 1); }
      if (at < 30) { a.push(at); b.push(at + 6); }
    }
    const { x, y } = places(graphOf(36, a, b));
    const between = (one: number, other: number): number => Math.hypot(x[one]! - x[other]!, y[one]! - y[other]!);
    expect(between(0, 35)).toBeGreaterThan(3 * between(14, 15));
    expect(between(5, 30)).toBeGreaterThan(3 * between(14, 20));
    for (const value of [...places(graphOf(5, [], [])).x]) expect(value).not.toBeNaN();
  });
});

describe("bundled links", () => {
  it("are numbers, and begin and end at their ranks", () => {
    for (const [many, row] of [[1, 2], [1, 30], [9, 7], [30, 1]] as const) {
      const links = linksOf(ringPairs(many, row));
      const placement = made(many, row);
      const curves = bundle(links, placement);
      expect(curves.links.length).toBe(links.length * POINTS * 2);
      expect(curves.links.every(Number.isFinite)).toBe(true);
      for (let at = 0; at < links.length; at++) {
        const points = curves.links.subarray(at * POINTS * 2, (at + 1) * POINTS * 2);
        const [a, b] = [links.a[at]!, links.b[at]!];
        expect([points[0], points[1], points.at(-2), points.at(-1)]).toEqual([placement.x[a], placement.y[a], placement.x[b], placement.y[b]]);
      }
      for (const { points } of curves.trunks) expect(points.every(Number.isFinite)).toBe(true);
    }
  });

  it("are numbers even where all lies in one place", () => {
    const links = linksOf(ringPairs(2, 2));
    const zero = new Float32Array(4);
    const disc = { x: 0, y: 0, radius: 1 };
    const curves = bundle(links, { x: zero, y: zero, regionOf: Int32Array.of(0, 0, 1, 1), discs: [{ id: 0, ...disc }, { id: 1, ...disc }] });
    expect(curves.links.every(Number.isFinite)).toBe(true);
  });
});

describe("the camera", () => {
  const size = { width: 800, height: 500 };
  const camera = { x: 3, y: -2, scale: 12, angle: 0.7 };

  it("goes there and back", () => {
    const matrix = matrixOf(camera, size);
    expect(toScreen(matrix, 3, -2)).toEqual([expect.closeTo(400), expect.closeTo(250)]);
    const [x, y] = toScreen(matrix, 10, 20);
    expect(toWorld(matrix, x, y)).toEqual([expect.closeTo(10), expect.closeTo(20)]);
  });

  it("zooms around a place, pans with the hand, turns around the middle", () => {
    const at = [100, 80] as const;
    const under = toWorld(matrixOf(camera, size), ...at);
    expect(toScreen(matrixOf(zoomed(camera, 3, at, size), size), ...under)).toEqual(at.map((value) => expect.closeTo(value)));
    expect(toScreen(matrixOf(panned(camera, 30, -40), size), ...under)).toEqual([expect.closeTo(130), expect.closeTo(40)]);
    expect(turned(camera, 1).angle).toBeCloseTo(1.7);
    expect(turned(camera, -1).angle).toBeCloseTo(0.7 - 1 + 2 * Math.PI);
  });

  it("carries a picture from one view to another", () => {
    const [from, to] = [matrixOf(camera, size), matrixOf({ x: 1, y: 1, scale: 30, angle: 2 }, size)];
    const there = toScreen(moved(from, to), ...toScreen(from, 5, 6));
    const [x, y] = toScreen(to, 5, 6);
    expect(there).toEqual([expect.closeTo(x), expect.closeTo(y)]);
  });

  it("shows all", () => {
    const discs = [{ x: -10, y: 4, radius: 2 }, { x: 30, y: 0, radius: 5 }];
    const fit = fitted(discs, 0.5, size, 20);
    for (const disc of discs) {
      const [x, y] = toScreen(matrixOf(fit, size), disc.x, disc.y);
      const far = disc.radius * fit.scale - 1e-6;
      expect([x - far >= 19, x + far <= 781, y - far >= 19, y + far <= 481]).toEqual([true, true, true, true]);
    }
  });
});

describe("names", () => {
  const label = (x: number, y: number, bold = true): Label => ({ text: "0\u20137", x, y, reach: 20, width: 30, bold });

  it("are never one over another, nor over another's disc, nor cut off", () => {
    const labels = Array.from({ length: 60 }, (_, at) => label(20 + (at % 10) * 37, 15 + Math.floor(at / 10) * 33));
    const discs = labels.map(({ x, y }) => ({ x, y, radius: 20, bold: true }));
    const placed = placeLabels(labels, discs, 400, 220);
    const boxes = placed.map(({ left, middle }) => ({ left, right: left + 30, top: middle - 8, bottom: middle + 8 }));
    boxes.forEach((one, at) => boxes.slice(at + 1).forEach((other) => {
      expect(one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top).toBe(false);
    }));
    for (const { left, right, top, bottom } of boxes) expect([left >= 0, right <= 400, top >= 0, bottom <= 220]).toEqual([true, true, true, true]);
  });

  it("leave discs free unless they must be there", () => {
    const all = [[200, 68], [200, 132], [240, 100], [160, 100]].map(([x = 0, y = 0]) => ({ x, y, radius: 12, bold: true }));
    expect(placeLabels([label(200, 100)], all, 400, 220)).toEqual([]);
    expect(placeLabels([{ ...label(200, 100), must: true }], all, 400, 220)).toHaveLength(1);
    expect(placeLabels([label(200, 100, false)], all, 400, 220)).toHaveLength(1);
  });

  it("find another side where one is taken", () => {
    const placed = placeLabels([label(200, 100), label(200, 100)], [], 400, 220);
    expect(placed.map(({ middle }) => middle)).toEqual([68, 132]);
  });
});
