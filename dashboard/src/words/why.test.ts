import { describe, expect, it } from "vitest";
import type { Criteria, Criterion } from "../feed/criteria";
import type { By, Efficiency, Parts, Wait } from "../feed/found";
import { madeCourses, noCourses } from "../panels/why/made-courses";
import { apartWords, budgetLead, budgetSentence, efficiencyLead, signedPart, waitingSentence } from "./budget";
import { backgroundSentence, courseNotes, furthest, mappingSentence, meanUneven, patternSentence, sizeWords, spread, totals } from "./courses";
import { binWords, criteriaSentence, statusWords } from "./criteria";
import { budgetRows, waitingRows } from "./found";
import { sentenceOf } from "./index";
import { changeWords, commandOf } from "./placement";
import { longestAt, ranksAt, siteKey, siteName, waitsAt } from "./sites";

const plain = (text: string): string => text.replace(/[\u00a0\u202f\u2009]/g, " ").replaceAll("\u2019", "'");
const NOTHING: By = { compute: 0, base: 0, distance: 0, excess: 0, operation: 0, other: 0, unknown: 0, cpuWait: 0 };

describe("the budget in sentences", () => {
  const budget: Parts = {
    waitingS: 70.2, baseS: 1, distanceS: 20, excessS: 3, operationS: 0, otherS: 5, unknownS: 0, totalS: 99.2, excessInsideS: 0, cpuWaitS: 0,
    waitingBy: { ...NOTHING, compute: 64, cpuWait: 3, distance: 9.2, base: -3 },
  };
  const say = (change: Partial<Parts> = {}): Record<string, string> => {
    const parts = { ...budget, ...change };
    return Object.fromEntries(budgetRows(parts).map((row) => [row.part, plain(budgetSentence(row, parts, 320))]));
  };

  it("says what of the ranks' time each part was, and what is known beyond that", () => {
    expect(plain(budgetLead(budget, 320))).toBe("MPI took 99.2 s of the ranks' 320 s, 31.0 %.");
    expect(say()["waiting"]).toBe("21.9 % of the ranks' time; of it 61.0 s while those who were waited for computed longer.");
    expect(say()["distance"]).toMatch(/are expected to take longer than within\. With what others waited for it, [\d.]+ s\.$/);
    expect(say()["excess"]).toMatch(/^0\.9 % of the ranks. time: what messages took beyond their expected time\./);
    expect(say({ excessInsideS: 2, cpuWaitS: 0 })["excess"]).toMatch(/time\. 2\.00 s of it within nodes\.$/);
    expect(say({ excessInsideS: 2, cpuWaitS: 0, waitingBy: { ...budget.waitingBy, excess: 4 } })["excess"]).toMatch(/waited for it, 7\.00 s, 2\.00 s of it within nodes\.$/);
    expect(say({ otherS: 5, cpuWaitS: 4 })).toMatchObject({ cpuWait: expect.stringMatching(/^1\.\d+ % of the ranks' time: ranks could run/), other: expect.stringMatching(/^0\.\d+ %/) });
    // What cannot be is not said.
    expect(say({ waitingBy: { ...budget.waitingBy, compute: 200 } })["waiting"]).toBe("21.9 % of the ranks' time, most of it while those who were waited for computed longer.");
    expect(say({ excessInsideS: 2, cpuWaitS: 0, waitingBy: { ...budget.waitingBy, excess: -4 } })["excess"]).not.toMatch(/within nodes/);
    expect(say({ excessInsideS: 1e6 })["excess"]).not.toMatch(/within nodes/);
    expect(say({ distanceS: 0 })["distance"]).toMatch(/^None is known of/);
    expect(say()["operation"]).toBe("There were no collectives that took time of their own.");
  });

  it("says so when threads take more than the ranks have", () => {
    expect(plain(budgetLead({ ...budget, totalS: 400 }, 320))).toBe("MPI took 400 s of the ranks' 320 s, 125.0 %. Several threads of a rank count each.");
  });

  it("never says what is not a number", () => {
    const nothing: Parts = { waitingS: 0, baseS: 0, distanceS: 0, excessS: 0, operationS: 0, otherS: 0, unknownS: 0, totalS: 0, excessInsideS: 0, cpuWaitS: 0, waitingBy: NOTHING };
    for (const parts of [nothing, budget]) {
      for (const ranksS of [0, 320]) {
        const all = [budgetLead(parts, ranksS), ...budgetRows(parts).map((row) => budgetSentence(row, parts, ranksS)), ...waitingRows(parts.waitingBy).map((row) => waitingSentence(row, parts.waitingS, ranksS))];
        expect(all.join(" ")).not.toMatch(/NaN|Infinity|undefined/);
      }
    }
  });

  it("says why rows above nothing are more than the whole", () => {
    const rows = waitingRows({ ...NOTHING, compute: 80, distance: -10 });
    expect(plain(apartWords(rows, 70))).toBe("The bar is 80.0 s, 114.3 %: less the negative rows below it, \u221210.0 s, it is the waiting, 70.0 s.");
    expect([signedPart(-10 / 70), signedPart(1)].map(plain)).toEqual(["\u221214.3 %", "100.0 %"]);
    expect(apartWords(waitingRows({ ...NOTHING, compute: 70 }), 70)).toBe("");
  });

  it("says what was waited for", () => {
    const [computing] = waitingRows(budget.waitingBy);
    expect(computing && plain(waitingSentence(computing, 70.2, 320))).toBe("86.9 % of the waiting, 19.1 % of the ranks' time: work outside MPI of those who were waited for, or of whoever they waited for themselves.");
  });
});

describe("efficiency", () => {
  const of = (loadBalance: number, serialization: number, transfer: number): Efficiency => ({ parallel: loadBalance * serialization * transfer, loadBalance, communication: serialization * transfer, serialization, transfer });

  it("names the least factor and what it costs", () => {
    expect(plain(efficiencyLead(of(0.68, 0.91, 0.95)))).toBe("Each factor is 100 % at best. The least is load balance, 68.0 %: with that at 100 % and the others as they are, parallel efficiency would be 86.4 % instead of 58.8 %.");
    expect(plain(efficiencyLead(of(0.999, 0.998, 0.999)))).toMatch(/all of these nearly are/);
    expect(efficiencyLead(of(0, 0, 0))).not.toMatch(/NaN|Infinity/);
  });
});

describe("the three views in sentences", () => {
  it("say what goes between nodes", () => {
    expect(totals(madeCourses())).toEqual({ inter: 62, intra: 38, interBytes: 6200, intraBytes: 1800 });
    expect(plain(mappingSentence(madeCourses()))).toBe("62.0 % of the messages and 77.5 % of their bytes go between nodes: 62 of 100, 6.05 KiB of 7.81 KiB.");
    expect(plain(mappingSentence(madeCourses({ inter: new Float64Array(3) })))).toBe("All 38 messages stay within nodes.");
    expect(plain(mappingSentence(madeCourses({ interBytes: new Float64Array(3), intraBytes: new Float64Array(3) })))).toBe("62.0 % of the messages go between nodes: 62 of 100.");
  });

  it("name the rank that was furthest from the mean, and by how much", () => {
    expect(furthest(madeCourses())).toEqual({ window: 2, rank: 7, load: 4, uneven: 0.5 });
    expect(meanUneven(madeCourses())).toBeCloseTo(0.3, 12);
    const { before, rank, after } = patternSentence(madeCourses());
    expect(plain(`${before}[${rank}]${after}`)).toBe("In windows of 1.00 s a rank is on average 30.0 % away from the mean number of messages sent and received. Furthest was [7] at 0:00:12: 4.00 times as far from the mean as ranks are on average, by 2.00 times the mean.");
    const even = madeCourses({ uneven: Float64Array.of(0, Number.NaN, 0), greatestLoad: Float64Array.of(0, Number.NaN, 0) });
    expect(patternSentence(even)).toMatchObject({ rank: null, after: "" });
    expect(patternSentence(even).before).toMatch(/equally many/);
  });

  it("say which size varied most, and which least", () => {
    expect(spread(madeCourses(), 0)).toEqual({ least: 0.8, most: 3.2, mostAt: 2, windows: 2 });
    expect(plain(backgroundSentence(madeCourses()))).toBe("Messages of 1 KiB to 2 KiB took up to 3.20 times their mean, at 0:00:12; the calmest, of 8 B to 16 B, 0.95 to 1.05 times.");
    expect(plain(backgroundSentence(madeCourses({ calmest: 0 })))).toBe("Messages of 1 KiB to 2 KiB took up to 3.20 times their mean, at 0:00:12.");
    expect(backgroundSentence(madeCourses({ sizes: [], slow: new Float64Array(0), calmest: null }))).toMatch(/no size/);
  });

  it("say that there is nothing where there is nothing", () => {
    const none = noCourses();
    expect([mappingSentence(none), patternSentence(none).before, backgroundSentence(none)]).toEqual(Array.from({ length: 3 }, () => "No message arrived in it."));
  });

  it("say what is left out, and which messages sizes belong to", () => {
    expect(plain(courseNotes(madeCourses({ leftOut: 3 })))).toBe("3 messages are not in these figures, of 103.");
    expect(courseNotes(madeCourses({ sizes: [{ fromBytes: 1, toBytes: 2, messages: 1, isInter: false }] }))).toMatch(/^There are no messages between nodes/);
    expect([courseNotes(madeCourses()), courseNotes(noCourses())]).toEqual(["", ""]);
    expect([sizeWords({ fromBytes: 8, toBytes: 9 }), sizeWords({ fromBytes: 1536, toBytes: 4096 })].map(plain)).toEqual(["8 B", "1.5 KiB to 4 KiB"]);
  });
});

describe("criteria in sentences", () => {
  const bin = (fromBytes: number, medianNs: number, samples = 100): Criterion => ({ fromBytes, toBytes: fromBytes + 50, samples, medianNs, normalNs: null });
  const made = (change: Partial<Criteria> = {}): Criteria => ({ version: 4, isFinal: false, inter: [bin(0, 2000), bin(50, 2400)], intra: [bin(0, 500)], collectives: [], ...change });

  it("say what is expected, between nodes and within", () => {
    expect(plain(criteriaSentence(made()))).toBe("Messages between nodes are expected to take 2.00 µs (0 B to 50 B) to 2.40 µs (50 B to 100 B), by 200 exact messages. Messages within nodes are expected to take 500 ns (0 B to 50 B), by 100 exact messages. For the same size, between nodes takes 4.00 times as long as within (the median of 1 size).");
  });

  it("say what is not known", () => {
    expect(criteriaSentence(made({ intra: [] }))).toMatch(/The expected transfer time of messages within nodes is not known: no exact message of theirs was seen\.$/);
    expect(criteriaSentence(made({ inter: [], intra: [] })).match(/not known/g)).toHaveLength(2);
    expect([statusWords(made()), statusWords(made({ isFinal: true })), statusWords(made({ version: 0 }))]).toEqual(["version 4, still being learned", "final: learned from the whole run", "nothing learned yet"]);
  });

  it("say of one size how sure it is", () => {
    expect(plain(binWords({ ...bin(0, 2000), scope: "inter" }, 30))).toBe("between nodes, 0 B to 50 B: median 2.00 µs of 100 samples");
    expect(plain(binWords({ ...bin(0, 2000, 1), scope: "intra" }, 30))).toMatch(/of 1 sample, too few to stand alone/);
  });
});

describe("call sites", () => {
  const wait = (site: number | null, waiter: number, awaited: number, seconds: number, longestS: number): Wait => ({ state: "late sender", function: "MPI_Recv", site, place: "", waiter, awaited, times: 1, seconds, longestS, longestAtS: 1 });
  const waits = [wait(1, 4, 0, 5, 0.1), wait(2, 9, 8, 9, 1), wait(1, 3, 0, 7, 0.05), wait(null, 6, 5, 1, 1)];

  it("have names, and keys of their own", () => {
    expect([siteName({ site: 3, place: "main.c:4 f()" }), siteName({ site: 3, place: "" }), siteName({ site: null, place: "" })]).toEqual(["main.c:4 f()", "call site 3, without a name", "not known where"]);
    expect(new Set([siteKey({ site: 0, place: "a" }), siteKey({ site: 1, place: "a" }), siteKey({ site: null, place: "a" })]).size).toBe(3);
  });

  it("lead to the waits that were there", () => {
    expect(waitsAt(waits, 1).map(({ waiter }) => waiter)).toEqual([3, 4]);
    expect([longestAt(waits, 1)?.waiter, longestAt(waits, null)?.waiter, longestAt(waits, 7)]).toEqual([4, 6, null]);
    expect(ranksAt(waits, 1)).toEqual([0, 3, 4]);
  });
});

describe("a placement in words", () => {
  it("says what changes, and nothing of what there was nothing of", () => {
    expect([changeWords(100, 38), changeWords(100, 100), changeWords(0, 0), changeWords(0, 5), changeWords(10, 15)].map(plain)).toEqual(["62.0 % less", "as now", "as now", "more", "50.0 % more"]);
    expect(commandOf("mpirun --rankfile F -n 4 PROGRAM   with the same hosts as now")).toEqual({ line: "mpirun --rankfile F -n 4 PROGRAM", note: "with the same hosts as now" });
    expect(commandOf("srun PROGRAM")).toEqual({ line: "srun PROGRAM", note: "" });
    expect([sentenceOf("there is one node"), sentenceOf("It is so.")]).toEqual(["There is one node.", "It is so."]);
  });
});
