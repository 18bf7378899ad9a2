import { describe, expect, it } from "vitest";
import { emptyRun, type NodeRow, type RunState } from "../state/run";
import { axisCount, bytes, clock, count, duration, roundDuration, share, short } from "./index";
import { clockAgreement, cpuSentence, mostCrowded, cpuWaitOf, nodeName, nodeOrder, rankRanges, silence, whereRanksRun } from "./hosts";
import { keptPicture } from "./link";
import { jobStatus } from "./job-status";
import { parseTime, rate, rateMeaning, span } from "./time";

describe("numbers", () => {
  it("have three digits, a unit, thin spaces", () => {
    expect([duration(0), duration(999), duration(1000), duration(12_345), duration(999_600), duration(8.1e9), duration(4e12)]).toEqual(["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1.00 ms", "8.10 s", "4\u2009000 s"]);
    expect([roundDuration(5e6), roundDuration(1.5e6), roundDuration(1e9), roundDuration(100)]).toEqual(["5 ms", "1.5 ms", "1 s", "100 ns"]);
    expect(count(1_234_567)).toBe("1\u2009234\u2009567");
    expect([bytes(1023), bytes(8192), bytes(5.5 * 2 ** 30)]).toEqual(["1\u2009023 B", "8.00 KiB", "5.50 GiB"]);
    expect([short(999), short(240_400), axisCount(150_000), axisCount(0)]).toEqual(["999", "240 k", "150 k", "0"]);
    expect([share(0, 5), share(1, 1e6), share(1, 3), share(1, 0)]).toEqual(["0\u2009%", "<\u20090.1\u2009%", "33.3\u2009%", ""]);
  });

  it("say times of the run", () => {
    expect([clock(0), clock(3_723_456_789_012), clock(1.9999e9), clock(5e9, 0), clock(1_234_567, 6)]).toEqual(["0:00:00.000", "1:02:03.456", "0:00:01.999", "0:00:05", "0:00:00.001234"]);
    expect([rate(1), rate(0.05), rateMeaning(0.001), rateMeaning(100)]).toEqual(["x1", "x0.05", "1 ms of the run per second", "100 s of the run per second"]);
    expect([span(1.5e9), span(12e9), span(150e9), span(7.5e12)]).toEqual(["1.50 s", "12 s", "2 min 30 s", "2 h 5 min"]);
  });

  it("understand typed times", () => {
    expect([parseTime("0:01:23.456"), parseTime("83.456"), parseTime("1:23"), parseTime(" 250 ms"), parseTime("3.5us"), parseTime("2 min")]).toEqual([83.456e9, 83.456e9, 83e9, 250e6, 3500, 120e9]);
    expect([parseTime("soon"), parseTime(""), parseTime("1:x"), parseTime("-5"), parseTime("1:2:3:4")]).toEqual([null, null, null, null, null]);
    expect(parseTime(clock(3_723_456_000_000))).toBe(3_723_456_000_000);
  });
});

describe("job status", () => {
  const open = { phase: "open", retryInSeconds: 0, reason: "" } as const;
  const run = (job: Partial<RunState["job"]>, rest: Partial<RunState> = {}): RunState => {
    const empty = emptyRun();
    return { ...empty, number: 1, clock: { nowNs: 60e9, lagNs: 5e7 }, ...rest, job: { ...empty.job, state: "running", ...job } };
  };

  it("of the last live picture says when nothing else can be asked for", () => {
    expect(keptPicture(open)).toBe("");
    for (const phase of ["lost", "connecting", "refused"] as const) expect(keptPicture({ ...open, phase })).toBe("The connection to mpiscope is gone: this is the last live picture.");
  });

  it("is quiet when all is well, and says what is not", () => {
    expect(jobStatus(run({}), open, 0)).toEqual({ word: "live", mood: "good", sentence: "" });
    expect(jobStatus(run({}), open, 4000).sentence).toMatch(/No news for 4 s/);
    expect(jobStatus(run({}, { clock: { nowNs: 2e9, lagNs: 0 } }), open, 0).sentence).toMatch(/First seconds/);
    expect(jobStatus(run({}, { clock: { nowNs: 60e9, lagNs: 5e9 } }), open, 0)).toMatchObject({ word: "lagging", mood: "warn" });
    expect(jobStatus(run({}, { losses: { ringFull: 3, noRing: 0, unreadable: 0, unsaved: 0 } }), open, 0).sentence).toMatch(/3 calls were made and not recorded/);
  });

  it("tells the ends apart", () => {
    expect(jobStatus(run({ state: "ended", exit: 0 }), open, 0)).toMatchObject({ word: "ended well", mood: "good" });
    expect(jobStatus(run({ state: "ended", exit: 3 }), open, 0).sentence).toMatch(/badly .* exit status 3/);
    expect(jobStatus(run({ state: "killed", exit: 137 }), open, 0).sentence).toMatch(/signal 9/);
    expect(jobStatus(run({ state: "ended", exit: 0, source: "replay" }), open, 0)).toEqual({ word: "replay", mood: "", sentence: "" });
    expect(jobStatus(run({ state: "killed", exit: 137, source: "replay" }), open, 0).sentence).toBe("The job was killed by signal 9.");
  });

  it("tells broken connections apart", () => {
    expect(jobStatus(emptyRun(), { phase: "connecting", retryInSeconds: 0, reason: "" }, 0).word).toBe("connecting");
    expect(jobStatus(run({}), { phase: "lost", retryInSeconds: 4, reason: "" }, 0).sentence).toMatch(/Trying again in 4 s/);
    expect(jobStatus(run({}), { phase: "refused", retryInSeconds: 0, reason: "" }, 0).mood).toBe("bad");
    expect(jobStatus(run({}), { phase: "outdated", retryInSeconds: 0, reason: "" }, 0).word).toBe("page too old");
    expect(jobStatus(run({}), { phase: "lost", retryInSeconds: 2, reason: "A column is short." }, 0).sentence).toMatch(/A column is short/);
    const gone = jobStatus(run({ run: "sim.scope", state: "ended", exit: 0 }), { phase: "lost", retryInSeconds: 0, reason: "" }, 0);
    expect(gone.word).toBe("ended well");
    expect(gone.sentence).toMatch(/mpiscope replay sim\.scope/);
  });
});

