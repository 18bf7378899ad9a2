import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { NO_TAG, NONE } from "./calls";
import { FeedError } from "./columns";
import { decode, ProtocolMismatch } from "./message";

const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values, (value) => value >>> 0).buffer);
const f64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);
const buffer = (value: unknown): ArrayBuffer => encode(value).slice().buffer;
const delta = (parts: object): ArrayBuffer => buffer({ protocol: 2, kind: "delta", number: 7, clock: { now_ns: 5e9, lag_ns: 1e6 }, ...parts });

const calls = {
  from_ns: 0, to_ns: 10, total: 2, share: 0.5, all_from_ns: 40, rank: u32(0, 3), thread: u32(0, 1), function: u32(10, 11),
  start_ns: f64(1, 2), duration_ns: f64(5, 2 ** 40), peer: u32(1, NONE), tag: u32(-5, NO_TAG), bytes: f64(8, 0), comm: u32(0, NONE), count: f64(1, 12),
};

describe("decode", () => {
  it("reads a delta byte by byte", () => {
    // {protocol: 2, kind: "delta", number: 3, clock: {now_ns: 2^32, lag_ns: 5}, in_flight: {total: 1, ...}}
    const golden = [
      0x85, 0xa8, ...text("protocol"), 0x02, 0xa4, ...text("kind"), 0xa5, ...text("delta"), 0xa6, ...text("number"), 0x03,
      0xa5, ...text("clock"), 0x82, 0xa6, ...text("now_ns"), 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0xa6, ...text("lag_ns"), 0x05,
      0xa9, ...text("in_flight"), 0x85, 0xa5, ...text("total"), 0x01, 0xa4, ...text("rank"), 0xc4, 4, 2, 0, 0, 0,
      0xa6, ...text("thread"), 0xc4, 4, 0, 0, 0, 0, 0xa8, ...text("function"), 0xc4, 4, 13, 0, 0, 0,
      0xa8, ...text("since_ns"), 0xc4, 8, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f,
    ];
    const message = decode(Uint8Array.from(golden).buffer);
    expect(message).toEqual({
      kind: "delta", number: 3, clock: { nowNs: 2 ** 32, lagNs: 5 },
      inFlight: { total: 1, length: 1, rank: Uint32Array.of(2), thread: Uint32Array.of(0), function: Uint32Array.of(13), sinceNs: Float64Array.of(1) },
    });
  });

  it("keeps the signs of tags and the marks of nothing", () => {
    const message = decode(delta({ calls }));
    if (message.kind !== "delta") throw new Error("not a delta");
    expect([...(message.calls?.tag ?? [])]).toEqual([-5, NO_TAG]);
    expect(message.calls?.peer[1]).toBe(NONE);
    expect(message.calls?.durationNs[1]).toBe(2 ** 40);
    expect(message.calls?.length).toBe(2);
  });

  it("reads columns that start at odd bytes", () => {
    for (const padding of ["", "a", "ab", "abc"]) {
      const message = decode(delta({ padding, calls }));
      expect(message.kind === "delta" && message.calls?.startNs[1]).toBe(2);
    }
  });

  it("refuses columns of different lengths, with the column's name", () => {
    expect(() => decode(delta({ calls: { ...calls, bytes: f64(1) } }))).toThrow(/"bytes" of calls is 1 long where others are 2/);
    expect(() => decode(delta({ calls: { ...calls, rank: new Uint8Array(7) } }))).toThrow(/multiple of 4/);
    expect(() => decode(delta({ calls: { ...calls, rank: [1, 2] } }))).toThrow(FeedError);
  });

  it("refuses what is no message", () => {
    expect(() => decode(Uint8Array.of(0xc1).buffer)).toThrow(FeedError);
    expect(() => decode(buffer({ kind: "rumour" }))).toThrow(FeedError);
    expect(() => decode(delta({ job: { state: "asleep" } }))).toThrow(FeedError);
    expect(() => decode(buffer({ kind: "delta", protocol: 1, number: 1, clock: { now_ns: 0, lag_ns: 0 } }))).toThrow(ProtocolMismatch);
  });

  it("reads answers and the shared clock", () => {
    const answer = decode(buffer({ kind: "answer", id: 9, timeline: { from_ns: 0, to_ns: 100, bins: 2, functions: u32(4), counts: f64(1, 2) } }));
    expect(answer.kind === "answer" && [...(answer.timeline?.counts ?? [])]).toEqual([1, 2]);
    expect(() => decode(buffer({ kind: "answer", id: 9, timeline: { from_ns: 0, to_ns: 100, bins: 3, functions: u32(4), counts: f64(1, 2) } }))).toThrow(FeedError);
    const shared = decode(buffer({ kind: "perspective", version: 2, mode: "playing", time_ns: 5, rate: -2, range_ns: [1, 9], ranks: [[0, 3]], hidden: [4], pages: 2, followers: 1 }));
    expect(shared).toMatchObject({ mode: "playing", rate: -2, rangeNs: [1, 9], ranks: [[0, 3]], hidden: [4] });
    expect(decode(buffer({ kind: "answer", id: 3 }))).toEqual({ kind: "answer", id: 3 });
  });
});

function text(value: string): number[] {
  return [...new TextEncoder().encode(value)];
}
