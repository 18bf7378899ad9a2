import { describe, expect, it } from "vitest";
import type { Blame, Cause, FindingsReport, Parts } from "../feed/found";
import type { RangeFigures } from "../state/range-budgets";
import { emptyRun, type RunState } from "../state/run";
import {
  budgetRows, CAUSE_NAMES, cutAtConfidence, FACTORS, isKnown, leftOut, networkWords, part, pieces, replayNote, seconds, stretchWords, verdictLine, waitingRows,
} from "./found";

const BUDGET: Parts = {
  waitingS: 10, baseS: 1, distanceS: 2, excessS: 3, operationS: 4, otherS: 5, unknownS: 6, totalS: 31, excessInsideS: 0.75, cpuWaitS: 0,
  waitingBy: { compute: 9, base: -0.5, distance: 1, excess: 0.5, operation: 0.25, other: 0.125, unknown: -0.375, cpuWait: 2 },
};

function made(cause: Cause, change: Partial<FindingsReport> = {}): FindingsReport {
  return {
    headline: "Load imbalance costs 12.0 s.", blamed: [], details: [], waitingNote: "", actions: [], fromS: 0, untilS: 30, leftOutCalls: 0, isFinal: false,
    diagnosis: {
      budget: BUDGET, waits: [], gathered: [], sites: [], sources: [], advised: null, isDistanceUnknown: false, hasCpuContention: false, whatIf: { recordedS: 0, without: [] }, attribution: [], disturbances: [], quiet: [],
      efficiency: { parallel: 0.6, loadBalance: 0.75, communication: 0.8, transfer: 0.9, serialization: 0.89 },
      verdict: { cause, avoidableS: 12, avoidableWallS: 3, isAtLeast: false, basis: "whole", share: 0.1, confidence: 0.923, causes: [], remarks: [] },
      regions: null,
    },
    evolution: { by: "node", version: 0, windowS: 0.1, finalS: 0, hasNormal: true, regions: [], links: [], otherInside: 0, otherBetween: 0 },
    ...change,
  };
}

function run(found: FindingsReport | null, job: Partial<RunState["job"]> = {}, nowS = 30): RunState {
  const empty = emptyRun();
  return { ...empty, number: 1, clock: { nowNs: nowS * 1e9, lagNs: 0 }, job: { ...empty.job, state: "running", ...job }, found };
}

const notes = (state: RunState): string => verdictLine(state).notes.join("; ").replace(/[\u00a0\u202f]/g, " ");

describe("the network of a stretch", () => {
  const stretch = { fromS: 10, toS: 20, region: null, cause: "background", avoidableS: 1, confidence: 1, evidence: [] } as const;
  const quiet = [{ fromS: 0, toS: 19, isQuiet: true, slower: 1.4 }, { fromS: 19, toS: 30, isQuiet: false, slower: 2.54 }];

  it("is given where it was disturbed", () => {
    expect(networkWords(stretch, quiet)).toBe("messages took 2.5 times as long as when the network was quietest");
    expect(networkWords({ ...stretch, toS: 19 }, quiet)).toBeNull();
  });
});

describe("what was found by replay", () => {
  const of = (cause: Cause, avoidableS: number): string | null => {
    const { diagnosis } = made(cause);
    return replayNote({ ...diagnosis, verdict: { ...diagnosis.verdict, avoidableS } });
  };

  it("appears where parts of the time in MPI show less than half of it", () => {
    expect(of("background", 12)?.replace(/[\u00a0\u2019]/g, " ")).toBe("Of the whole run s time in these parts, 12.0 s is what the verdict calls network contention: found by replay, not measured call by call.");
    expect(of("mapping", 12)).toContain("placement");
  });

  it("is missing for what is measured, nor of causes that lie with ranks", () => {
    expect([of("background", 7), of("mapping", 6), of("pattern", 12), of("none", 0)]).toEqual([null, null, null, null]);
  });
});

