import { describe, expect, it } from "vitest";
import { FeedError } from "./columns";
import { KINDS, shares } from "./shares";

const column = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const wire = (part: object = {}): object => ({
  from_ns: 0, width_ns: 10, windows: 2, until_ns: 20, first_rank: 4, ranks_per_row: 2, rows: 1, unit_ns: 1,
  kinds: Array.from({ length: KINDS }, (_, kind) => column(kind, -kind)), ...part,
});

describe("shares of time", () => {
  it("are by kind, row and window, with what is below zero", () => {
    const found = shares(wire());
    expect(found).toMatchObject({ widthNs: 10, windows: 2, firstRank: 4, ranksPerRow: 2 });
    expect([...found.units.slice(8, 12)]).toEqual([4, -4, 5, -5]);
  });

  it("that do not fit are refused", () => {
    expect(() => shares(wire({ kinds: [column(1, 2)] }))).toThrow(FeedError);
    expect(() => shares(wire({ rows: 3 }))).toThrow("where others are 6");
    expect(() => shares(wire({ width_ns: 0 }))).toThrow(FeedError);
  });
});
