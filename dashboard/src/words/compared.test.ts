import { describe, expect, it } from "vitest";
import type { Figure, Side } from "../feed/compared";
import { amount, counts, difference, ending, isChange, medians, times, usualName } from "./compared";

const figure = (a: number | null, b: number | null, isReal = true): Figure => ({
  a, b, change: a === null || b === null ? null : { difference: b - a, ratio: a === 0 ? null : b / a, isChange: isReal },
});

describe("changes in words", () => {
  it("are times of a rank", () => {
    const more = figure(1.2, 3.1);
    expect([amount(more.a, "seconds"), amount(more.b, "seconds"), difference(more, "seconds"), times(more)]).toEqual(["1.20 s", "3.10 s", "+1.90 s", "\u00d72.58"]);
    expect(difference(figure(0.5, 0.2), "seconds")).toBe("\u2212300 ms");
    expect([difference(figure(2, 2), "seconds"), times(figure(0, 2)), times(figure(-1, 2))]).toEqual(["0", "", ""]);
    expect(times(figure(1e-6, 5))).toBe("\u00d7>999");
  });

  it("are shares of its time", () => {
    const less = figure(0.444, 0.389);
    expect([amount(less.a, "share"), difference(less, "share")]).toEqual(["44.4\u2009%", "\u22125.5 points"]);
    expect([amount(-0.0001, "share"), difference(figure(0.1, 0.1001), "share")]).toEqual(["0.0\u2009%", "0"]);
  });

  it("say what is not known", () => {
    const unknown = figure(null, 2);
    expect([amount(unknown.a, "seconds"), difference(unknown, "seconds"), times(unknown), isChange(unknown)]).toEqual(["\u2013", "\u2013", "", false]);
    expect([counts(figure(4, 4)), counts(figure(4, 1234)), medians(figure(1500, null))]).toEqual(["4", "4 \u2192 1\u2009234", "1.50 µs \u2192 \u2013"]);
  });

  it("say how a recording ended", () => {
    const side = (exit: number | null, state = "complete"): Side => ({ folder: "a", isDiagnosed: true, cause: null, headline: "", missing: [], exit, state });
    expect([ending(side(0)), ending(side(137)), ending(side(null)), ending(side(null, "incomplete")), ending(side(null, "running"))])
      .toEqual(["exit status 0", "killed by signal 9", "complete", "cut off", "still running"]);
  });

  it("name what is usual", () => {
    const usual = { name: "", fromBytes: 2048, ranks: 0, isRoot: false, samples: figure(1, 1), medianNs: figure(1, 1) };
    expect(usualName({ ...usual, what: "within" })).toBe("messages within nodes from 2.00 KiB");
    expect(usualName({ ...usual, what: "collective", name: "MPI_Bcast", ranks: 8, isRoot: true })).toBe("MPI_Bcast of 2.00 KiB, 8 ranks, at the root");
  });
});
