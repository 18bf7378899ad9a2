import { describe, expect, it } from "vitest";
import { apply, emptyRun, type RunState } from "../state/run";
import type { Hang } from "../feed/hangs";
import { endedCallWords, endedWords, isQuiet, isSuspect, quietNs, quietSpell, quietSentence, stretchBefore, stretchNow, suspicion } from "./hangs";

const BARRIER = 15;
const WAIT = 12;
const SECOND = 1e9;

interface Flight { rank: number; function?: number; sinceS: number; thread?: number }

/** A job of this many ranks at 30 s whose last call, but for those in flight, began in the window that ends at a time. */
function run(ranks: number, lastS: number, flight: readonly Flight[], { total = flight.length, states = [] as number[], lagS = 0 } = {}): RunState {
  const all = Array.from({ length: ranks }, (_, rank) => rank);
  const zeros = new Float64Array(ranks);
  const sorted = [...flight].sort((one, other) => one.sinceS - other.sinceS);
  return apply(emptyRun(), {
    kind: "snapshot", number: 1, clock: { nowNs: 30 * SECOND, lagNs: lagS * SECOND },
    job: { ...emptyRun().job, state: "running", ranks },
    functions: {
      length: 2, id: Uint32Array.of(BARRIER, WAIT), name: ["MPI_Barrier", "MPI_Waitall"], family: ["barrier", "complete"], calls: new Float64Array(2), polls: new Float64Array(2), bytes: new Float64Array(2),
      timeNs: new Float64Array(2), p50Ns: new Float64Array(2), p99Ns: new Float64Array(2), maxNs: new Float64Array(2),
    },
    ranks: {
      length: ranks, rank: Uint32Array.from(all), node: new Uint32Array(ranks), calls: zeros, sent: zeros, received: zeros, bytesSent: zeros, mpiTimeNs: zeros, runNs: zeros, waitNs: zeros, involuntary: zeros, endedNs: zeros,
      state: Uint32Array.from(all, (rank) => states[rank] ?? 0),
    },
    timeline: { windowNs: SECOND, length: 1, startNs: Float64Array.of((lastS - 1) * SECOND), function: Uint32Array.of(BARRIER), calls: Float64Array.of(3) },
    inFlight: {
      total, length: sorted.length, rank: Uint32Array.from(sorted, ({ rank }) => rank), thread: Uint32Array.from(sorted, ({ thread = 0 }) => thread),
      function: Uint32Array.from(sorted, (each) => each.function ?? BARRIER), sinceNs: Float64Array.from(sorted, ({ sinceS }) => sinceS * SECOND),
    },
  });
}

const stuck = (ranks: number, but: readonly number[], sinceS = 18): Flight[] => Array.from({ length: ranks }, (_, rank) => ({ rank, sinceS })).filter(({ rank }) => !but.includes(rank));
const sentence = (state: RunState): string => quietSentence(quietSpell(state)!).replace(/\u2009/g, " ");

