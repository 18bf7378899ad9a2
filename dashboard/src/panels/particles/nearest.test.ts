import { expect, it } from "vitest";
import { makeCalls } from "./made-calls";
import { place, type Moment, type Placed } from "./moment";
import { nearest, neighbour } from "./nearest";
import { pack } from "./pack";
import { everyOne, type Selected } from "./sampling";

const calls = makeCalls(0, 1e9, Array.from({ length: 300 }, (_, at) => ({
  startNs: at * 1000, durationNs: 10 ** (3 + (at % 30) / 6), rank: at % 16,
})));
const groups: Selected[] = [everyOne(pack(calls, 0, 150)), everyOne(pack(calls, 150, 300))];
const moment: Moment = {
  timeNs: 1.5e9, fadeNs: 2e9, scale: { unitNs: 1e3, topNs: 1e9 }, ranks: 16, widthPx: 800, heightPx: 400, rimPx: 8,
  sizePx: 4, clearedNs: Number.NEGATIVE_INFINITY, colours: new Uint8Array(16384).fill(255), ranksShown: null, ink: [1, 1, 1],
};

function every(): { xPx: number; yPx: number; group: number; position: number }[] {
  return groups.flatMap((group, number) =>
    Array.from({ length: group.packed.length }, (_, position) => {
      const into: Placed = { xPx: 0, yPx: 0, strength: 0, running: false, function: 0 };
      place(moment, group, position, into);
      return { xPx: into.xPx, yPx: into.yPx, group: number, position };
    }),
  );
}

it("finds the same call as looking at all of them", () => {
  for (let at = 0; at < 200; at++) {
    const x = (at * 37) % 800;
    const y = (at * 53) % 400;
    const away = (one: { xPx: number; yPx: number }): number => Math.hypot(one.xPx - x, one.yPx - y);
    const best = every().reduce((least, one) => (away(one) < away(least) ? one : least));
    const found = nearest(moment, groups, x, y, 60);
    if (away(best) > 60) expect(found).toBeNull();
    else expect(away(found!)).toBeCloseTo(away(best), 9);
  }
});

it("finds nothing far from all calls, nor among hidden ones", () => {
  expect(nearest(moment, groups, 400, 399, 5)).toBeNull();
  const hidden = { ...moment, colours: new Uint8Array(16384) };
  expect(nearest(hidden, groups, 400, 100, 1000)).toBeNull();
});

it("steps in the direction of the key, and comes to an end", () => {
  for (const direction of ["left", "right", "up", "down"] as const) {
    let at = nearest(moment, groups, 400, 150, 500)!;
    for (let step = 0; step < 400; step++) {
      const next = neighbour(moment, groups, at.xPx, at.yPx, direction);
      if (next === null) return;
      if (direction === "left") expect(next.xPx).toBeLessThan(at.xPx);
      if (direction === "right") expect(next.xPx).toBeGreaterThan(at.xPx);
      if (direction === "up") expect(next.yPx).toBeGreaterThan(at.yPx);
      if (direction === "down") expect(next.yPx).toBeLessThan(at.yPx);
      at = next;
    }
    expect.unreachable("never came to an end");
  }
});
