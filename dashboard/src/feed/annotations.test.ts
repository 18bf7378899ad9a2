import { describe, expect, it } from "vitest";
import { annotationsMessage } from "./annotations";

const NOTE = { number: 3, author: "finder", time_ns: 5, until_ns: 9, rank: 2, text: "slow", colour: "#ff8800", link: "https://example.org/a" };
const column = (values: number[]): Uint8Array => new Uint8Array(new Float64Array(values).buffer);

describe("what other programs said", () => {
  it("is read with its optional parts", () => {
    const series = { name: "load", author: "finder", unit: "%", points: 7, time_ns: column([1, 2]), value: column([3, 4]) };
    const read = annotationsMessage({ annotations: [NOTE, { ...NOTE, until_ns: null, rank: null, colour: null, link: null }], series: [series] });
    expect(read.annotations[0]).toEqual({ number: 3, author: "finder", timeNs: 5, untilNs: 9, rank: 2, text: "slow", colour: "#ff8800", link: "https://example.org/a" });
    expect(read.annotations[1]).toMatchObject({ untilNs: 5, rank: null, colour: null, link: null });
    expect([...(read.series[0]?.value ?? [])]).toEqual([3, 4]);
  });

  it("has the values of a series in the order of time", () => {
    const series = { name: "load", author: "finder", unit: "", points: 4, time_ns: column([10, 30, 20, 20]), value: column([1, 3, 2, 4]) };
    const [read] = annotationsMessage({ annotations: [], series: [series] }).series;
    expect([[...(read?.timeNs ?? [])], [...(read?.value ?? [])]]).toEqual([[10, 20, 20, 30], [1, 2, 4, 3]]);
  });

  it("leads nowhere but to web pages, and has no colour that is none", () => {
    const read = annotationsMessage({ annotations: [{ ...NOTE, link: "javascript:alert(1)", colour: "red;x" }], series: [] });
    expect(read.annotations[0]).toMatchObject({ link: null, colour: null });
  });

  it("is refused where it is not whole", () => {
    expect(() => annotationsMessage({ annotations: [{ ...NOTE, text: 5 }], series: [] })).toThrow("text");
    const series = { name: "load", author: "finder", unit: "", points: 1, time_ns: column([1]), value: column([]) };
    expect(() => annotationsMessage({ annotations: [], series: [series] })).toThrow("long");
  });
});
