import { describe, expect, it } from "vitest";
import { makeCalls } from "./made-calls";
import { eachSelected } from "./moment";
import { pack } from "./pack";
import { longerThan, samplingWords, select, type Tile } from "./sampling";

function tile(calls: ReturnType<typeof makeCalls>): Tile {
  return { calls, packs: [pack(calls)] };
}

const many = (length: number): { startNs: number; durationNs: number }[] =>
  Array.from({ length }, (_, at) => ({ startNs: at * 10, durationNs: 100 + ((at * 7919) % length) * 10 }));

describe("selection", () => {
  it("takes all calls when they fit", () => {
    const selection = select([tile(makeCalls(0, 1e9, many(500)))], 1000);
    expect(selection).toMatchObject({ drawn: 500, allFromNs: 0, share: 1 });
    expect(samplingWords(selection, 480)).toBe("all 480 calls of this moment");
    expect(samplingWords(select([], 1000), 0)).toBe("no ended calls at this moment");
  });

  it("keeps the longest and stays within the budget", () => {
    const calls = makeCalls(0, 1e9, many(10_000));
    const selection = select([tile(calls)], 2000);
    const [group] = selection.selected;
    let drawn = 0;
    const longest = new Set<number>();
    eachSelected(group!, (position) => {
      drawn++;
      if (position < 200) longest.add(position);
    });
    expect(longest.size).toBe(200);
    expect(drawn).toBeLessThanOrEqual(2000);
    expect(drawn).toBeGreaterThan(1000);
    expect(Math.abs(selection.drawn - drawn)).toBeLessThan(50);
    expect(longerThan(group!.packed, selection.allFromNs)).toBe(group!.long);
    expect(samplingWords(selection, 1900)).toMatch(/^\d+ % of calls under [\d.]+ µs; all longer ones$/);
  });

  it("draws no call twice", () => {
    const [group] = select([tile(makeCalls(0, 1e9, many(5000)))], 1500).selected;
    const met = new Set<number>();
    eachSelected(group!, (position) => {
      expect(met.has(position)).toBe(false);
      met.add(position);
    });
  });

  it("counts what the feed left out", () => {
    const calls = makeCalls(0, 1e9, many(1000), { total: 4000, share: 0.2, allFromNs: 7600 });
    const selection = select([tile(calls)], 5000);
    // 250 calls are at least 7600 ns long; of 3750 shorter ones 750 are here.
    expect(selection.allFromNs).toBe(7600);
    expect(selection.share).toBeCloseTo(750 / 3750, 5);
    expect(samplingWords(selection, 900)).toBe("20 % of calls under 7.60 µs; all longer ones");
  });

  it("does not draw a call twice that reaches from one tile into the next", () => {
    const across = { startNs: 900, durationNs: 500 };
    const tiles = [tile(makeCalls(0, 1000, [across])), tile(makeCalls(1000, 2000, [across, { startNs: 1100, durationNs: 5 }]))];
    const selection = select(tiles, 100);
    expect(selection.selected[1]!.skipBeforeNs).toBe(0);
    expect(select(tiles.slice(1), 100).selected[0]!.skipBeforeNs).toBe(Number.NEGATIVE_INFINITY);
  });

  it("draws calls of the live tail that began before it: nothing else has them", () => {
    const tiles = [
      tile(makeCalls(0, 1000, [{ startNs: 10, durationNs: 5 }])),
      tile(makeCalls(1000, 2000, [{ startNs: 900, durationNs: 500 }])),
    ];
    expect(select(tiles, 100).selected[1]!.skipBeforeNs).toBe(Number.NEGATIVE_INFINITY);
  });
});
