import { describe, expect, it } from "vitest";
import { fromSummary, highest, question, summarySuffices } from "./bins";
import { fromHash, type Place, toHash } from "./link";
import type { SelectionKey } from "./store";
import { inside, panned, SPAN_MIN_NS, timeTicks, zoomed } from "./span";

const S = 1e9;

describe("span", () => {
  it("zooms around a place and stays in the run", () => {
    expect(zoomed([0, 100 * S], 0.5, 50 * S, 100 * S)).toEqual([25 * S, 75 * S]);
    expect(zoomed([0, 100 * S], 0.5, 0, 100 * S)).toEqual([0, 50 * S]);
    expect(zoomed([25 * S, 75 * S], 4, 50 * S, 100 * S)).toBeNull();
    const closest = zoomed([0, SPAN_MIN_NS], 0.5, 0, 100 * S);
    expect(closest && closest[1] - closest[0]).toBe(SPAN_MIN_NS);
    expect(panned([25 * S, 75 * S], 90 * S, 100 * S)).toEqual([50 * S, 100 * S]);
    expect(inside([-10 * S, 10 * S], 100 * S)).toEqual([0, 20 * S]);
  });

  it("has ticks of round lengths that never crowd", () => {
    for (const length of [4e3, 1e5, 7e6, 3e8, 2.5e9, 61e9, 3.7e12, 9e13]) {
      const { atNs, stepNs, digits } = timeTicks([1e9, 1e9 + length], 8);
      expect(atNs.length).toBeLessThanOrEqual(9);
      expect(atNs.length).toBeGreaterThanOrEqual(1);
      expect(stepNs * 10 ** (digits - 9)).toBeGreaterThanOrEqual(0.999);
    }
    expect(timeTicks([0, 60 * S], 8)).toMatchObject({ stepNs: 10 * S, digits: 0 });
    expect(timeTicks([0, 4e6], 8)).toMatchObject({ stepNs: 5e5, digits: 4 });
  });
});

describe("bins", () => {
  const timeline = { windowNs: 100, windows: 10, counts: new Map([[1, Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)], [2, Float64Array.of(0, 1)]]) };

  it("put windows together without losing a call", () => {
    const bins = fromSummary(timeline, [0, 1000], 9);
    expect(bins.binNs).toBe(400);
    expect([...bins.counts.slice(0, bins.bins)]).toEqual([10, 26, 19]);
    expect([...bins.counts.slice(bins.bins)]).toEqual([1, 0, 0]);
    expect(highest(bins, [0, 1000], new Set())).toBe(26);
    expect(highest(bins, [0, 1000], new Set([1]))).toBe(1);
  });

  it("come from the summary only while that is fine enough", () => {
    expect(summarySuffices(timeline, [0, 1000], 30, false)).toBe(true);
    expect(summarySuffices(timeline, [0, 1000], 300, false)).toBe(false);
    expect(summarySuffices({ ...timeline, windowNs: 0 }, [0, 1000], 30, true)).toBe(false);
  });

  it("are asked for on a grid, with room for panning", () => {
    const asked = question([10 * S, 11 * S], 1000, 100 * S);
    expect((asked.toNs - asked.fromNs) / asked.bins).toBe(5e6);
    expect(asked.fromNs % 5e6).toBe(0);
    expect(asked.fromNs).toBeLessThanOrEqual(9.5 * S);
    expect(asked.toNs).toBeGreaterThanOrEqual(11.5 * S);
    expect(question([10 * S, 11 * S], 1000, 11 * S).toNs).toBe(11 * S);
  });
});

describe("deep link", () => {
  it("comes back as it was", () => {
    const nothing = { timeNs: null, rangeNs: null, zoomNs: null, tab: "", ranks: null, hidden: [], selection: null, settings: new Map() };
    const place: Place = {
      timeNs: 83_456_789_012, rangeNs: [1e9, 2.5e9], zoomNs: [0, 1e6], tab: "figures", ranks: [[0, 15], [40, 40]], hidden: [3, 12],
      selection: { kind: "call", rank: 3, thread: 0, startNs: 83_456_789_000 }, settings: new Map([["where.face", "matrix"]]),
    };
    expect(fromHash(`#${toHash(place)}`)).toEqual(place);
    const selections: SelectionKey[] = [{ kind: "rank", rank: 0 }, { kind: "region", id: 7 }, { kind: "between", a: 1, b: 2 }, { kind: "pair", src: 5, dst: 6 }, { kind: "site", site: 4 }, { kind: "message", src: 1, dst: 0, sendNs: 5e9 }, { kind: "moment", region: 3, other: null, fromNs: 5e9, toNs: 6e9 }, { kind: "moment", region: 3, other: 4, fromNs: 5e9, toNs: 6e9 }];
    for (const selection of selections) expect(fromHash(`#${toHash({ ...nothing, selection })}`).selection).toEqual(selection);
    expect(fromHash("")).toEqual(nothing);
    expect(fromHash("#ranks=a-b&off=1,x&sel=call:1&sel=x:1&where.face=<b>&where=matrix")).toEqual(nothing);
    expect(fromHash("#t=soon&range=5-3&zoom=1-2-3")).toMatchObject({ timeNs: null, rangeNs: null, zoomNs: null });
  });
});
