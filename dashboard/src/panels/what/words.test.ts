import { describe, expect, it } from "vitest";
import { NO_HOST } from "../../palette/hosts";
import { emptyRun } from "../../state/run";
import { graphOf } from "./graph";
import { madeDag } from "./made-dag";
import { emptyWords, graphWords, nodeRows, nodeSentence, rankWords } from "./words";

const scope = { rangeNs: [0, 100] as const, ranks: null, isSelected: false };

describe("a graph in words", () => {
  it("says of what it is", () => {
    const dag = madeDag([{ rank: 0, layer: 0 }], [], [], { messages: 1, open: 1 });
    expect(graphWords({ dag, scope })).toMatchObject({ facts: "Last second; all ranks; 1 message (1 with one end outside) between 1 state", missing: "" });
  });

  it("says what is left out and what to do", () => {
    const dag = madeDag([{ rank: 0, layer: 0 }], [], [], { untilNs: 40, leftOut: 1234, contradicted: 2, hasCriteria: false });
    const { facts, missing } = graphWords({ dag, scope: { ...scope, isSelected: true } });
    expect(facts).toContain("Selected range, its beginning");
    expect(missing).toContain("1\u2009234 messages of the range are not shown: select a shorter range or fewer ranks.");
    expect(missing).toContain("2 messages have no link");
    expect(missing).toContain("no bar has a latency");
  });

  it("says why it is empty", () => {
    const { title, advice } = emptyWords({ dag: madeDag([]), scope: { ...scope, ranks: [[3, 3]] } });
    expect(title).toContain("on rank 3");
    expect(advice).toContain("or show all ranks");
  });

  it("names ranks as people do", () => {
    expect(rankWords([[0, 3], [7, 7]])).toBe("ranks 0\u20133, 7");
    expect(rankWords([[7, 7]])).toBe("rank 7");
  });
});

describe("a state in words", () => {
  const bars = Array.from({ length: 30 }, (_, at) => ({ node: 0, isSent: true, other: 1, tMsgNs: at + 1, bytes: 2048, latency: 3, isExact: at !== 29 }));
  const graph = graphOf(madeDag([{ rank: 3, layer: 0, sent: 35, received: 1, host: NO_HOST }, { rank: 1, layer: 1 }], [[0, 1]], bars));
  const rows = Object.fromEntries(nodeRows(graph, 0, emptyRun()).map(({ name, words, note }) => [name, { words, note }]));

  it("has its numbers with what they mean", () => {
    expect(rows["Imbalance"]?.words).toBe("LB 3.00");
    expect(rows["Imbalance"]?.note).toContain("30 messages of its rank, 20.0 on average; flatness 0.50");
    expect(rows["Node"]?.words).toBe("not known");
  });

  it("says which messages have no bar of their own", () => {
    expect(rows["Sent"]).toEqual({ words: "35 messages", note: "7 in one bar, 5 without a bar" });
    expect(rows["Received"]?.note).toBe("1 without a bar");
  });

  it("says the slowest message, and that its time is an upper bound", () => {
    expect(rows["Slowest"]).toEqual({ words: "at most 30 ns", note: "to rank 1, 2.00 KiB" });
    expect(rows["Its latency"]?.words).toBe("at most 3.00");
    expect(rows["Its latency"]?.note).toContain("upper bound");
    const exact = graphOf(madeDag([{ rank: 3, layer: 0 }], [], [{ node: 0, isSent: true, other: 1, latency: 3 }]));
    expect(nodeRows(exact, 0, emptyRun()).at(-1)?.words).toBe("3.00, delayed");
  });

  it("is one sentence for whoever hears it", () => {
    expect(nodeSentence(graph, 0, 1)).toBe("Rank 3, step 1 of 2: 1 received, 35 sent, folded: 1 state that follows is hidden.");
  });
});
