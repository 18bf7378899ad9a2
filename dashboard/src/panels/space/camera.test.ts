import { describe, expect, it } from "vitest";
import { between, type Camera, type Cloud, fitted, fromWord, lensOf, panned, project, projectAll, settled, toWord, turned, zoomed } from "./camera";

const SIZE = { width: 800, height: 600 };
const CAMERA: Camera = { yaw: 0.7, pitch: 0.4, distance: 3, x: 0.1, y: -0.2, z: 0.3 };

function cloud(points: readonly (readonly [number, number, number])[]): Cloud {
  const column = (axis: 0 | 1 | 2): Float32Array => Float32Array.from(points, (point) => point[axis]);
  return { length: points.length, x: column(0), y: column(1), z: column(2) };
}

describe("camera", () => {
  it("has its target in the middle, z up and what is near in front", () => {
    const lens = lensOf(CAMERA, SIZE);
    const [x, y, depth] = project(lens, CAMERA.x, CAMERA.y, CAMERA.z);
    expect([x, y, depth].map((value) => Number(value.toFixed(6)))).toEqual([400, 300, 3]);
    const above = project(lens, CAMERA.x, CAMERA.y, CAMERA.z + 0.1);
    expect(above[0]).toBeCloseTo(400);
    expect(above[1]).toBeLessThan(300);
    const top = lensOf({ yaw: -Math.PI / 2, pitch: Math.PI / 2, distance: 3, x: 0, y: 0, z: 0 }, SIZE);
    const [right] = project(top, 0.5, 0, 0);
    const [, up] = project(top, 0, 0.5, 0);
    expect(right).toBeGreaterThan(400);
    expect(up).toBeLessThan(300);
  });

  it("projects all points as each one", () => {
    const points = cloud([[0.3, -0.8, 0.1], [-1, 0, 0.5], [0.2, 0.2, -0.9]]);
    const into = { x: new Float32Array(3), y: new Float32Array(3), depth: new Float32Array(3) };
    const lens = lensOf(CAMERA, SIZE);
    projectAll(lens, points, into);
    for (let at = 0; at < 3; at++) {
      const one = project(lens, points.x[at] ?? 0, points.y[at] ?? 0, points.z[at] ?? 0);
      [into.x[at], into.y[at], into.depth[at]].forEach((value, axis) => expect(value).toBeCloseTo(one[axis] ?? 0, 2));
    }
  });

  it("zooms to the pointer: what is under it stays there", () => {
    for (const [x, y] of [[400, 300], [120, 80], [790, 590]] as const) {
      const { right, up } = lensOf(CAMERA, SIZE);
      const focal = lensOf(CAMERA, SIZE).focal;
      const [dx, dy] = [((x - 400) * CAMERA.distance) / focal, ((300 - y) * CAMERA.distance) / focal];
      const place = [0, 1, 2].map((axis) => [CAMERA.x, CAMERA.y, CAMERA.z][axis]! + right[axis]! * dx + up[axis]! * dy) as [number, number, number];
      const after = project(lensOf(zoomed(CAMERA, SIZE, 1.7, x, y), SIZE), ...place);
      expect(after[0]).toBeCloseTo(x, 3);
      expect(after[1]).toBeCloseTo(y, 3);
    }
  });

  it("pans by pixels, and turns around its target", () => {
    const [x, y] = project(lensOf(panned(CAMERA, SIZE, 40, -25), SIZE), CAMERA.x, CAMERA.y, CAMERA.z);
    expect([Math.round(x), Math.round(y)]).toEqual([440, 275]);
    const [tx, ty] = project(lensOf(turned(CAMERA, 1, -0.3), SIZE), CAMERA.x, CAMERA.y, CAMERA.z);
    expect([Math.round(tx), Math.round(ty)]).toEqual([400, 300]);
    expect(turned(CAMERA, 0, 9).pitch).toBeCloseTo(Math.PI / 2);
  });

  it("fits all points, from any side, in any window", () => {
    const points = cloud(Array.from({ length: 200 }, (_, at) => [Math.sin(at) * 0.9, Math.cos(at * 1.7) * 0.3, Math.sin(at * 0.3) * 0.7] as const));
    for (const size of [SIZE, { width: 300, height: 900 }, { width: 1200, height: 160 }]) {
      for (const [yaw, pitch] of [[0, 0], [1, 0.5], [-2, -1.2], [-Math.PI / 2, Math.PI / 2]] as const) {
        const lens = lensOf(fitted(points, yaw, pitch, size, 10), size);
        for (let at = 0; at < points.length; at++) {
          const [x, y, depth] = project(lens, points.x[at] ?? 0, points.y[at] ?? 0, points.z[at] ?? 0);
          expect(depth).toBeGreaterThan(0);
          expect(x >= 9.9 && x <= size.width - 9.9 && y >= 9.9 && y <= size.height - 9.9).toBe(true);
        }
      }
    }
    expect(fitted(cloud([]), 0, 0, SIZE, 10).distance).toBeGreaterThan(0);
  });

  it("is part of the address, and refuses what is no camera", () => {
    const word = toWord(settled({ yaw: 99, pitch: -9, distance: 900, x: -99, y: 99, z: -99 }));
    expect(word).toMatch(/^[\w.-]{1,40}$/);
    expect(fromWord(toWord(CAMERA))).toEqual(CAMERA);
    for (const bad of ["", "fit", "1_2_3", "1_2_3_4_5_6_7", "a_1_2_3_4_5", "1e9_0_0_0_0_0", "NaN_0_0_0_0_0"]) expect(fromWord(bad)).toBeNull();
  });

  it("flies the short way around", () => {
    const half = between({ ...CAMERA, yaw: 3 }, { ...CAMERA, yaw: -3 }, 0.5);
    expect(Math.abs(half.yaw)).toBeGreaterThan(3);
    expect(between(CAMERA, { ...CAMERA, distance: 0.5 }, 1).distance).toBeCloseTo(0.5);
  });
});
