import { expect, it } from "vitest";
import type { Scene } from "./model";
import { lensOf } from "./camera";
import { halving, spreadRanks } from "./names";
import type { Flat } from "./raster";

const LENS = lensOf({ yaw: 0, pitch: 0, distance: 3, x: 0, y: 0, z: 0 }, { width: 1000, height: 600 });

/** A point for each rank at a place of the picture and a depth. */
function made(points: readonly (readonly [number, number, number])[]): [Scene, Flat] {
  const column = (axis: 0 | 1 | 2): Float32Array => Float32Array.from(points, (point) => point[axis]);
  const scene = { length: points.length, ranks: points.length, pointsPerRank: 1, radius: new Float32Array(points.length).fill(0.01) } as unknown as Scene;
  return [scene, { x: column(0), y: column(1), depth: column(2) }];
}

it("takes all ranks in an order that halves what is between them", () => {
  expect([...halving(8)]).toEqual([0, 4, 2, 6, 1, 5, 3, 7]);
  expect([...halving(6)].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect([...halving(1)]).toEqual([0]);
});

it("names points that are apart, and none that another hides", () => {
  const [scene, flat] = made([[100, 100, 3], [110, 110, 3], [400, 300, 3.5], [401, 301, 2.5], [5000, 5000, 3], [700, 100, 0]]);
  expect(spreadRanks(scene, flat, LENS, [[0, 5]]).sort()).toEqual([0, 3]);
  expect(spreadRanks(scene, flat, LENS, [[1, 2]])).toEqual([1]);
});

it("names few of many", () => {
  const [scene, flat] = made(Array.from({ length: 16_384 }, (_, rank) => [(rank % 128) * 7, Math.floor(rank / 128) * 4.5, 3] as const));
  const named = spreadRanks(scene, flat, LENS, [[0, 16_383]]);
  expect(named.length).toBeGreaterThan(20);
  expect(named.length).toBeLessThanOrEqual(40);
});
