import { describe, expect, it } from "vitest";
import type { Suggestion } from "../../feed/ranks";
import { METRICS, metricOf, valueWords } from "../../words/metrics";
import { ALL, scaleOf } from "./scale";
import { drawnWords, filterWords, labelOf, UNRESTRICTED, suggestionWords } from "./words";

const DRAWN = { layout: "sphere", ranks: 512, hidden: 0, color: "late_sender", size: "none", height: "none", opacity: "none", of: UNRESTRICTED };
const FOUND: Suggestion = { metric: "cpu_wait", layout: "towers", ranks: [[4, 11]], count: 8, mean: 1, median: 0.011, share: 0.6, group: "", members: [], isCorners: false };

describe("words", () => {
  it("says what is drawn", () => {
    const words = drawnWords(DRAWN, scaleOf([0, 3.2], true, false)).replaceAll("\u00a0", " ");
    expect(words).toBe("512 ranks, sphere; colour: waiting for late senders, 0 s to 3.20 s.");
    expect(drawnWords({ ...DRAWN, size: "calls", hidden: 3 }, null)).toBe("512 ranks, sphere; colour: waiting for late senders; size: calls; 3 ranks filtered out.");
    const of = { function: "MPI_Send", site: "solver.c:33 solve()", phase: "assembly" };
    expect(labelOf("mpi_time", { ...UNRESTRICTED, function: "MPI_Send" })).toBe("time in MPI_Send");
    expect(labelOf("calls", of)).toBe("calls of MPI_Send at solver.c:33 solve() in phase assembly");
    expect(labelOf("outside_mpi", of)).toBe("time outside MPI (computing) in phase assembly");
    expect(labelOf("waiting", of)).toBe("waiting for other ranks");
    expect(labelOf("layout", UNRESTRICTED)).toMatch(/own value/);
  });

  it("names ranks that stand out, and what they have in common", () => {
    const words = (found: Suggestion): string => suggestionWords(found).replaceAll("\u00a0", " ");
    expect(words(FOUND)).toBe("Ranks 4\u201311 stand out in waiting for a CPU: 1.00 s, the median is 11.0 ms. In the layout towers they lie together: neighbours share 60 % of the variance.");
    expect(words({ ...FOUND, group: "rack", members: ["R5"] })).toMatch(/They are one rack, R5\.$/);
    expect(words({ ...FOUND, group: "host", members: ["a", "b", "c", "d"] })).toMatch(/They are 4 nodes, a, b, c, \u2026\.$/);
    expect(words({ ...FOUND, group: "cart_x", members: ["3"] })).toMatch(/They are the plane x = 3 of the program\u2019s grid\.$/);
    expect(words({ ...FOUND, isCorners: true })).toMatch(/corners of the program\u2019s grid\.$/);
    expect(words({ ...FOUND, ranks: [[7, 7]], count: 1 })).toMatch(/^Rank 7 stands out.*median is 11\.0 ms\.$/);
  });

  it("says which values are drawn", () => {
    const scale = scaleOf([0, 10], false, false);
    expect(filterWords(ALL, scale, "calls")).toBe("all values are drawn");
    expect(filterWords({ from: 10, to: 50, isInverse: false }, scale, "calls")).toBe("1 to 5");
    expect(filterWords({ from: 10, to: 50, isInverse: true }, scale, "calls")).toBe("up to 1 and from 5");
  });

  it("has a name and a unit for every figure", () => {
    expect(new Set(METRICS.map(({ label }) => label)).size).toBe(METRICS.length);
    expect(metricOf("nothing")).toBeNull();
    expect([valueWords(0, "time"), valueWords(2048, "bytes"), valueWords(NaN, "count"), valueWords(2.5, "factor")]).toEqual(["0 s", "2.00 KiB", "not known", "2.50"]);
  });
});
