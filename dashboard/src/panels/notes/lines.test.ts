import { expect, test } from "vitest";
import type { Annotation, ValueSeries } from "../../feed/annotations";
import { LEFT, type Scale } from "../timeline/scale";
import { authorColour, flagsOf, notesAt, seriesLine, valueAt } from "./lines";

const scale: Scale = { span: [0, 1000], width: 1000 };

function note(timeNs: number, untilNs = timeNs, author = "a"): Annotation {
  return { number: timeNs, author, timeNs, untilNs, rank: null, text: String(timeNs), colour: null, link: null };
}

function series(...points: [number, number][]): ValueSeries {
  return { name: "load", author: "a", unit: "", points: points.length, timeNs: Float64Array.from(points, ([ns]) => ns), value: Float64Array.from(points, ([, value]) => value) };
}

test("flags in one place are one, and what is out of sight is none", () => {
  const flags = flagsOf([note(500), note(100), note(502), note(501, 501, "b"), note(2000), note(-50, 20), note(-50)], scale);
  expect(flags.map(({ x, notes }) => [x - LEFT, notes.map(({ text }) => text)])).toEqual([[0, ["-50"]], [100, ["100"]], [500, ["500", "502"]], [501, ["501"]]]);
});

test("a moment has the notes that it lies in, the newest first", () => {
  expect(notesAt([note(1), note(5, 9), note(8), note(11)], 8, 10).map(({ timeNs }) => timeNs)).toEqual([8, 5]);
});

test("a series has the last value until a moment", () => {
  const of = series([10, 1], [20, 4], [20, 2], [30, 3]);
  expect([5, 10, 25, 99].map((ns) => valueAt(of, ns))).toEqual([null, 1, 2, 3]);
});

test("a line goes through its points and to both edges", () => {
  const line = seriesLine(series([-200, 9], [-100, 0], [300, 4], [900, Number.NaN], [1200, 8], [1500, 8]), scale, 0, 90);
  expect(line.split(" ")).toEqual([`${LEFT - 100}.0,90.0`, `${LEFT + 300}.0,50.0`, `${LEFT + 1200}.0,10.0`]);
});

test("an author keeps a colour", () => {
  expect(authorColour("slow messages", "dark")).toBe(authorColour("slow messages", "dark"));
  expect(new Set(["a", "b", "c", "d"].map((author) => authorColour(author, "light"))).size).toBe(4);
});
