import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { FeedError } from "./columns";
import type { Compared } from "./compared";
import { decode } from "./message";
import type * as Wire from "./types";

const f64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);
const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const figure = (a: number | null, b: number | null): Wire.Figure => ({ a, b, change: a === null || b === null ? null : { difference: b - a, ratio: a === 0 ? null : b / a, is_change: a !== b } });
const names = <const Name extends string>(...all: Name[]): Record<Name, Wire.Figure> => Object.fromEntries(all.map((name) => [name, figure(1, 2)])) as Record<Name, Wire.Figure>;
const words = (a: string, b: string): Wire.Words => ({ a, b, change: { is_change: a !== b } });
const side = (folder: string): Wire.Side => ({ folder, run: folder, state: "complete", started_unix_ns: 1, exit: 0, is_judged: true, cause: "pattern", headline: "So it is.", missing: [] });
const parts = () => ({ ...names("outside", "finished", "waiting", "base", "distance", "excess", "operation", "other", "unknown", "total", "transfer"), waiting_by: names("compute", "base", "distance", "excess", "operation", "other", "unknown", "no_core", "transfer") });
const course = (slots: number): Wire.ComparedCourse => ({
  duration_ns: slots * 100, width_ns: 100, slots, function: u32(7), calls: f64(...Array<number>(slots).fill(3)), parts: f64(...Array<number>(7 * slots).fill(1)), avoidable: f64(),
});

const wire: Wire.Compared = {
  comparison: {
    schema: "mpiscope.compare/1", answer: "B took longer.", remarks: ["Mind this."], basis: "seconds",
    noise: { ratio: 1.05, least: 0.01, spreads: 3, seldom_ratio: 2, median_ratio: 1.25, sentence: "Left out." },
    a: side("one"), b: side("other"),
    job: { ranks: figure(4, 4), nodes: figure(1, 1), mpi: words("Open MPI", "Open MPI"), command: words("x", "y"), duration_s: figure(2, 3) },
    totals: names("calls", "polls", "messages", "bytes", "intra_messages", "inter_messages", "unmatched_sends", "unmatched_receives", "uncertain_messages", "lost_calls", "clock_violations"),
    quality: { clock_uncertainty_ns: figure(null, 5), missing: figure(0, 0), no_core_share: figure(0.1, 0.2) },
    functions: [{ id: 7, name: "MPI_Recv", family: "receive", ...names("calls", "polls", "bytes", "seconds", "of_rank", "p50_ns", "p99_ns", "max_ns"), ranks: [[0, 1]], why: "each 2.00x as long" }],
    sites: [{ place: "main.c:4 main()", function: "main", file: "/src/main.c", line: { a: 3, b: 4 }, calls_function: "MPI_Recv", ...names("calls", "seconds", "of_rank", "waiting_s", "waiting_of_rank"), why: "" }],
    criteria: [{ scope: "inter", size_from: 0, size_to: 50, ...names("samples", "median_ns") }],
    collectives: [{ function: "MPI_Bcast", ranks: 4, bytes: 8, is_root: true, ...names("samples", "median_ns") }],
    regions: [{ became: "split", a: [0], b: [0, 1], a_ranks: [[0, 3]], b_ranks: [[0, 3]], overlap: 1, ...names("latency", "messages", "delayed") }],
    budget: parts(), of_rank: parts(),
    efficiency: names("parallel", "load_balance", "communication", "transfer", "serialization"),
    verdict: { cause: words("none", "pattern"), ...names("share", "avoidable_s", "avoidable_wall_s", "confidence"), causes: [{ cause: "pattern", avoidable_s: figure(0, 2) }] },
    alignment: { by: "turn", asked: "auto", reason: "Aligned by turn.", matched: 3, a_count: 3, b_count: 3, crossed: 0, marker: "MPI_Recv", stretches: [], sections: [] },
  },
  a: course(2), b: course(3),
  aligned: [
    { by: "start", is_possible: true, reason: "Both count from their start.", b: null, b_own_ns: f64(), mark_ns: f64(), mark_name: [], stretches: [] },
    { by: "phase", is_possible: false, reason: "There are no phases.", b: null, b_own_ns: f64(), mark_ns: f64(), mark_name: [], stretches: [] },
    {
      by: "turn", is_possible: true, reason: "Turns 1 to 3 matched.", b: course(2), b_own_ns: f64(0, 200, 300), mark_ns: f64(10, 60, 90), mark_name: ["1", "2", "3"],
      stretches: [{ name: "", first: 1, last: 2, a_from_ns: 10, a_to_ns: 90, b_from_ns: 10, b_to_ns: 190, a_s: 1, b_s: 2, difference_s: 1, parts: [], sentence: "turns 1 to 2 took 1 s more" }],
    },
  ],
};

