import { describe, expect, it } from "vitest";
import { callsOfRank } from "./listed";
import { madeCalls, randomCalls } from "./made-traffic";
import { callUnder, neighbourCall, placesIn, tracksOf } from "./tracks";

const NOTHING: ReadonlySet<number> = new Set();

describe("tracks", () => {
  it.each([1, 2, 3])("find the calls in a range as a search through all does (%i)", (seed) => {
    const rows = randomCalls(seed, 600, 5);
    const calls = madeCalls(rows);
    const tracks = tracksOf(calls);
    for (let from = 0; from < 2000; from += 97) {
      for (let rank = 0; rank < 6; rank++) {
        const to = from + 40;
        const [first, end] = placesIn(tracks, calls, rank, from, to);
        const found = [...tracks.items.subarray(first, end)].filter((call) => (rows[call]?.to ?? 0) >= from).sort((a, b) => a - b);
        expect(found).toEqual(rows.flatMap((row, call) => (row.rank === rank && row.from <= to && row.to >= from ? [call] : [])));
        expect(callsOfRank(calls, rank, [from, to], NOTHING).rows.sort((a, b) => a - b)).toEqual(found);
      }
    }
  });

  it("put threads side by side, those without room in the last lane", () => {
    const calls = madeCalls([0, 7, 3, 9, 4].map((thread) => ({ rank: 1, thread, from: 0, to: 9 })));
    const { lane, lanes, items } = tracksOf(calls);
    expect([...lanes]).toEqual([1, 4]);
    expect([...items].map((call, place) => [calls.thread[call], lane[place]]).sort()).toEqual([[0, 0], [3, 1], [4, 2], [7, 3], [9, 3]]);
  });

  it("say what is under a place: the call that takes most of it, the inner of two, and how many there are", () => {
    const calls = madeCalls([{ rank: 0, from: 0, to: 100 }, { rank: 0, from: 20, to: 30, id: 2 }, { rank: 0, from: 31, to: 32, id: 3 }, { rank: 1, from: 0, to: 5 }]);
    const tracks = tracksOf(calls);
    expect(callUnder(tracks, calls, NOTHING, 0, -1, 24, 26)).toEqual({ call: 1, count: 2 });
    expect(callUnder(tracks, calls, NOTHING, 0, -1, 28, 34)).toEqual({ call: 0, count: 3 });
    expect(callUnder(tracks, calls, new Set([1]), 0, -1, 28, 34)).toEqual({ call: 1, count: 2 });
    expect(callUnder(tracks, calls, NOTHING, 1, -1, 6, 9)).toEqual({ call: -1, count: 0 });
    expect(callUnder(tracks, calls, NOTHING, 9, -1, 6, 9)).toEqual({ call: -1, count: 0 });
  });

  it("go from call to call of a rank, past those that are hidden", () => {
    const calls = madeCalls([{ rank: 0, from: 50, to: 60 }, { rank: 0, from: 10, to: 20 }, { rank: 0, from: 30, to: 40, id: 2 }]);
    const tracks = tracksOf(calls);
    expect(neighbourCall(tracks, calls, NOTHING, 0, { ns: 0 }, 1)).toBe(1);
    expect(neighbourCall(tracks, calls, NOTHING, 0, { call: 1 }, 1)).toBe(2);
    expect(neighbourCall(tracks, calls, new Set([2]), 0, { call: 1 }, 1)).toBe(0);
    expect(neighbourCall(tracks, calls, NOTHING, 0, { ns: 35 }, -1)).toBe(2);
    expect(neighbourCall(tracks, calls, NOTHING, 0, { call: 1 }, -1)).toBe(-1);
    expect(neighbourCall(tracks, calls, NOTHING, 3, { ns: 0 }, 1)).toBe(-1);
  });
});
