import { describe, expect, it } from "vitest";
import { axisWords } from "./axis";
import { type Camera, fit, fitCell, type Frame, gaps, panned, place, placeAt, settled, zoomed } from "./camera";
import { bundlesOf, curveOf, isInSight, widthOf } from "./edges";
import { BORDER } from "./glyph";
import { graphOf } from "./graph";
import { madeDag } from "./made-dag";

const WIDE: Frame = { width: 1000, height: 500, layers: 10, rows: 8, isFlipped: false };
const TALL: Frame = { ...WIDE, rows: 512 };

describe.each([WIDE, TALL, { ...WIDE, isFlipped: true }, { ...TALL, isFlipped: true }])("the camera in %o", (frame) => {
  const half = (frame.rows - 1) / 2;

  it("shows everything when it fits", () => {
    for (const layer of [0, 9]) {
      for (const row of [-half, half]) {
        const [x, y] = place(fit(frame), frame, layer, row);
        expect(x).toBeGreaterThan(0);
        expect(y).toBeGreaterThan(0);
        expect(x).toBeLessThan(frame.width);
        expect(y).toBeLessThan(frame.height);
      }
    }
  });

  it("finds back what it placed", () => {
    const camera: Camera = { layer: 3.2, row: -1.5, cell: 77 };
    const found = placeAt(camera, frame, ...place(camera, frame, 6, 2.5));
    expect([found.layer, found.row]).toEqual([expect.closeTo(6), expect.closeTo(2.5)]);
  });

  it("keeps what is under the pointer", () => {
    const camera: Camera = { layer: 4, row: 0, cell: 60 };
    const near = zoomed(camera, frame, 1.5, 600, 200);
    const [before, after] = [placeAt(camera, frame, 600, 200), placeAt(near, frame, 600, 200)];
    expect(near.cell).toBeCloseTo(90);
    expect([after.layer, after.row]).toEqual([expect.closeTo(before.layer), expect.closeTo(before.row)]);
  });

  it("goes no further away than where all is seen", () => {
    expect(zoomed({ layer: 1, row: 0, cell: fitCell(frame) * 1.1 }, frame, 0.1, 0, 0)).toEqual(fit(frame));
  });

  it("moves by pixels, and not out of the graph", () => {
    const camera: Camera = { layer: 4, row: 0, cell: 60 };
    const [x, y] = place(camera, frame, 4, 0);
    const [movedX, movedY] = place(panned(camera, frame, 30, -20), frame, 4, 0);
    expect([movedX - x, movedY - y]).toEqual([expect.closeTo(30), expect.closeTo(-20)]);
    expect(settled({ layer: -50, row: 1e9, cell: 60 }, frame)).toEqual({ layer: 0, row: half, cell: 60 });
  });
});

describe("the gaps", () => {
  it("fill the view with a few layers of many rows", () => {
    const camera = fit(TALL);
    expect(gaps(camera, TALL).along).toBeGreaterThan(90);
    expect(gaps(camera, TALL).across).toBeLessThan(1);
  });

  it("always leave room for the glyph", () => {
    for (const cell of [1, 20, 100, 400]) {
      const { along, across } = gaps({ layer: 0, row: 0, cell }, TALL);
      expect(along).toBeGreaterThan(cell);
      expect(across).toBeGreaterThan(cell);
    }
  });
});

describe("edges", () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ rank: at, layer: at < 30 ? 0 : 1, place: at % 30 }));
  const graph = graphOf(madeDag(many, Array.from({ length: 30 }, (_, at) => [at, 30 + ((at * 7) % 30)] as const)));
  const frame: Frame = { width: 800, height: 600, layers: graph.layers, rows: graph.rows, isFlipped: false };

  it("run from the side of a glyph to that of another", () => {
    const curve = new Float64Array(8);
    const camera: Camera = { layer: 0.5, row: 0, cell: 40 };
    curveOf(graph, null, 0, camera, frame, curve);
    const [x, y] = place(camera, frame, 0, graph.row[0] ?? 0);
    expect([curve[0], curve[1]]).toEqual([expect.closeTo(x + BORDER * 40), expect.closeTo(y)]);
    expect(curve[3]).toBeCloseTo(y);
  });

  it("run together where there are many, and by themselves near by", () => {
    const bundles = bundlesOf(graph);
    const middle = (cell: number): number[] => [0, 1].map((edge) => {
      const curve = new Float64Array(8);
      curveOf(graph, bundles, edge, { layer: 0.5, row: 0, cell }, frame, curve);
      return curve[3] ?? 0;
    });
    const apart = ([one = 0, other = 0]: number[]): number => Math.abs(one - other);
    const alone = [0, 1].map((edge) => place({ layer: 0.5, row: 0, cell: 6 }, frame, 0, graph.row[edge] ?? 0)[1]);
    expect(apart(middle(6))).toBeLessThan(0.5 * apart(alone));
    expect(apart(middle(40))).toBeCloseTo(apart([0, 1].map((edge) => place({ layer: 0.5, row: 0, cell: 40 }, frame, 0, graph.row[edge] ?? 0)[1])));
  });

  it("are left out when they are out of sight", () => {
    expect(isInSight(Float64Array.of(-50, 10, -40, 10, -20, 10, -5, 10), frame, 0)).toBe(false);
    expect(isInSight(Float64Array.of(-50, 10, -40, 10, -20, 10, -5, 10), frame, 6)).toBe(true);
    expect(isInSight(Float64Array.of(-50, 10, 0, 10, 900, 10, 950, 10), frame, 0)).toBe(true);
  });

  it("are wider for more messages, within bounds", () => {
    expect(widthOf(16, 40)).toBeGreaterThan(widthOf(2, 40));
    expect(widthOf(1e9, 400)).toBeLessThanOrEqual(6);
  });

  it("have words above them that do not run into each other", () => {
    const words = axisWords(graph, fit(frame), frame);
    expect(words.map(({ text }) => text)).toEqual(["+0 ns", "+10 ns"]);
    const dense: Frame = { ...frame, width: 90 };
    expect(axisWords(graph, fit(dense), dense)).toHaveLength(1);
  });
});
