import { describe, expect, it } from "vitest";
import { NO_SITE, programPlaces, siteTimes, sourceText } from "./call-sites";
import { FeedError, fields } from "./columns";

const u32 = (...numbers: number[]): Uint8Array => new Uint8Array(Uint32Array.from(numbers).buffer);
const f64 = (...numbers: number[]): Uint8Array => new Uint8Array(Float64Array.from(numbers).buffer);

const PLACES = {
  id: u32(0, 1), place: ["main.c:9 main()", "main.c:5 solve(), called by main()"], parent: u32(NO_SITE, 0),
  names: ["main", "/src/main.c", "/opt/solver", "solve"], function: u32(0, 3), file: u32(1, 1), line: u32(9, 5), module: u32(2, 2), has_paths: true,
};

describe("call sites", () => {
  it("are read with the way to them", () => {
    const { calls, all, hasPaths } = programPlaces(fields(PLACES, "The call sites"));
    expect([...calls]).toEqual([[1, "main.c:5 solve(), called by main()"]]);
    expect(hasPaths).toBe(true);
    expect(all.get(1)).toEqual({ words: "main.c:5 solve(), called by main()", function: "solve", file: "/src/main.c", line: 5, module: "/opt/solver", parent: 0 });
  });

  it("never lead in a circle", () => {
    const { all } = programPlaces(fields({ ...PLACES, parent: u32(1, 0) }, "The call sites"));
    expect([...all.values()].map(({ parent }) => parent)).toEqual([null, 0]);
    const own = programPlaces(fields({ ...PLACES, parent: u32(0, 7) }, "The call sites"));
    expect([...own.all.values()].map(({ parent }) => parent)).toEqual([null, null]);
    expect(own.calls.size).toBe(2);
  });

  it("without names are nameless", () => {
    const { all } = programPlaces(fields({ ...PLACES, function: u32(NO_SITE, 99) }, "The call sites"));
    expect([...all.values()].map(({ function: name }) => name)).toEqual(["", ""]);
  });

  it.each([
    ["words for others", { ...PLACES, place: ["main.c:9 main()"] }],
    ["columns of other lengths", { ...PLACES, line: u32(9) }],
    ["no names", { ...PLACES, names: null }],
  ])("are refused with %s", (_, wrong) => {
    expect(() => programPlaces(fields(wrong, "The call sites"))).toThrow(FeedError);
  });
});

describe("times of call sites", () => {
  const TIMES = { from_ns: 0, to_ns: 9, counted_share: 0.5, site: u32(1, NO_SITE), function: u32(3, 4), calls: f64(2, 1), bytes: f64(16, 0), time_ns: f64(5, 7) };
  it("are read", () => {
    expect(siteTimes(fields(TIMES, "The times"))).toMatchObject({ length: 2, toNs: 9, countedShare: 0.5 });
    expect(() => siteTimes(fields({ ...TIMES, calls: f64(2) }, "The times"))).toThrow(FeedError);
  });
});

describe("source text", () => {
  it("is read", () => {
    const text = { file: "/src/main.c", from_line: 4, lines: ["{"], is_newer: false };
    expect(sourceText(fields(text, "The text"))).toEqual({ file: "/src/main.c", fromLine: 4, lines: ["{"], isNewer: false });
    expect(() => sourceText(fields({ ...text, lines: [4] }, "The text"))).toThrow(FeedError);
  });
});
