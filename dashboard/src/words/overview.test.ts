import { describe, expect, it } from "vitest";
import type { By, Parts } from "../feed/found";
import { course, evolution } from "../panels/how/made-up";
import { apply, emptyRun, type RunState } from "../state/run";
import { blamedInPart, blamedRanks, callRate, nextStep, noBlamedWords, runFigures, slowestPair, slowestWords, timeSplit, turnsWords, worstCourse } from "./overview";

const by = (change: Partial<By> = {}): By => ({ compute: 60, base: 2, distance: 3, excess: 2, operation: 1, other: 1, unknown: 1, cpuWait: 0, ...change });
const budget: Parts = { waitingS: 70, baseS: 10, distanceS: 20, excessS: 5, operationS: 3, otherS: 2, unknownS: 0, totalS: 110, waitingBy: by(), excessInsideS: 0, cpuWaitS: 0 };

function found(cause: "pattern" | "mapping" | "none", details: readonly string[], parts: Parts = budget, actions: readonly string[] = []) {
  return {
    headline: "", blamed: [], details, waitingNote: "", actions, fromS: 0, untilS: 5, leftOutCalls: 0, isFinal: true, evolution: evolution(),
    diagnosis: {
      budget: parts, attribution: [], disturbances: [], quiet: [], regions: null, sites: [], waits: [], gathered: [], sources: [], advised: null, isDistanceUnknown: false, hasCpuContention: false, whatIf: { recordedS: 0, without: [] },
      efficiency: { parallel: 0.6, loadBalance: 0.75, communication: 0.8, transfer: 0.9, serialization: 0.89 },
      verdict: { cause, avoidableS: 30, avoidableWallS: 0.5, isAtLeast: false, basis: "whole" as const, share: 0.1, confidence: 0.9, causes: [], remarks: [] },
    },
  };
}

const plain = (text: string): string => text.replace(/[\u00a0\u202f\u2009]/g, " ");

describe("what to do next", () => {
  it("is the first advice, with what it costs", () => {
    expect(nextStep(found("mapping", ["It costs 3 s.", "It is likely."], budget, ["Place the ranks anew.", "And more."]))).toEqual({ text: "Place the ranks anew.", cost: "It costs 3 s." });
    expect(nextStep(found("pattern", [], budget, ["Take work from rank 1."]))).toEqual({ text: "Take work from rank 1.", cost: "" });
  });

  it("is nothing where there is nothing to be done", () => {
    expect(nextStep(found("none", []))).toBeNull();
    expect(nextStep(found("pattern", ["It costs 3 s."]))).toBeNull();
  });
});

