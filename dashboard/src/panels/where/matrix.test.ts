import { describe, expect, it } from "vitest";
import { latencyColour } from "../../palette/ramps";
import { ringPairs } from "./made-up";
import { csv } from "../share/tables";
import { aggregate, type CellWindow, extent, type Measure, NOTHING, orderBy, paintCells, pairsTable, ranksOfCell } from "./matrix";

const all = (ranks: number, perCell: number): CellWindow => ({ ranks: perCell, column: 0, row: 0, columns: Math.ceil(ranks / perCell), rows: Math.ceil(ranks / perCell) });
const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, value) => total + Math.max(0, value), 0);

describe("orders of ranks", () => {
  it("are by number, or by a key with groups", () => {
    expect([...orderBy(4, null).ranks]).toEqual([0, 1, 2, 3]);
    const order = orderBy(5, (rank) => (rank % 2 === 0 ? 7 : 3));
    expect([...order.ranks]).toEqual([1, 3, 0, 2, 4]);
    expect([...order.places]).toEqual([2, 0, 3, 1, 4]);
    expect(order.groups).toEqual([{ from: 0, to: 2, key: 3 }, { from: 2, to: 5, key: 7 }]);
  });
});

describe("cells", () => {
  const pairs = ringPairs(3, 5);
  const { places } = orderBy(15, null);

  it("sum to the same at every level, in every order", () => {
    for (const measure of ["messages", "bytes"] as const) {
      for (const perCell of [1, 2, 4, 7, 15]) {
        for (const order of [places, orderBy(15, (rank) => rank % 3).places]) {
          expect(sum(aggregate(pairs, order, measure, all(15, perCell)))).toBe(sum(pairs[measure]));
        }
      }
    }
  });

  it("are those of the pairs: senders down, receivers across", () => {
    const values = aggregate(pairs, places, "messages", all(15, 1));
    expect([values[0 * 15 + 1], values[0 * 15 + 5], values[5 * 15 + 0], values[3 * 15 + 9]]).toEqual([10, 1, NOTHING, NOTHING]);
    const part = aggregate(pairs, places, "messages", { ranks: 1, column: 5, row: 0, columns: 3, rows: 2 });
    expect([...part]).toEqual([1, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING]);
  });

  it("have the mean latency of exact messages, and say what is unknown", () => {
    const few = {
      src: Uint32Array.of(0, 1, 2, 3), dst: Uint32Array.of(2, 3, 0, 1), messages: Float64Array.of(30, 10, 5, 5), bytes: new Float64Array(4),
      fromNs: 0, toNs: 1, exact: Float64Array.of(3, 1, 0, 0), latency: Float64Array.of(1, 5, Number.NaN, Number.NaN), leftOut: 0,
    };
    expect([...aggregate(few, orderBy(4, null).places, "latency", all(4, 2))]).toEqual([NOTHING, 2, Number.NaN, NOTHING]);
  });

  it("are at least a pixel each, and no bigger than they have to be", () => {
    expect([ranksOfCell(64, 500), ranksOfCell(512, 500), ranksOfCell(2000, 480), ranksOfCell(0, 0)]).toEqual([1, 2, 5, 1]);
  });

  it("are painted by their logarithm, nothing as nothing", () => {
    const values = Float64Array.of(NOTHING, 1, 1000, Number.NaN);
    expect(extent(values)).toEqual({ least: 1, most: 1000 });
    expect(extent(Float64Array.of(NOTHING))).toEqual({ least: 0, most: 0 });
    const hex = (measure: Measure, at: number): string => `#${[...paintCells(Float64Array.of(NOTHING, 1, 4, Number.NaN), measure, { least: 1, most: 4 }, "dark").slice(4 * at, 4 * at + 3)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    expect(paintCells(values, "messages", { least: 1, most: 1000 }, "dark")[3]).toBe(0);
    expect([hex("latency", 1), hex("latency", 2), hex("latency", 3)]).toEqual([latencyColour(1, "dark"), latencyColour(4, "dark"), latencyColour(null, "dark")]);
    expect(hex("messages", 1)).not.toBe(hex("messages", 2));
  });

  it("can be written as text", () => {
    expect(csv(pairsTable(ringPairs(1, 2))).split("\r\n").slice(0, 3)).toEqual(["source,destination,messages,bytes,exact,latency", "0,1,10,1000,10,1", "0,1,10,1000,10,1"]);
  });
});
