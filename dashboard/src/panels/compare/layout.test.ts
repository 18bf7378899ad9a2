import { describe, expect, it } from "vitest";
import type { CourseOfSide } from "../../feed/compared";
import { bars, lossesOf, markAt, slotAt, slotRows, slotsOf, stacksOf, type StackRow } from "./layout";

const course = (slots: number, functions: number[], calls: number[]): CourseOfSide => ({
  durationNs: slots * 100, widthNs: 100, slots, functions: Uint32Array.from(functions), calls: Float64Array.from(calls),
  parts: new Float64Array(0), avoidable: new Float64Array(0),
});
const a = course(2, [7, 9], [1, 2, 10, 20]);
const b = course(3, [9], [5, 6, 70]);
const row = (id: number): StackRow => ({
  key: String(id), name: String(id), colour: "#000",
  a: slotsOf(a.calls, a.functions.indexOf(id), a.slots), b: slotsOf(b.calls, b.functions.indexOf(id), b.slots),
});

describe("stacks of two recordings", () => {
  it("share one scale and one axis of time", () => {
    const stacks = stacksOf([row(7), row(9), row(11)], a, b);
    expect(stacks.rows.map(({ key }) => key)).toEqual(["7", "9"]);
    expect([stacks.most, stacks.slots]).toEqual([70, 3]);
    expect([slotAt(stacks, 0), slotAt(stacks, 299), slotAt(stacks, 300), slotAt(stacks, -1)]).toEqual([0, 2, null, null]);
  });

  it("say what is in a slot, the most first", () => {
    const stacks = stacksOf([row(7), row(9)], a, b);
    expect(slotRows(stacks, 1).map(({ row: { key }, a: one, b: other }) => [key, one, other])).toEqual([["9", 20, 6], ["7", 2, 0]]);
    expect(slotRows(stacks, 2).map(({ row: { key } }) => key)).toEqual(["9"]);
  });
});

describe("two recordings on one clock", () => {
  it("say in which slots B loses time", () => {
    expect([...lossesOf(Float64Array.of(0, 3e9, 4e9, 4.5e9), 1e9)]).toEqual([2, 0, -0.5]);
    expect(lossesOf(new Float64Array(0), 1e9).length).toBe(0);
  });

  it("say which turn a time is in", () => {
    const marks = { markNs: Float64Array.of(10, 20, 30), markNames: ["1", "2", "3"] };
    expect([5, 10, 19, 20, 99].map((ns) => markAt(marks, ns))).toEqual([null, "1", "1", "2", "3"]);
    expect(markAt({ markNs: new Float64Array(0), markNames: [] }, 5)).toBeNull();
  });
});

describe("bars of two recordings", () => {
  it("are parts of the longer one, and nothing is below nothing", () => {
    expect(bars([{ a: 3, b: 1 }, { a: 1, b: -2 }])).toEqual({ a: [0.75, 0.25], b: [0.25, 0], longestS: 4 });
    expect(bars([])).toEqual({ a: [], b: [], longestS: 0 });
  });
});