describe("the verdict's line", () => {
  it("says what is missing while nothing is diagnosed", () => {
    expect(verdictLine(run(null))).toMatchObject({ cause: null, sentence: expect.stringContaining("first windows") });
    expect(verdictLine(run(made("none", { headline: "" }))).sentence).toContain("not known yet");
    expect(verdictLine(run(made("pattern", { untilS: 0 }))).cause).toBeNull();
    expect(verdictLine(run(null, { state: "ended", exit: 0 })).sentence).toBe("The job ended before the first verdict.");
    expect(verdictLine(run(null, { state: "ended", source: "replay" })).sentence).toBe("There is no verdict in this recording.");
  });

  it("is the daemon's sentence, which says how sure it is", () => {
    expect(verdictLine(run(made("pattern")))).toMatchObject({ cause: "pattern", sentence: "Load imbalance costs 12.0 s." });
    expect(notes(run(made("pattern")))).toBe("");
  });

  it("says that it is of the whole run where a selection has figures of its own, once", () => {
    const notesOf = (isFinal: boolean, isSelecting: boolean): readonly string[] => verdictLine(run(made("pattern", { isFinal }), isFinal ? { state: "ended" } : {}), isSelecting ? { kind: "asked", scope: { rangeNs: [0, 1], ranks: null } } : undefined).notes;
    expect([notesOf(false, true), notesOf(true, true), notesOf(true, false), notesOf(false, false)]).toEqual([["of the whole run"], ["of the whole run"], ["of the whole run"], []]);
  });

  it("is that on the selected part where there is one, and says what is so of the whole run", () => {
    const verdict = { cause: "cpu" as const, sentence: "20 % avoidable.", details: [], actions: [], ranks: [3] };
    const of = (rangeNs: readonly [number, number] | null, ranks: readonly (readonly [number, number])[] | null): RangeFigures => ({
      kind: "known", scope: { rangeNs, ranks }, budget: { fromNs: 2e9, toNs: 4.5e9, windowNs: 1e8, parts: BUDGET, causes: [], verdict }, isOld: false,
    });
    const line = verdictLine(run(made("pattern")), of([2.01e9, 4.5e9], [[4, 7]]));
    expect({ ...line, about: line.about.replaceAll("\u00a0", " ") }).toEqual({
      cause: "cpu", about: "Selected 0:00:02.00 to 0:00:04.50, ranks 4\u20137:", sentence: "20\u00a0% avoidable.", notes: ["whole run: 10\u00a0% avoidable, load imbalance"],
    });
    expect(verdictLine(run(made("none")), of(null, [[4, 4]]))).toMatchObject({ about: "Selected rank 4:", notes: ["whole run: no avoidable time above 2\u00a0%"] });
  });

  it("is cut behind how sure it is", () => {
    expect(cutAtConfidence("19 % avoidable: X. Network contention, 46\u00a0% sure. Next: Y.")).toEqual(["19 % avoidable: X. Network contention, 46\u00a0% sure", ". Next: Y."]);
    expect(cutAtConfidence("No avoidable time above 2 %.")).toEqual(["No avoidable time above 2 %.", ""]);
  });

  it("has no cause, and not the mark of a good run, if too many calls were lost", () => {
    const found = made("none", { headline: "No verdict: 81 % of the calls are missing." });
    const verdict = { ...found.diagnosis.verdict, basis: "lost" as const };
    const line = verdictLine(run({ ...found, diagnosis: { ...found.diagnosis, verdict } }));
    expect(line).toMatchObject({ cause: null, sentence: "No verdict: 81\u00a0% of the calls are missing." });
  });

  it("does not call part of a run the whole run", () => {
    const found = made("pattern", { isFinal: true });
    const verdict = { ...found.diagnosis.verdict, basis: "part" as const };
    const part = run({ ...found, diagnosis: { ...found.diagnosis, verdict } }, { state: "ended", exit: 137 }, 90);
    expect(verdictLine(part)).toMatchObject({ cause: "pattern", notes: [] });
  });

  it("says nothing of confidence where there is no cause", () => {
    expect(verdictLine(run(made("none")))).toMatchObject({ cause: "none", notes: [] });
  });

  it("says whether it is the last word, and when it lags", () => {
    expect(notes(run(made("pattern", { isFinal: true }), { state: "ended", exit: 0 }, 90))).toBe("of the whole run");
    expect(notes(run(made("pattern"), { state: "killed" }))).toBe("from the live analysis, not final");
    expect(notes(run(made("pattern"), {}, 34))).toBe("");
    expect(notes(run(made("pattern"), {}, 90))).toBe("analysis 60 s behind");
  });

  it("says what was left out", () => {
    const text = (fromS: number, leftOutCalls: number): string => leftOut(made("none", { fromS, leftOutCalls })).replace(/[\u00a0\u202f]/g, " ");
    expect(text(0, 0)).toBe("");
    expect(text(12.3, 1_234_567)).toBe("analysed from 12.3 s on: before that 1 234 567 calls came faster than they could be analysed");
    expect(text(12.3, 0)).toBe("analysed from 12.3 s on");
    expect(text(221, 1)).toBe("analysed from 3 min 41 s on: before that 1 call came faster than they could be analysed");
    expect(text(0, 2)).toBe("2 calls came faster than they could be analysed");
    expect(notes(run(made("none", { fromS: 12.3 }), {}, 31))).toBe("analysed from 12.3 s on");
  });
});