describe("hosts", () => {
  const node = (number: number, name: string, clockUncertaintyNs: number, isSilent = false): NodeRow => ({ node: number, name, clockUncertaintyNs, isSilent, cpus: null });
  /** Four ranks on each host; the ranks of silent ones are silent. */
  const run = (...rows: NodeRow[]): RunState => {
    const empty = emptyRun();
    const ranks = { ...empty.ranks, length: 4 * rows.length, count: 4 * rows.length };
    for (let rank = 0; rank < ranks.length; rank++) {
      const host = rows[Math.floor(rank / 4)];
      ranks.node[rank] = host?.node ?? 0;
      ranks.state[rank] = host?.isSilent ? 4 : 0;
    }
    return { ...empty, ranks, nodes: new Map(rows.map((row) => [row.node, row])) };
  };

  it("have names, in the order of people", () => {
    const three = run(node(0, "node10", 0), node(1, "node2", 5), node(2, "alpha", 5));
    expect([nodeName(three, 1), nodeName(three, 7)]).toEqual(["node2", "node 7"]);
    expect([0, 1, 2].map((number) => nodeOrder(three).get(number))).toEqual([2, 1, 0]);
  });

  it("are silent with their ranks, and heard of without a word", () => {
    expect([rankRanges([7]), rankRanges([8, 9, 10, 11, 14]), rankRanges([0, 2, 4, 6, 8, 10, 12, 14, 15])]).toEqual(["rank 7", "ranks 8\u201311, 14", "ranks 0, 2, 4, 6, 8, 10 and 3 more"]);
    expect(silence(run(node(0, "a", 0), node(1, "b", 0)))).toBe("");
    expect(silence(run(node(0, "a", 0), node(1, "b", 0, true)))).toBe("b silent: ranks 4\u20137. What its ranks do is shown once it is heard of again.");
    expect(silence(run(node(0, "a", 0, true), node(1, "b", 0), node(2, "c", 0, true)))).toMatch(/^a silent: ranks 0\u20133; c silent: ranks 8\u201311\. What their ranks do/);
    const many = run(...[0, 1, 2, 3, 4].map((number) => node(number, `n${number}`, 0, number > 0)));
    expect(silence(many)).toMatch(/^4 nodes silent: ranks 4\u201319\./);
    const ended = run(node(0, "a", 0, true));
    expect(silence({ ...ended, job: { ...ended.job, state: "ended" } })).toBe("a silent: ranks 0\u20133. Nothing was heard of it any more when the job ended: further calls of its ranks are neither recorded nor counted as lost.");
  });

  it("say where ranks run, and where more of them are than CPUs", () => {
    const on = (number: number, ranks: number, usable: number, onHost = usable, isBound = false): NodeRow => ({ ...node(number, `n${number}`, 0), cpus: { ranks, onHost, usable, isBound } });
    const of = (...nodes: NodeRow[]): RunState => { const state = run(...nodes); return { ...state, job: { ...state.job, nodes: nodes.length } }; };
    expect(whereRanksRun(of())).toBe("");
    expect(whereRanksRun(of(node(0, "n0", 0)))).toBe("on 1 node");
    expect(whereRanksRun(of(on(0, 2, 2), node(1, "n1", 0)))).toBe("on 2 nodes");
    expect(whereRanksRun(of(on(0, 2, 1)))).toBe("on 1 node, 1 CPU");
    expect(whereRanksRun(of(on(0, 2, 4), on(1, 2, 4)))).toBe("on 2 nodes, 4 CPUs each");
    expect(whereRanksRun(of(on(0, 2, 1.5), on(1, 2, 4)))).toBe("on 2 nodes, 1.5 to 4 CPUs each");
    expect(mostCrowded(of(on(0, 2, 2), on(1, 8, 2), on(2, 3, 2)))?.name).toBe("n1");
    expect(mostCrowded(of(on(0, 2, 2), node(1, "n1", 0)))).toBeNull();
    expect(cpuSentence({ ranks: 16, onHost: 8, usable: 2, isBound: false })).toBe("16 ranks may use 2 CPUs of 8; ranks are not bound to single CPUs, and 8 ranks share a CPU.");
    expect(cpuSentence({ ranks: 2, onHost: 2, usable: 2, isBound: true })).toBe("2 ranks may use 2 CPUs; each rank is bound to a part of them.");
  });

  it("have clocks that agree, and ranks that wait for a CPU", () => {
    const three = run(node(0, "a", 0), node(1, "b", 20_000), node(2, "c", Infinity));
    expect([0, 1, 2].map((number) => clockAgreement(three, number))).toEqual(["the run\u2019s own", "\u00b1 20.0 µs", "not compared yet"]);
    expect(cpuWaitOf(three, 0)).toEqual({ part: 0, words: "\u2013", waited: "not known", switches: "" });
    three.ranks.runNs[0] = 3e9;
    three.ranks.waitNs[0] = 1e9;
    three.ranks.involuntary[0] = 70;
    expect(cpuWaitOf(three, 0)).toEqual({ part: 0.25, words: "25.0\u2009%", waited: "1.00 s of the time it could run", switches: "its core went to others 70 times" });
  });
});
