import { describe, expect, it } from "vitest";
import type { RankLayout } from "../../feed/ranks";
import { lensOf } from "./camera";
import { firstSide, type Mapping, placed, SELECTED, sceneOf, UNSELECTED } from "./model";
import { inside, nearest } from "./pick";
import { drawPoints, sheetOf } from "./raster";
import { projectAll } from "./camera";
import { ALL } from "./scale";

function layoutOf(points: readonly (readonly [number, number, number])[], pointsPerRank = 1): RankLayout {
  const column = (axis: 0 | 1 | 2): Float64Array => Float64Array.from(points, (point) => point[axis]);
  return {
    length: points.length, x: column(0), y: column(1), z: column(2), color: Float64Array.from(points, (_, at) => at), pointsPerRank,
    name: "made", names: ["made"], events: [], isOld: false, errors: [], warnings: [],
  };
}

const PLAIN: Mapping = { color: null, size: null, height: null, opacity: null, isLatency: false, isClipped: false, isLog: false, filter: ALL, slice: null, ranks: null, theme: "dark" };
const LINE = layoutOf([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]);

describe("model", () => {
  it("brings all points near the origin, and leaves out what has no place", () => {
    const at = placed(layoutOf([[1e12, 5, 5], [3e12, 5, 5], [NaN, 5, 5], [2e12, Infinity, 5]]));
    expect(at.finite).toBe(2);
    expect([...at.x].map((value) => Math.round(value * 10) / 10)).toEqual([-0.8, 0.8, NaN, NaN]);
    expect(sceneOf(layoutOf([[0, 0, 0], [NaN, 0, 0]]), placed(layoutOf([[0, 0, 0], [NaN, 0, 0]])), PLAIN).radius[1]).toBe(0);
    expect(placed(layoutOf([])).finite).toBe(0);
  });

  it("draws points that lie in one place small, and knows it", () => {
    const points = [[1, 2, 3], [1, 2, 3], [NaN, 0, 0]] as const;
    const scene = sceneOf(layoutOf(points), placed(layoutOf(points)), PLAIN);
    expect(scene.isOnePlace).toBe(true);
    expect(scene.reach).toBeLessThan(0.02);
    expect(placed(layoutOf([[1, 2, 3]])).isOnePlace).toBe(false);
    expect(placed(LINE).isOnePlace).toBe(false);
  });

  it("sees a plane from above and a line from the side", () => {
    expect(firstSide(placed(layoutOf([[0, 0, 0], [1, 1, 0]]))).pitch).toBeCloseTo(Math.PI / 2);
    expect(firstSide(placed(LINE)).pitch).toBeLessThan(1);
  });

  it("maps figures to colour, size, height and opacity", () => {
    const values = Float64Array.from([0, 1, 2, NaN]);
    const scene = sceneOf(LINE, placed(LINE), { ...PLAIN, color: values, size: values, height: values, opacity: values });
    const tone = (rank: number): string => [...scene.rgb.subarray(3 * rank, 3 * rank + 3)].join();
    expect(new Set([0, 1, 2, 3].map(tone)).size).toBe(4);
    expect((scene.radius[2] ?? 0) / (scene.radius[0] ?? 1)).toBeGreaterThan(2);
    expect(scene.z[2]).toBeCloseTo(0.8);
    expect(scene.opacity[2]).toBe(1);
    expect(scene.isOpaque).toBe(false);
    expect(scene.color?.most).toBe(2);
  });

  it("hides what is filtered, and marks what is selected", () => {
    const scene = sceneOf(LINE, placed(LINE), { ...PLAIN, filter: { from: 50, to: 100, isInverse: false }, ranks: [[2, 2]] });
    expect([...scene.radius].map((radius) => radius > 0)).toEqual([false, false, true, true]);
    expect(scene.hidden).toBe(2);
    expect([...scene.mark]).toEqual([UNSELECTED, UNSELECTED, SELECTED, UNSELECTED]);
  });

  it("finds the rank under the pointer and those within a line, of several points a rank too", () => {
    const layout = layoutOf([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]], 2);
    const scene = sceneOf(layout, placed(layout), PLAIN);
    expect(scene.ranks).toBe(2);
    const lens = lensOf({ yaw: -Math.PI / 2, pitch: 0, distance: 4, x: 0, y: 0, z: 0 }, { width: 400, height: 400 });
    const flat = { x: new Float32Array(4), y: new Float32Array(4), depth: new Float32Array(4) };
    projectAll(lens, scene, flat);
    expect(nearest(scene, flat, lens, flat.x[3] ?? 0, flat.y[3] ?? 0)).toBe(3);
    expect(nearest(scene, flat, lens, 1, 1)).toBe(-1);
    expect(inside(scene, flat, [[200, 0], [400, 0], [400, 400], [200, 400]])).toEqual([1]);
    expect(inside(scene, flat, [[0, 0], [400, 0], [400, 400], [0, 400]])).toEqual([0, 1]);
    expect(inside(scene, flat, [])).toEqual([]);
  });

  it("is drawn without a graphics processor, the nearest in front", () => {
    const layout = layoutOf([[0, 0, 0], [0, 1, 0]]);
    const scene = sceneOf(layout, placed(layout), PLAIN);
    const lens = lensOf({ yaw: -Math.PI / 2, pitch: 0, distance: 4, x: 0, y: 0, z: 0 }, { width: 100, height: 100 });
    const flat = { x: new Float32Array(2), y: new Float32Array(2), depth: new Float32Array(2) };
    projectAll(lens, scene, flat);
    const sheet = sheetOf(100, 100);
    drawPoints(sheet, scene, flat, lens, 1, { ground: [0, 0, 0], ring: [255, 255, 255] });
    const [red, green, blue] = scene.rgb;
    expect(sheet.pixels[50 * 100 + 50]).toBe(((255 << 24) | ((blue ?? 0) << 16) | ((green ?? 0) << 8) | (red ?? 0)) >>> 0);
    expect(sheet.pixels[0]).toBe(0);
  });
});