describe("a quiet spell", () => {
  it("names the function, and who is in none; what that means is asked", () => {
    const state = run(64, 18, stuck(64, [17]));
    expect(sentence(state)).toBe("No call began for 12 s, since 0:00:18.0, polls apart: 63 of 64 ranks are in MPI_Barrier, the first for 12 s; rank 17 is in no MPI call: do the others wait for it?");
    expect(suspicion(state)).toBe("The job may hang: no call began for 12 s, and 63 of 64 ranks are inside one.");
  });

  it("asks whether all wait for each other where all are inside", () => {
    const state = run(4, 18, [...stuck(4, [0, 3]), { rank: 0, function: WAIT, sinceS: 10 }, { rank: 3, function: WAIT, sinceS: 12 }]);
    expect(sentence(state)).toBe("No call began for 12 s, since 0:00:18.0, polls apart: 2 of 4 ranks are in MPI_Waitall, the first for 20 s; 2 in MPI_Barrier, the first for 12 s. All are in MPI: do they wait for each other?");
  });

  it("does not suspect a rank that waits for many who compute", () => {
    const state = run(8, 18, [{ rank: 0, sinceS: 10 }]);
    expect(sentence(state)).toMatch(/1 of 8 ranks is in MPI_Barrier, for 20 s; ranks 1\u20137 are in no MPI call\.$/);
    expect([isQuiet(quietSpell(state)!), isSuspect(quietSpell(state)!), suspicion(state)]).toEqual([true, false, ""]);
    expect(sentence(run(8, 18, []))).toBe("No call began for 12 s, since 0:00:18.0, polls apart: all 8 ranks are in no MPI call.");
  });

  it("is nothing while calls go on, but for the longest of them", () => {
    expect(sentence(run(4, 30, stuck(4, [1])))).toBe("Calls go on; the longest in flight is MPI_Barrier of rank 0, for 12 s.");
    expect(sentence(run(4, 30, stuck(4, [], 29.9)))).toBe("Calls go on, and none is in flight for a second.");
    expect(quietSpell(run(4, 30, stuck(4, [], 10)))?.longest.map(({ rank }) => rank)).toEqual([0, 1, 2, 3]);
    expect(suspicion(run(4, 27, stuck(4, [])))).toBe("");
  });

  it("takes a rank to be where the last of its threads went", () => {
    const spell = quietSpell(run(2, 10, [{ rank: 0, function: WAIT, sinceS: 1 }, { rank: 0, thread: 1, sinceS: 12 }, { rank: 1, sinceS: 11 }]))!;
    expect(spell.groups).toEqual([{ name: "MPI_Barrier", ranks: [0, 1], sinceNs: 11 * SECOND }]);
    expect(quietNs(spell)).toBe(18 * SECOND);
  });

  it("leaves out ranks that are no more or not heard of, and says when a list is cut", () => {
    const spell = quietSpell(run(4, 10, stuck(4, [1]), { states: [0, 1, 4, 0] }))!;
    expect([spell.ranks, spell.outside, spell.groups[0]?.ranks]).toEqual([2, [], [0, 3]]);
    const cut = run(4, 10, stuck(4, [1, 2]), { total: 9 });
    expect(sentence(cut)).toContain("Not all calls in flight are listed");
    expect(quietSpell(cut)?.outside).toEqual([]);
  });

  it("goes by the time until which calls are complete", () => {
    expect(quietNs(quietSpell(run(4, 18, stuck(4, []), { lagS: 4 }))!)).toBe(8 * SECOND);
  });

  it("is nothing of a job that is over, or that nothing was said of", () => {
    const state = run(4, 10, stuck(4, []));
    expect(quietSpell({ ...state, job: { ...state.job, state: "ended" } })).toBeNull();
    expect(quietSpell({ ...state, inFlight: null })).toBeNull();
  });
});

describe("stretches in which the job hung", () => {
  const stretch = (kind: Hang["kind"], untilNs: number | null): Hang => ({ kind, sinceNs: 10 * SECOND, untilNs, sentences: [{ text: "Rank 0 waits for rank 1.", ranks: [0, 1] }] });
  const hung = (state: RunState, newest: readonly Hang[], endedIn = 0): RunState =>
    ({ ...state, hangs: { count: newest.length + 2, newest, endedIn: [], endedInCount: endedIn } });
  const moving = run(4, 30, stuck(4, [1]));
  const ended: RunState = { ...moving, job: { ...moving.job, state: "ended" }, inFlight: null };

  it("goes on while nothing moved again and the job runs", () => {
    const state = hung(moving, [stretch("deadlock", null)]);
    expect(stretchNow(state)?.sentences[0]?.ranks).toEqual([0, 1]);
    expect(stretchBefore(state)).toBeNull();
    expect(suspicion(state)).toBe("The job hangs: ranks wait for each other.");
    expect(suspicion(hung(moving, [stretch("gone", null)]))).toBe("The job hangs: ranks wait for a process that is gone.");
    expect(suspicion(hung(moving, [stretch("waits", null)]))).toBe("");
  });

  it("is in the past when it moved again, or when the job ended", () => {
    const over = hung(moving, [stretch("waits", 14.5 * SECOND)]);
    expect(stretchNow(over)).toBeNull();
    expect(stretchBefore(over)?.sentence.replace(/\u2009/g, " ")).toBe("The job hung from 0:00:10.0 on, for 4.50 s, the last of 3 times.");
    expect(stretchBefore(hung(ended, [stretch("deadlock", null)]))?.sentence).toMatch(/^The job hung from 0:00:10.0 on, to the end/);
    expect(stretchBefore({ ...moving, hangs: { count: 0, newest: [], endedIn: [], endedInCount: 0 } })).toBeNull();
  });

  it("says what ranks ended in", () => {
    expect(endedWords(hung(ended, [], 2))).toBe("When their processes ended, ranks were in 2 calls that had not returned.");
    expect(endedWords(ended)).toBe("");
    const call = { rank: 0, thread: 0, call: "MPI_Recv from rank 1, tag 7", place: "a.c:3 main()", sinceNs: 0 };
    expect([endedCallWords(call), endedCallWords({ ...call, place: "" })]).toEqual(["MPI_Recv from rank 1, tag 7 at a.c:3 main()", "MPI_Recv from rank 1, tag 7"]);
  });
});
