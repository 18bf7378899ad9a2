import { describe, expect, it } from "vitest";
import { fields } from "./columns";
import { pairs as pairsOf, regions as regionsOf } from "./regions";

const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const f64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

const region = { id: 3, ranks: [[0, 1], [4, 4]], latency: 2.5, exact: 0.5, messages: 10, delayed: 4, above_expected: 5 };
const other = { ...region, id: 4, ranks: [[2, 3]], latency: null };
const regions = { version: 7, count: 2, with_collectives: true, regions: [region, other], between: [{ a: 3, b: 4, latency: null, exact: 0.25, messages: 2, delayed: 0, above_expected: 1 }] };
const pairs = { src: u32(0, 1), dst: u32(1, 2), messages: f64(5, 6), bytes: f64(50, 60), exact: f64(4, 0), from_ns: 1, to_ns: 9, latency: f64(1.5, Number.NaN), left_out: 9 };

describe("regions and pairs", () => {
  it("are read", () => {
    const read = regionsOf(fields(regions, "The regions"));
    expect(read.regions[0]).toEqual({ id: 3, ranks: [[0, 1], [4, 4]], latency: 2.5, exactShare: 0.5, messages: 10, delayed: 4, aboveExpected: 5 });
    expect(read).toMatchObject({ version: 7, count: 2, withCollectives: true, between: [{ a: 3, b: 4, latency: null, exactShare: 0.25, aboveExpected: 1 }] });
    const found = pairsOf(fields(pairs, "The pairs"));
    expect([...found.latency]).toEqual([1.5, Number.NaN]);
    expect(found).toMatchObject({ fromNs: 1, toNs: 9, leftOut: 9 });
  });

  it.each([
    ["two with one number", { ...regions, regions: [region, { ...other, id: 3 }] }],
    ["a rank in two", { ...regions, regions: [region, { ...other, ranks: [[1, 3]] }] }],
    ["ranges out of order", { ...regions, regions: [{ ...region, ranks: [[4, 4], [0, 1]] }] }],
    ["no ranks", { ...regions, regions: [{ ...region, ranks: [] }] }],
    ["a rank that no job has", { ...regions, regions: [{ ...region, ranks: [[0, 1e9]] }] }],
    ["a latency below nothing", { ...regions, regions: [{ ...region, latency: -1 }] }],
    ["a share above all", { ...regions, regions: [{ ...region, exact: 1.1 }] }],
    ["a pair of strangers", { ...regions, between: [{ a: 3, b: 5, latency: 1, messages: 1, delayed: 0 }] }],
    ["half a message", { ...regions, regions: [{ ...region, messages: 0.5 }] }],
  ])("are refused with %s", (_, sent) => {
    expect(() => regionsOf(fields(sent, "The regions"))).toThrow();
  });

  it.each([
    ["columns of other lengths", { ...pairs, bytes: f64(1) }],
    ["a rank that no job has", { ...pairs, dst: u32(1, 0xffffffff) }],
    ["endless traffic", { ...pairs, messages: f64(1, Infinity) }],
    ["a latency below nothing", { ...pairs, latency: f64(1, -2) }],
  ])("are refused with %s of pairs", (_, sent) => {
    expect(() => pairsOf(fields(sent, "The pairs"))).toThrow();
  });
});
