import { describe, expect, it } from "vitest";
import type { Calls } from "../feed/calls";
import { chunkNs, Tiles, wanted } from "./tiles";

const MS = 1e6;

function calls(fromNs: number, toNs: number, length: number, total = length): Calls {
  const none = new Uint32Array(0);
  const nothing = new Float64Array(0);
  return {
    fromNs, toNs, total, share: length / Math.max(1, total), allFromNs: 0, length, rank: none, thread: none, function: none, startNs: nothing,
    durationNs: nothing, peer: none, tag: new Int32Array(0), bytes: nothing, comm: none, count: nothing,
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function setup(length = 10, total = length) {
  const asked: { from: number; to: number; most: number }[] = [];
  const time = { ms: 10_000 };
  const tiles = new Tiles((from, to, most) => {
    asked.push({ from, to, most });
    return Promise.resolve(calls(from, to, Math.min(length, most), total));
  }, () => time.ms, () => undefined);
  return { asked, time, tiles };
}

describe("chunks", () => {
  it("are powers of two of milliseconds, a few to a fade", () => {
    expect(chunkNs(2e9)).toBe(512 * MS);
    expect(chunkNs(2 * MS)).toBe(1 * MS);
    expect(chunkNs(200e9)).toBe(65_536 * MS);
    for (const fade of [2 * MS, 33 * MS, 2e9, 77e9]) {
      expect(fade / chunkNs(fade)).toBeGreaterThanOrEqual(2);
      expect(fade / chunkNs(fade)).toBeLessThan(4.01);
    }
  });

  it("cover the fade, and lie ahead of where the clock goes", () => {
    const paused = wanted(10e9, 2e9, 0, 100e9);
    expect(paused.visible).toEqual([15, 16, 17, 18, 19]);
    expect(paused.ahead).toEqual([20, 14]);
    expect(wanted(10e9, 2e9, 1, 100e9).ahead).toEqual([20, 21, 22]);
    expect(wanted(10e9, 2e9, -1, 100e9).ahead).toEqual([14, 13, 12]);
    expect(wanted(0, 2e9, 0, 100e9).visible).toEqual([0]);
    expect(wanted(10e9, 2e9, 1, 10e9).ahead).toEqual([]);
  });
});

describe("tiles", () => {
  const view = { timeNs: 10e9, fadeNs: 2e9, rate: 0, edgeNs: 100e9, points: 100_000 };

  it("are asked once, and stay the same objects", async () => {
    const { asked, tiles } = setup();
    expect(tiles.at(view)).toMatchObject({ tiles: [], complete: false });
    await settle();
    const first = tiles.at(view);
    expect(first.complete).toBe(true);
    expect(first.tiles.map((tile) => tile.fromNs / 512 / MS)).toEqual([15, 16, 17, 18, 19]);
    expect(tiles.at(view)).toBe(first);
    expect(asked).toHaveLength(7);
    // A power of two not above a fifth of the points.
    expect(asked[0]?.most).toBe(16_384);
  });

  it("at the moving edge are asked anew", async () => {
    const { asked, time, tiles } = setup();
    tiles.at({ ...view, edgeNs: 10e9 });
    await settle();
    const before = asked.length;
    tiles.at({ ...view, edgeNs: 10.1e9 });
    expect(asked).toHaveLength(before);
    time.ms += 1000;
    tiles.at({ ...view, edgeNs: 10.1e9 });
    expect(asked.slice(before).map(({ from }) => from / 512 / MS)).toEqual([19]);
  });

  it("are asked anew when a call ended that had outlasted them", async () => {
    const { asked, time, tiles } = setup();
    tiles.at(view);
    await settle();
    time.ms += 1000;
    const before = asked.length;
    tiles.at(view);
    expect(asked).toHaveLength(before);
    tiles.refresh();
    tiles.at(view);
    expect(asked).toHaveLength(before + 5);
  });

  it("are asked finer when the view affords much more", async () => {
    const { asked, time, tiles } = setup(1e9, 2e9);
    tiles.at({ ...view, points: 10_000 });
    await settle();
    const before = asked.length;
    time.ms += 1000;
    tiles.at({ ...view, points: 12_000 });
    expect(asked).toHaveLength(before);
    tiles.at({ ...view, points: 80_000 });
    expect(asked.length).toBeGreaterThan(before);
  });

  it("forget the least recently used beyond their budget", async () => {
    const { asked, time, tiles } = setup(1e9, 1e9);
    for (let second = 10; second < 60; second += 5) {
      tiles.at({ ...view, timeNs: second * 1e9, points: 1_000_000 });
      await settle();
      time.ms += 1000;
    }
    const before = asked.length;
    tiles.at({ ...view, points: 1_000_000 });
    expect(asked.length).toBeGreaterThan(before);
  });

  it("say why they are missing, and try again", async () => {
    const time = { ms: 0 };
    let asked = 0;
    const tiles = new Tiles(() => {
      asked++;
      return Promise.reject(new Error("The disk is away."));
    }, () => time.ms, () => undefined);
    tiles.at(view);
    await settle();
    const before = asked;
    expect(tiles.at(view)).toMatchObject({ complete: false, error: "The disk is away." });
    expect(asked).toBe(before);
    time.ms += 1000;
    tiles.at(view);
    expect(asked).toBeGreaterThan(before);
  });
});