function read(change: (from: Wire.Compared) => unknown = () => undefined): Compared {
  const sent = structuredClone(wire);
  change(sent);
  const message = decode(encode({ protocol: 2, kind: "snapshot", number: 1, clock: { now_ns: 1, lag_ns: 0 }, compared: sent }).slice().buffer);
  if (message.kind !== "snapshot" || !message.compared) throw new Error("nothing is compared");
  return message.compared;
}

describe("two recordings that are compared", () => {
  it("are read with all that is shown", () => {
    const { comparison, a, b } = read();
    expect([comparison.answer, comparison.basis, comparison.a.cause, comparison.noise]).toEqual(["B took longer.", "seconds", "pattern", "Left out."]);
    expect(comparison.durationS).toEqual({ a: 2, b: 3, change: { difference: 1, ratio: 1.5, isChange: true } });
    expect(comparison.clockUncertaintyNs).toEqual({ a: null, b: 5, change: null });
    expect(comparison.functions[0]).toMatchObject({ name: "MPI_Recv", ranks: [[0, 1]], why: "each 2.00x as long" });
    expect(comparison.sites[0]).toMatchObject({ lines: [3, 4], callsFunction: "MPI_Recv" });
    expect(comparison.usual.map(({ what }) => what)).toEqual(["between", "collective"]);
    expect(comparison.regions?.[0]?.parts).toEqual([1, 2]);
    expect([a.slots, b.slots, [...b.calls], a.parts.length, a.avoidable.length]).toEqual([2, 3, [3, 3, 3], 14, 0]);
  });

  it("are on one clock in three ways", () => {
    const { comparison, aligned } = read();
    expect([comparison.alignedBy, ...aligned.map(({ by, isPossible }) => `${by} ${isPossible}`)]).toEqual(["turn", "start true", "phase false", "turn true"]);
    expect([aligned[2]?.b?.slots, [...(aligned[2]?.ownNs ?? [])], aligned[2]?.markNames]).toEqual([2, [0, 200, 300], ["1", "2", "3"]]);
    expect(aligned[2]?.stretches).toEqual([{ aFromNs: 10, aToNs: 90, differenceS: 1, sentence: "turns 1 to 2 took 1 s more" }]);
  });

  it("lack what was not diagnosed", () => {
    const { comparison } = read(({ comparison }) => Object.assign(comparison, { criteria: null, collectives: null, regions: null, budget: null, of_rank: null, efficiency: null, verdict: null }));
    expect([comparison.usual, comparison.regions, comparison.ofRank, comparison.verdict]).toEqual([[], null, null, null]);
  });

  it.each([
    ["other slots", (from: Wire.Compared) => Object.assign(from.b, { width_ns: 50 })],
    ["too few values", (from: Wire.Compared) => Object.assign(from.a, { calls: f64(1) })],
    ["no slot", (from: Wire.Compared) => Object.assign(from.a, { slots: 0 })],
    ["an unknown alignment", (from: Wire.Compared) => Object.assign(from.comparison.alignment, { by: "luck" })],
    ["marks without names", (from: Wire.Compared) => Object.assign(from.aligned[2] ?? {}, { mark_name: ["1"] })],
    ["too few edges of slots", (from: Wire.Compared) => Object.assign(from.aligned[2] ?? {}, { b_own_ns: f64(0, 1) })],
    ["aligned slots of another length", (from: Wire.Compared) => Object.assign(from.aligned[2]?.b ?? {}, { width_ns: 50 })],
    ["an unknown basis", (from: Wire.Compared) => Object.assign(from.comparison, { basis: "miles" })],
    ["an unknown cause", (from: Wire.Compared) => Object.assign(from.comparison.a, { cause: "fate" })],
    ["a figure that is none", (from: Wire.Compared) => Object.assign(from.comparison.job, { duration_s: 7 })],
    ["a value that is none", (from: Wire.Compared) => Object.assign(from.comparison.job, { ranks: { a: "four", b: 4, change: null } })],
  ])("are refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });
});
