import { describe, expect, it } from "vitest";
import { finishedNs, finishedNsOf } from "./finished";

const ranks = { length: 3, endedNs: Float64Array.of(0, 40, 90) };

describe("time after the last call", () => {
  it("is what of a stretch lies behind it, and nothing while a rank may call again", () => {
    expect([0, 1, 2].map((rank) => finishedNs(ranks, rank, [0, 100]))).toEqual([0, 60, 10]);
    expect(finishedNs(ranks, 1, [50, 70])).toBe(20);
    expect(finishedNs(ranks, 1, [10, 40])).toBe(0);
    expect(finishedNs(ranks, 7, [0, 100])).toBe(0);
  });

  it("is not what was never recorded", () => {
    expect(finishedNs(ranks, 1, [0, 100], [[30, 50], [60, 70]])).toBe(40);
  });

  it("adds up over ranks", () => {
    expect(finishedNsOf(ranks, null, [0, 100])).toBe(70);
    expect(finishedNsOf(ranks, [[0, 1], [5, 9]], [0, 100])).toBe(60);
  });
});
