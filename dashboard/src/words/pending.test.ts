import { describe, expect, it } from "vitest";
import { madePending, single } from "../panels/pending/made-pending";
import { emptyRun, type RunState } from "../state/run";
import { edgeLabel, edgeTitle, emptyAdvice, groupLabel, groupWords, pendingWords } from "./pending";

function run(unmatchedSends = 0): RunState {
  const empty = emptyRun();
  const nodes = new Map(Array.from({ length: 40 }, (_, node) => [node, { node, name: `node${node + 1}`, clockUncertaintyNs: 0, isSilent: false, cpus: null }]));
  return { ...empty, nodes, totals: { ...empty.totals, messages: 9, unmatchedSends } };
}

const plain = (text: string): string => text.replace(/[\u2009\u202f\u00a0]/g, " ");
const edges = [{ from: 0, to: 1, messages: 3, bytes: 12_288, sinceNs: 1000, src: 0, dst: 1 }];

describe("groups of ranks in words", () => {
  const groups = madePending([
    { ranks: 512, keys: [0, 15], of: [0, 511] }, { ranks: 32, keys: [16, 16], of: [512, 543] }, { ranks: 8, keys: [17, 17], of: [544, 551] },
    { ranks: 8, keys: [17, 17], of: [552, 559] }, { keys: [18, 18], of: [560, 560] }, { ranks: 4, keys: [0xffffffff, 0xffffffff], of: [561, 600] },
  ], []).groups;

  it("have the names of their nodes, or the numbers of their ranks", () => {
    expect([0, 1, 2, 4].map((at) => groupLabel(groups, at, "node", run()))).toEqual(["node1\u201316", "node17", "544\u2013551", "560"]);
    expect([0, 1, 2, 4].map((at) => groupWords(groups, at, "node", run()))).toEqual(["node1\u201316 (512 ranks)", "node17 (32 ranks)", "ranks 544\u2013551", "rank 560"]);
  });

  it("are regions, or ranks that follow each other", () => {
    expect([1, 5].map((at) => groupLabel(groups, at, "region", run()))).toEqual(["region 16", "no region"]);
    expect(groupWords(groups, 1, "rank", run())).toBe("ranks 512\u2013543");
  });
});

describe("messages in flight in words", () => {
  it("say how many, how large, and since when the oldest", () => {
    const pending = madePending(single(4), edges, { at_ns: 4_201_000 });
    expect(edgeLabel(pending, 0)).toBe("3 messages, 12.0 KiB, oldest 4.20 ms");
    expect(edgeTitle(pending, 0, "node", run())).toBe("Rank 0 to rank 1");
    const words = pendingWords(pending, run(), false);
    expect(plain(words.title)).toBe("3 messages in flight at 0:00:00.004201");
    expect(words.facts).toBe("12.0 KiB; the oldest for 4.20 ms: rank 0 to 1, 1 B, sent 0:00:00.000001");
    expect(words.missing).toBe("");
  });

  it("say what is not drawn and not counted", () => {
    const live = madePending(single(4), edges, { unreceived: 2, left_out_sends: 1, edges_left_out: 7, messages_left_out: 9, is_partial: true });
    expect(pendingWords(live, run(5), true).title).toContain("At least 3 messages from or to the selected ranks");
    expect(pendingWords(live, run(5), true).missing).toBe(
      "9 messages of 7 pairs are not drawn. Too many messages span this moment to read all. 2 without a receive so far. Not counted: 1 send without a receive.",
    );
    expect(pendingWords(madePending(single(4), edges), run(5), false).missing).toBe("Not counted: 5 sends without a receive.");
  });

  it("say that there is nothing, and what to do", () => {
    const words = pendingWords(madePending(single(4), []), run(), false);
    expect([plain(words.title), words.facts]).toEqual(["No message is in flight at 0:00:00.000001", ""]);
    expect(emptyAdvice(run(), false)).toContain("another moment");
    expect(emptyAdvice(run(), true)).toContain("all ranks");
    expect(emptyAdvice(emptyRun(), false)).toContain("no message from rank to rank");
  });
});
