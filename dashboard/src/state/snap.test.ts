import { describe, expect, it } from "vitest";
import type { Segment } from "../feed/evolution";
import { snapped } from "./snap";

const segment = (kind: Segment["kind"], fromS: number, toS: number): Segment => ({ kind, fromS, toS, isClosed: true, windows: 5, messages: 1, exact: 1, delayed: 1, aboveExpected: 1, latency: 2, rise: 0.45 });
const times = (of: readonly Segment[]): [string, number, number][] => of.map(({ kind, fromS, toS }) => [kind, fromS, toS]);

describe("stretches of latency", () => {
  it("begin and end with the disturbance that they belong to", () => {
    const found = snapped([segment("rest", 0, 10.4), segment("growth", 10.4, 12), segment("steady", 12, 16.3), segment("rest", 16.3, 20)], [{ cause: "cpu", fromS: 10, toS: 15 }]);
    expect(times(found)).toEqual([["rest", 0, 10], ["growth", 10, 12], ["steady", 12, 15], ["rest", 15, 20]]);
  });

  it("stay as they are where no disturbance is, or it covers less than half of them", () => {
    const all = [segment("rest", 0, 10), segment("steady", 10, 20)];
    expect(snapped(all, [])).toEqual(all);
    expect(times(snapped(all, [{ cause: "background", fromS: 17, toS: 24 }]))).toEqual(times(all));
  });

  it("stay as they are where they are but a small part of a disturbance", () => {
    const all = [segment("rest", 0, 100), segment("growth", 100, 101), segment("rest", 101, 600)];
    expect(times(snapped(all, [{ cause: "pattern", fromS: 0, toS: 600 }]))).toEqual(times(all));
  });

  it("leave out what lies within a disturbance before its first stretch", () => {
    const found = snapped([segment("rest", 0, 4), segment("rest", 4, 5), segment("steady", 5, 9)], [{ cause: "pattern", fromS: 3, toS: 9 }]);
    expect(times(found)).toEqual([["rest", 0, 3], ["steady", 3, 9]]);
  });
});
