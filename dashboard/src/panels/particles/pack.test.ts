import { describe, expect, it } from "vitest";
import { makeCalls } from "./made-calls";
import { DURATION, END, orderOf, pack, packInFlight, PLACE, START, STRIDE } from "./pack";

const HOURS_NS = 9 * 3600e9;

describe("packing", () => {
  it("keeps microseconds exact after hours of run", () => {
    const calls = makeCalls(HOURS_NS, HOURS_NS + 1e9, [{ startNs: HOURS_NS + 1_234_567, durationNs: 14_213 }]);
    const { data, baseNs } = pack(calls);
    const timeNs = HOURS_NS + 1_234_567 + 5_000;
    expect(Math.abs(timeNs - baseNs - data[START]! - 5_000)).toBeLessThan(1);
    expect(data[END]! - data[START]!).toBe(14_213);
    expect(data[DURATION]).toBe(14_213);
  });

  it("stays under a microsecond over a tile of two seconds", () => {
    const calls = makeCalls(HOURS_NS, HOURS_NS + 2e9, [{ startNs: HOURS_NS + 1_999_999_999, durationNs: 1000 }]);
    expect(Math.abs(pack(calls).data[START]! - 1_999_999_999)).toBeLessThan(500);
  });

  it("puts the longest first and remembers where each call was", () => {
    const durations = [5, 900, 3e9, 17, 0, 44_000];
    const calls = makeCalls(0, 1e9, durations.map((durationNs, at) => ({ startNs: at, durationNs, rank: at })));
    const packed = pack(calls);
    expect([...packed.source].map((at) => durations[at])).toEqual([3e9, 44_000, 900, 17, 5, 0]);
    for (let at = 0; at < packed.length; at++) {
      expect(Math.floor(packed.data[at * STRIDE + PLACE]!)).toBe(calls.rank[packed.source[at]!]);
    }
    expect([...packed.shuffled].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of a part gives numbers of the whole", () => {
    const calls = makeCalls(0, 1e9, [1, 2, 3, 4].map((durationNs) => ({ startNs: 0, durationNs })));
    expect([...pack(calls, 2, 4).source]).toEqual([3, 2]);
  });

  it("stands a row of folded polls at the length of one of them", () => {
    expect(pack(makeCalls(0, 1e9, [{ startNs: 0, durationNs: 7000, count: 10 }])).data[DURATION]).toBe(700);
  });

  it("shuffles evenly: a tenth of the order has a tenth of the long calls", () => {
    const calls = makeCalls(0, 1e9, Array.from({ length: 10_000 }, (_, at) => ({ startNs: at * 1000, durationNs: at })));
    const { shuffled } = pack(calls);
    const long = [...shuffled.subarray(0, 1000)].filter((position) => position < 5000).length;
    expect(Math.abs(long - 500)).toBeLessThan(60);
  });
});

describe("calls inside MPI", () => {
  it("have no end, and their age is exact however long ago others began", () => {
    const inFlight = {
      total: 2, length: 2, rank: Uint32Array.of(3, 4), thread: new Uint32Array(2), function: new Uint32Array(2),
      sinceNs: Float64Array.of(1e9, HOURS_NS + 500),
    };
    const { data, baseNs } = packInFlight(inFlight);
    expect(HOURS_NS + 1500 - baseNs - data[STRIDE + START]!).toBe(1000);
    expect(data[END]).toBeGreaterThan(1e30);
  });
});

describe("ordering by counting", () => {
  it("sorts like sort", () => {
    const keys = Uint32Array.from({ length: 5000 }, (_, at) => Math.imul(at + 1, 0x9e3779b1));
    const sorted = [...orderOf(keys, 0, 3)].map((at) => keys[at]!);
    expect(sorted).toEqual([...keys].sort((one, other) => one - other));
  });
});
