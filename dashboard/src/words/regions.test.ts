import { describe, expect, it } from "vitest";
import { ringPairs, rows } from "../panels/where/made-up";
import { emptyRun, type RunState } from "../state/run";
import { cellTold, latencyMeaning, nothingYet, partnersOf, rangesShort, ranksWords, regionsLine, sameTarget, tell, whyNoLatency } from "./regions";

const run: RunState = { ...emptyRun(), regions: rows(3, 4), pairs: ringPairs(3, 4) };
const rowsOf = (...of: Parameters<typeof tell>) => Object.fromEntries((tell(...of)?.rows ?? []).map(([name, value, note]) => [name, `${value}|${note}`]));

describe("regions in words", () => {
  it("have the names of their ranks", () => {
    expect([rangesShort([[0, 15]]), rangesShort([[7, 7]]), rangesShort([[0, 1], [4, 4]]), rangesShort([[0, 0], [2, 2], [4, 9]])]).toEqual(["0\u201315", "7", "0\u20131, 4", "0, 2, \u2026 (8 ranks)"]);
    expect([ranksWords([[3, 3]]), ranksWords([[0, 1]])]).toEqual(["rank 3", "ranks 0\u20131"]);
  });

  it("say what is known, and what is not", () => {
    expect(tell({ kind: "region", id: 1 }, run)?.title).toBe("Region of ranks 4\u20137");
    expect(rowsOf({ kind: "region", id: 1 }, run)).toMatchObject({ "Latency L": "1.50|mean of the exact messages inside, 50.0\u2009% of all", Delayed: "20.0\u2009%|10 messages, of the exact ones: they took longer than 95 % of such messages in quiet windows" });
    expect(rowsOf({ kind: "region", id: 0 }, run)).toMatchObject({ Delayed: "not known|" });
    expect(rowsOf({ kind: "region", id: 0 }, run)["Latency L"]).toMatch(/^not known\|no message/);
    const [first] = run.regions?.regions ?? [];
    const why = first && [{ messages: 0 }, { messages: 9 }].map((change) => whyNoLatency({ ...first, ...change }));
    expect(why).toEqual(["no messages inside", latencyMeaning(null)]);
    expect(tell({ kind: "region", id: 99 }, run)).toBeNull();
    expect([latencyMeaning(0.5), latencyMeaning(1), latencyMeaning(3)].map((words) => words.slice(0, 20))).toEqual(["messages are faster ", "as expected for the ", "messages take 3.00 t"]);
  });

  it("tell ranks, pairs, regions and cells", () => {
    expect(rowsOf({ kind: "rank", rank: 0 }, run)).toMatchObject({ Node: "not heard yet|", Region: "0\u20133|", "Talks to": "4 ranks|most with 1, 3, 4" });
    expect(rowsOf({ kind: "pair", src: 0, dst: 4 }, run)).toMatchObject({ "0 to 4": "1 message|100 B, L 1.00", "4 to 0": "nothing|" });
    expect(rowsOf({ kind: "between", a: 1, b: 0 }, run)).toMatchObject({ Messages: "5|both ways" });
    expect(partnersOf(ringPairs(3, 4), 0)[0]).toMatchObject({ rank: 1, messages: 20, bytes: 2000, known: 10 });
    expect(cellTold([0, 1], [0, 1], ringPairs(3, 4))).toMatchObject({ title: "Ranks 0\u20131 to ranks 0\u20131", rows: [["Messages", "20", "2 pairs of 4"], ["Bytes", "1.95 KiB", ""], ["Latency L", "1.00", expect.stringMatching(/^mean of the exact messages, 50\.0.% of all$/)]] });
    expect(cellTold([0], [9, 10], ringPairs(3, 4)).rows).toEqual([["Messages", "none", ""]]);
    expect([sameTarget({ kind: "between", a: 1, b: 2 }, { kind: "between", a: 2, b: 1 }), sameTarget({ kind: "rank", rank: 1 }, null), sameTarget(null, null)]).toEqual([true, false, true]);
  });

  it("say of what they are and what is left out", () => {
    const line = regionsLine({ ...rows(3, 4), count: 5, withCollectives: true }, { ...ringPairs(3, 4), leftOut: 2 }, { links: 10_000, leftOut: 5 });
    expect(line).toMatch(/^5 regions of ranks .* each other\. The first 3 .* shown\. Collectives count as traffic\. The 10\u2009000 links .* 5 are not\. 2 messages/);
    expect(regionsLine(rows(1, 4), null, null)).toMatch(/^All ranks are one region.*No latency is known yet/);
    const quiet = rows(3, 4);
    const inside = { ...quiet, regions: quiet.regions.map((region) => ({ ...region, latency: null })) };
    expect(inside.between.some(({ latency }) => latency !== null)).toBe(true);
    expect(regionsLine(inside, null, null)).toMatch(/Inside regions no latency is known: /);
    expect([nothingYet(emptyRun(), false).title, nothingYet(emptyRun(), true).title, nothingYet(run, false).title]).toEqual(["Who talks to whom is not known yet", "Who talks to whom is not known", "No region"]);
  });
});
