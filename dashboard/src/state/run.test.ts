import { describe, expect, it } from "vitest";
import type { Disturbance, FindingsReport } from "../feed/found";
import type { NodeRows, RankRows, StateMessage, TimelineCells } from "../feed/message";
import { evolution } from "../panels/how/made-up";
import { apply, edgeNs, emptyRun, over } from "./run";

const message = (kind: "snapshot" | "delta", number: number, parts: Partial<StateMessage> = {}): StateMessage => ({
  kind, number, clock: { nowNs: number * 1e9, lagNs: 1e8 }, ...parts,
});
const cells = (windowNs: number, rows: [start: number, id: number, calls: number][]): TimelineCells => ({
  windowNs, length: rows.length, startNs: Float64Array.from(rows, (row) => row[0]), function: Uint32Array.from(rows, (row) => row[1]), calls: Float64Array.from(rows, (row) => row[2]),
});
const rank = (number: number, calls: number): RankRows => ({
  length: 1, rank: Uint32Array.of(number), node: Uint32Array.of(0), calls: Float64Array.of(calls), sent: Float64Array.of(0), received: Float64Array.of(0),
  bytesSent: Float64Array.of(0), mpiTimeNs: Float64Array.of(0), runNs: Float64Array.of(8), waitNs: Float64Array.of(calls), involuntary: Float64Array.of(1), state: Uint32Array.of(0), endedNs: Float64Array.of(0),
});

describe("run", () => {
  it("takes a delta only when it is the next one", () => {
    const first = apply(emptyRun(), message("snapshot", 4));
    expect(apply(first, message("delta", 6))).toBe(first);
    expect(apply(first, message("delta", 4))).toBe(first);
    expect(apply(first, message("delta", 5)).number).toBe(5);
    expect(apply(first, message("snapshot", 9)).number).toBe(9);
  });

  it("forgets everything with a snapshot", () => {
    const before = apply(emptyRun(), message("snapshot", 1, { ranks: rank(3, 10), timeline: cells(100, [[0, 1, 5]]) }));
    const after = apply(before, message("snapshot", 2));
    expect(after.ranks.count).toBe(0);
    expect(after.timeline.windows).toBe(0);
  });

  it("keeps absolute values by rank, and makes room", () => {
    let state = apply(emptyRun(), message("snapshot", 1, { ranks: rank(3, 10) }));
    state = apply(state, message("delta", 2, { ranks: rank(3, 12) }));
    state = apply(state, message("delta", 3, { ranks: rank(1000, 1) }));
    expect(state.ranks.calls[3]).toBe(12);
    expect([state.ranks.runNs[3], state.ranks.waitNs[3], state.ranks.involuntary[3]]).toEqual([8, 12, 1]);
    expect(state.ranks.count).toBe(2);
    expect(state.ranks.length).toBe(1001);
    expect(state.ranks.heard[999]).toBe(0);
  });

  it("keeps hosts by number, and what is new of one replaces what was", () => {
    const node = (number: number, name: string, clockUncertaintyNs: number, state: number, onHost = 0): NodeRows => ({
      length: 1, node: Uint32Array.of(number), name: [name], clockUncertaintyNs: Float64Array.of(clockUncertaintyNs), state: Uint32Array.of(state),
      ranks: Uint32Array.of(4), cpusOnHost: Uint32Array.of(onHost), cpusUsable: Float64Array.of(1.5), bound: Uint32Array.of(1),
    });
    const before = apply(emptyRun(), message("snapshot", 1, { nodes: node(0, "alpha", 0, 0) }));
    const after = apply(apply(before, message("delta", 2, { nodes: node(1, "beta", Infinity, 0) })), message("delta", 3, { nodes: node(1, "beta", 5e3, 1, 8) }));
    expect([...before.nodes.keys()]).toEqual([0]);
    expect(after.nodes.get(0)).toEqual({ node: 0, name: "alpha", clockUncertaintyNs: 0, isSilent: false, cpus: null });
    expect(after.nodes.get(1)).toEqual({ node: 1, name: "beta", clockUncertaintyNs: 5e3, isSilent: true, cpus: { ranks: 4, onHost: 8, usable: 1.5, isBound: true } });
    expect(apply(after, message("snapshot", 9)).nodes.size).toBe(0);
  });

  it("keeps the newest diagnosis until a snapshot has none", () => {
    const found = (headline: string): FindingsReport => ({ headline, diagnosis: { regions: null, disturbances: [] as readonly Disturbance[] }, evolution: evolution({ finalS: headline.length }) } as FindingsReport);
    const before = apply(emptyRun(), message("snapshot", 1));
    const first = apply(before, message("delta", 2, { found: found("one") }));
    const silent = apply(first, message("delta", 3));
    const second = apply(silent, message("delta", 4, { found: found("two") }));
    expect([before, first, silent, second].map((state) => state.found?.headline)).toEqual([undefined, "one", "one", "two"]);
    // What did not change is not drawn anew.
    expect(second.evolution).toBe(first.evolution);
    expect(apply(second, message("delta", 5, { found: found("three") })).evolution).toMatchObject({ finalS: 5 });
    expect(apply(second, message("snapshot", 5))).toMatchObject({ found: null, evolution: null });
    const bare = { ...found("no window"), evolution: evolution({ regions: [], links: [] }) };
    expect(apply(second, message("delta", 5, { found: bare })).evolution).toBeNull();
  });

  it("keeps counts by window and function, and starts anew when windows were merged", () => {
    let state = apply(emptyRun(), message("snapshot", 1, { timeline: cells(100, [[0, 1, 5], [100, 1, 6], [100, 2, 1]]) }));
    state = apply(state, message("delta", 2, { timeline: cells(100, [[100, 1, 7], [40_000, 2, 3]]) }));
    expect([...(state.timeline.counts.get(1) ?? []).slice(0, 3)]).toEqual([5, 7, 0]);
    expect(state.timeline.counts.get(2)?.[400]).toBe(3);
    expect(state.timeline.windows).toBe(401);
    state = apply(state, message("delta", 3, { timeline: cells(200, [[0, 1, 12]]) }));
    expect(state.timeline.windows).toBe(1);
    expect(state.timeline.counts.get(2)).toBeUndefined();
  });

  it("knows up to where calls are complete", () => {
    const job = { run: "r", command: "c", nodes: 1, ranks: 1, mpi: "", state: "running" as const, exit: null, startedUnixNs: 0, source: "live" as const, second: "" };
    const live = apply(emptyRun(), message("snapshot", 2, { job }));
    expect(edgeNs(live)).toBe(1.9e9);
    const done = apply(live, message("delta", 3, { job: { ...job, state: "ended", exit: 0 } }));
    expect([over(done), edgeNs(done)]).toEqual([true, 3e9]);
  });
});