describe("the ranks' time", () => {
  it("is a sentence, and slices that sum to it", () => {
    const { slices, sentence, ranksS } = timeSplit(budget, 64, 320, 0);
    expect(plain(sentence)).toBe("Of 64 ranks\u2019 320 s, 210 s (65.6 %) were outside MPI and 70.0 s (21.9 %) waiting, mostly for ranks that compute longer; then 20.0 s (6.3 %) inter-node cost.");
    expect(slices.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(ranksS, 9);
    expect(slices.map(({ part }) => part)).toEqual(["outside", "waiting", "base", "distance", "excess", "operation", "other"]);
  });

  it("has time after the last calls apart from time outside MPI", () => {
    const { slices, sentence, ranksS } = timeSplit(budget, 64, 320, 40);
    expect(plain(sentence)).toContain("170 s (53.1 %) were outside MPI, 40.0 s (12.5 %) after ranks had finished, and 70.0 s (21.9 %) waiting");
    expect(slices.slice(0, 2).map(({ part, seconds }) => [part, seconds])).toEqual([["outside", 170], ["finished", 40]]);
    expect(slices.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(ranksS, 9);
    expect(timeSplit(budget, 64, 320, 0.3).sentence).not.toContain("finished");
  });

  it("says nothing of what is not most, and of no waiting", () => {
    const even = { ...budget, waitingBy: by({ compute: 30, excess: 32 }) };
    expect(timeSplit(even, 64, 320, 0).sentence).not.toContain("mostly");
    const none = { ...budget, waitingS: 0, totalS: 40, waitingBy: by({ compute: 0 }) };
    expect(plain(timeSplit(none, 1, 320, 0).sentence)).toMatch(/^Of 1 rank\u2019s 320 s, 280 s \(87\.5 %\) were outside MPI and nothing known to be waiting;/);
  });

  it("says what is meant by no reason, and what to do about it", () => {
    const unknown = { ...budget, waitingBy: by({ compute: 10, unknown: 50 }) };
    expect(plain(timeSplit(unknown, 64, 320, 0).sentence)).toMatch(/waiting, mostly for a reason that is not known; then .* The reason is not known where records are missing, the other side of a message was never seen, or expected transfer times are not known: see Lost .* it rests on/);
  });

  it("has another sentence where threads spent more in MPI than the ranks ran", () => {
    const { slices, sentence } = timeSplit(budget, 4, 100, 0);
    expect(plain(sentence)).toBe("4 ranks ran for 100 s in all; their threads spent 110 s in MPI, 70.0 s of it waiting, mostly for ranks that compute longer.");
    expect(slices[0]?.part).toBe("waiting");
  });
});

describe("whom the verdict blames", () => {
  it("is whom the headline blames, with what the cause costs", () => {
    const with35 = { ...found("pattern", []), blamed: [3, 5] };
    const source = { cause: "pattern" as const, totalS: 9, few: [3, 5], fewNodes: 0, ranks: [], computedS: 1, times: [], differsByStep: false };
    expect(blamedRanks({ ...with35, diagnosis: { ...with35.diagnosis, sources: [source] } })).toEqual({ cause: "pattern", ranks: [3, 5], seconds: 9, turns: [] });
    const moving = { ...source, times: [{ fromS: 0, toS: 1, ranks: [3] }, { fromS: 1, toS: 2, ranks: [5] }] };
    expect(blamedRanks({ ...with35, diagnosis: { ...with35.diagnosis, sources: [moving] } })?.turns).toHaveLength(moving.times.length);
    expect(blamedRanks(with35)?.seconds).toBe(with35.diagnosis.verdict.avoidableS);
  });

  it("is nobody where it lies with no ranks, or with all, and says so", () => {
    expect([blamedRanks(found("mapping", [])), blamedRanks({ ...found("none", []), blamed: [3] })]).toEqual([null, null]);
    expect(noBlamedWords("mapping")).toBe("The verdict, placement, lies between nodes, not with single ranks.");
    expect(noBlamedWords("pattern")).toBe("The verdict, load imbalance, is spread over the ranks.");
    expect(noBlamedWords("none")).toBeNull();
  });

  it("lists turns", () => {
    const turn = (fromS: number, ranks: number[]) => ({ fromS, toS: fromS + 1, ranks });
    expect(turnsWords([turn(0, [4, 3]), turn(1, []), turn(2, [7]), turn(3, [9, 10])])).toBe("3\u20134 at first, 7 halfway, 9\u201310 at last");
    expect(turnsWords([turn(0, [4]), turn(1, [5])])).toBe("4 at first, 5 at last");
    expect(turnsWords([turn(0, [4])])).toBe("");
  });

  it("is whom the verdict on a selected part blames", () => {
    const ofPart = { cause: "cpu" as const, sentence: "", details: [], actions: [], ranks: [7] };
    expect(blamedInPart(ofPart, [["cpu", 3], ["pattern", 2]])).toEqual({ cause: "cpu", ranks: [7], seconds: 3, turns: [] });
    expect([blamedInPart({ ...ofPart, ranks: [] }, [["cpu", 3]]), blamedInPart({ ...ofPart, cause: "none" }, [])]).toEqual([null, null]);
  });
});

describe("the run's figures", () => {
  const state = (change: Partial<RunState["job"]> = {}, nowS = 10): RunState => apply(emptyRun(), {
    kind: "snapshot", number: 1, clock: { nowNs: nowS * 1e9, lagNs: 0 }, job: { ...emptyRun().job, state: "running", ranks: 4, nodes: 2, ...change },
    totals: { ...emptyRun().totals, calls: 5000, polls: 20, messages: 400, bytes: 409_600, intraMessages: 100 },
    losses: { ringFull: 5, noRing: 0, unreadable: 0, unsaved: 0 },
    functions: {
      length: 2, id: Uint32Array.of(1, 2), name: ["MPI_Send", "MPI_Recv"], family: ["send", "receive"], calls: Float64Array.of(1, 2), polls: new Float64Array(2), bytes: new Float64Array(2),
      timeNs: Float64Array.of(4e9, 6e9), p50Ns: new Float64Array(2), p99Ns: new Float64Array(2), maxNs: Float64Array.of(2e9, 7e8),
    },
    nodes: { length: 2, node: Uint32Array.of(0, 1), name: ["alpha", "beta"], clockUncertaintyNs: Float64Array.of(0, 5e3), state: new Uint32Array(2), ranks: Uint32Array.of(2, 2), cpusOnHost: Uint32Array.of(4, 4), cpusUsable: Float64Array.of(4, 4), bound: new Uint32Array(2) },
    timeline: { windowNs: 1e9, length: 3, startNs: Float64Array.of(1e9, 8e9, 9e9), function: Uint32Array.of(1, 1, 2), calls: Float64Array.of(900, 300, 100) },
  });
  const figures = (run: RunState) => Object.fromEntries(runFigures(run).map(({ name, value, note }) => [name, plain(`${value}|${note}`)]));

  it("have units", () => {
    expect(figures(state())).toEqual({
      Ranks: "4|on 2 nodes, 4 CPUs each", Calls: "5 000|and 20 polls", "Rate now": "200 calls/s|in the last 2 s", Messages: "400|25.0 % within nodes", Payload: "400 KiB|1.00 KiB a message",
      "In MPI": "10.0 s|25.0 % of ranks\u2019 time", "Longest call": "2.00 s|MPI_Send", Lost: "5 calls|< 0.1 % of all", Clocks: "\u00b1 5.00 µs|at worst, beta",
    });
  });

  it("have the mean of a finished run, and nothing of the last seconds where no call began", () => {
    expect(figures(state({ state: "ended" }))["Mean rate"]).toBe("500 calls/s|of the whole run");
    expect(callRate(state({}, 20))).toBe(0);
    expect(callRate(emptyRun())).toBeNull();
  });

  it("say what is not known", () => {
    const run = emptyRun();
    expect(figures(run)).toMatchObject({ "Longest call": "\u2013|", Lost: "no call|", Clocks: "one|", "Rate now": "\u2013|in the last 2 s" });
  });
});

describe("the slowest region", () => {
  it("is the one with the greatest latency, else the first", () => {
    expect(worstCourse([course(0), course(1, { latency: 3 }), course(2, { latency: null })])?.region).toBe(1);
    expect(worstCourse([course(4, { latency: null }), course(5, { latency: null })])?.region).toBe(4);
    expect(worstCourse([])).toBeNull();
  });
});

describe("the slowest regions", () => {
  const region = (id: number, latency: number | null) => ({ id, ranks: [[id, id]] as [number, number][], latency, messages: 8, delayed: 0, aboveExpected: 0, exactShare: 0 });
  const between = (latency: number | null) => ({ a: 0, b: 1, latency, messages: 8, delayed: 0, aboveExpected: 0, exactShare: 1 });
  const heading = (inside: number | null, across: number | null): string => {
    const regions = [region(0, inside), region(1, null)];
    return slowestWords(regions, 2, slowestPair({ version: 1, count: 2, withCollectives: false, regions, between: [between(across)] }, regions));
  };

  it("are headed by what is known of them, inside or between two", () => {
    expect(heading(null, null)).toBe("2 regions, latency not known");
    expect(heading(null, 1.02)).toBe("2 regions, none slower than expected between them");
    expect(heading(null, 3)).toBe("2 regions, slowest between two");
    expect(heading(1.04, 1.01)).toBe("2 regions, none slower than expected inside");
    expect(heading(1.5, 2)).toBe("2 regions, slowest between two");
    expect(heading(2, 1.5)).toBe("2 regions of ranks");
  });
});