describe("parts in words", () => {
  it("are all of the budget, once", () => {
    const rows = budgetRows(BUDGET);
    expect(rows.reduce((sum, row) => sum + row.seconds, 0)).toBe(BUDGET.totalS);
    expect(new Set(rows.map((row) => row.part)).size).toBe(rows.length);
  });

  it("are all of the waiting, with time waiting for a CPU counted once", () => {
    const rows = waitingRows(BUDGET.waitingBy);
    expect(rows.reduce((sum, row) => sum + row.seconds, 0)).toBeCloseTo(BUDGET.waitingS, 9);
    expect(rows.find((row) => row.part === "compute")?.seconds).toBe(7);
    expect(rows.find((row) => row.part === "cpuWait")?.seconds).toBe(2);
  });
});

describe("figures in words", () => {
  it("are seconds with a sign that is one, and shares", () => {
    expect([seconds(0), seconds(12.34), seconds(-0.5)]).toEqual(["0 s", "12.3 s", "\u2212500 ms"]);
    expect([part(0.264), part(0), part(Number.NaN), part(-0.1)]).toEqual(["26.4\u2009%", "0\u2009%", "\u2013", "0\u2009%"]);
  });

  it("name each cause and factor", () => {
    const causes: Record<Blame, string> = { mapping: "placement", pattern: "load imbalance", background: "network contention", cpu: "CPU contention" };
    expect(CAUSE_NAMES).toMatchObject(causes);
    for (const [key, factor] of Object.entries(FACTORS)) expect(factor.key).toBe(key);
    expect(isKnown(made("none").diagnosis.efficiency)).toBe(true);
    expect(isKnown({ parallel: 0, loadBalance: 0, communication: 0, transfer: 0, serialization: 0 })).toBe(false);
  });

  it("say of a stretch what it suffers from", () => {
    const stretch = { fromS: 61, toS: 62.5, region: null, cause: "cpu" as Cause, avoidableS: 3, confidence: 0.5, evidence: [] };
    expect(stretchWords(stretch, 0.5)).toBe("0:01:01.0 to 0:01:02.5: CPU contention, 3.00 s avoidable, 50.0\u2009% of the ranks\u2019 time, confidence 0.50");
    expect(stretchWords({ ...stretch, cause: "none" }, 0)).toBe("0:01:01.0 to 0:01:02.5: nothing stands out");
  });

  it("show what is to be typed", () => {
    expect(pieces("`mpiscope remap` writes a better one.")).toEqual([{ text: "mpiscope remap", isCommand: true }, { text: " writes a better one.", isCommand: false }]);
    expect(pieces("No command.")).toEqual([{ text: "No command.", isCommand: false }]);
  });
});
