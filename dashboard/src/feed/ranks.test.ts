import { describe, expect, it } from "vitest";
import { landscape, layouts, rankLayout, rankMetrics, suggestion } from "./ranks";

const column = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);
const LAYOUT = { name: "a", names: ["a"], points_per_rank: 2, x: column(1, 2), y: column(3, 4), z: column(5, 6), color: column(7, 8), events: [true, false], is_old: true, errors: [{ line: 2, column: 3, text: "unknown name" }], warnings: [] };
const METRICS = { from_ns: 0, to_ns: 9, judged_from_ns: 0, judged_to_ns: 0, ranks: 2, host: column(0, 1), phases: [{ id: 7, name: "solve" }], metrics: [{ metric: "calls", values: column(4, 5), missing: "" }, { metric: "cpu", values: column(), missing: "not diagnosed" }] };

describe("answers about ranks", () => {
  it("are read", () => {
    const found = rankLayout(LAYOUT);
    expect([found.length, found.pointsPerRank, found.z[1], found.events, found.isOld, found.errors[0]?.column]).toEqual([2, 2, 6, [true, false], true, 3]);
    const metrics = rankMetrics(METRICS);
    expect([metrics.metrics.get("calls")?.values[1], metrics.metrics.get("cpu")?.missing, metrics.phases]).toEqual([5, "not diagnosed", [{ id: 7, name: "solve" }]]);
    const item = { name: "a", sentence: "All.", is_file: false, keeper: "user", source: "", is_complete: true, x: column(1), y: column(1), z: column(1) };
    expect(layouts({ items: [item], file: "f", text: "t", version: 3, errors: [], has_store: true }).items[0]?.isComplete).toBe(true);
    expect(landscape({ from_ns: 0, to_ns: 1, ranks_per_row: 1, rows: 2, function: new Uint8Array(Uint32Array.of(7).buffer), seconds: column(1, 2) }).rows).toBe(2);
    expect(suggestion({ metric: "cpu", layout: "towers", ranks: [[0, 3]], count: 4, mean: 1, median: 0, share: 1, group: "host", members: ["n2"], is_corners: false }).members).toEqual(["n2"]);
  });

  it("are refused where they do not fit together", () => {
    expect(() => rankLayout({ ...LAYOUT, color: column(1) })).toThrow();
    expect(() => rankLayout({ ...LAYOUT, points_per_rank: 0 })).toThrow();
    expect(() => rankLayout({ ...LAYOUT, y: column(1, 2, 3) })).toThrow();
    expect(() => rankMetrics({ ...METRICS, ranks: 3 })).toThrow();
    expect(() => rankMetrics({ ...METRICS, ranks: 1e9 })).toThrow();
    expect(() => landscape({ from_ns: 0, to_ns: 1, ranks_per_row: 1, rows: 2, function: new Uint8Array(4), seconds: column(1) })).toThrow();
    expect(() => suggestion({ metric: "cpu", layout: "towers", ranks: [[3, 0]], count: 4, mean: 1, median: 0, share: 1, group: "", members: [], is_corners: false })).toThrow();
  });
});
