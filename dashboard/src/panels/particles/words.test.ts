import { describe, expect, it } from "vitest";
import { contrast } from "../../palette/colour";
import type { CallText } from "../view";
import { callText, describe as describeCall, inFlightText } from "./describe";
import { GROUND, rankWords } from "./ground";
import { entriesOf, hiddenAfter } from "./legend";
import { makeCalls } from "./made-calls";
import { fileName } from "../save";
import { legendRows } from "./picture";
import { aggregationWords, contentOf, filterWords, insideWords, particleSizePx } from "./tables";

const call: CallText = {
  function: 14, name: "MPI_Isend", rank: 3, thread: 0, startNs: 3_723_000_000_123, endNs: 3_723_000_014_336, peer: 4,
  tag: 77, bytes: 8192, comm: 0, count: 1,
};

describe("a call in words", () => {
  it("says everything, in a fixed order, with nanoseconds", () => {
    expect(describeCall(call).map(([label, value]) => `${label}: ${value.replaceAll("\u2009", " ")}`)).toEqual([
      "Function: MPI_Isend", "Rank: 3", "Thread: 0", "Start: 1:02:03.000000123", "End: 1:02:03.000014336",
      "Duration: 14.2 µs (14 213 ns)", "Peer: rank 4", "Tag: 77", "Bytes: 8.00 KiB (8 192)", "Communicator: 0",
    ]);
  });

  it("leaves out what there is not, and counts polls", () => {
    const rows = new Map(describeCall({ ...call, peer: null, tag: null, comm: null, count: 10, endNs: call.startNs + 7000 }));
    expect([...rows.keys()]).toEqual(["Function", "Rank", "Thread", "Start", "End", "Duration", "Bytes", "Polls"]);
    expect(rows.get("Polls")).toBe("10, 700 ns each");
  });

  it("says that it still is inside", () => {
    const inFlight = {
      total: 1, length: 1, rank: Uint32Array.of(5), thread: Uint32Array.of(1), function: Uint32Array.of(20), sinceNs: Float64Array.of(9),
    };
    const rows = new Map(describeCall(inFlightText(inFlight, 0, "MPI_Recv")));
    expect(rows.get("End")).toBe("still inside");
    expect([...rows.keys()]).toEqual(["Function", "Rank", "Thread", "Start", "End"]);
  });

  it("comes from columns, without what they mark as missing", () => {
    const text = callText(makeCalls(0, 1, [{ startNs: 5, durationNs: 6, rank: 2 }]), 0, "MPI_Wait");
    expect(text).toMatchObject({ rank: 2, startNs: 5, endNs: 11, peer: null, tag: null, comm: null, count: 1 });
  });
});

describe("the legend", () => {
  const fact = (id: number, family: string, calls: number, polls = 0) => ({ id, name: `F${id}`, family, calls, polls });
  const facts = [fact(1, "barrier", 5), fact(2, "send", 10), fact(3, "send", 90), fact(4, "receive", 0), fact(5, "complete", 3, 40)];

  it("has what was called, families together, polls counted", () => {
    const entries = entriesOf(new Map(facts.map((one) => [one.id, one])));
    expect(entries.map(({ id, made }) => [id, made])).toEqual([[3, 90], [2, 10], [4, 0], [5, 43], [1, 5]]);
  });

  it("hides one, shows only one, and brings all back", () => {
    const all = [1, 2, 3];
    expect([...hiddenAfter(new Set(), all, 2, false)]).toEqual([2]);
    expect([...hiddenAfter(new Set([2]), all, 2, false)]).toEqual([]);
    const only = hiddenAfter(new Set([2]), all, 2, true);
    expect([...only]).toEqual([1, 3]);
    expect([...hiddenAfter(only, all, 2, true)]).toEqual([]);
  });

  it("stands in columns that fit below a picture", () => {
    const entries = entriesOf(new Map(facts.map((one) => [one.id, one])));
    const { placed, rows } = legendRows(entries, 260, (text) => text.length * 8);
    expect(rows).toBe(3);
    expect(placed.map(({ row }) => row)).toEqual([0, 0, 1, 1, 2]);
    expect(legendRows([], 260, () => 0).rows).toBe(0);
  });
});

describe("words and text of the plot", () => {
  it.each(["dark", "light"] as const)("can be read on the %s canvas", (theme) => {
    const colours = GROUND[theme];
    for (const ground of [colours.canvas, colours.band]) expect(contrast(colours.text, ground)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours.segments[0], colours.segments[1])).toBeGreaterThan(1.4);
    for (const segment of colours.segments) expect(contrast(segment, colours.canvas)).toBeGreaterThan(1.6);
  });

  it("say how ranks are grouped", () => {
    expect(rankWords(16, 1, 1)).toBe("rank; lines between nodes");
    expect(rankWords(16384, 256, 8)).toBe("rank, 256 a segment; a line every 8 nodes");
    expect(rankWords(4, 1, 0)).toBe("rank");
  });

  it("say what shares a pixel", () => {
    expect(aggregationWords(1024, 1100, 1)).toBe("");
    expect(aggregationWords(16384, 1024, 16)).toBe("16.0 ranks share a pixel, history by 16 ranks");
  });

  it("say how many calls are inside, and whether all are drawn", () => {
    expect([insideWords(0, 0, true), insideWords(64, 64, true)]).toEqual(["", "64 inside MPI"]);
    expect([insideWords(9, 0, false), insideWords(9, 2, false)]).toEqual(["", "2 inside MPI"]);
    expect(insideWords(16384, 4096, true).replaceAll("\u2009", " ")).toBe("16 384 inside MPI, the longest 4 096 drawn");
  });

  it("say what was left out by choice", () => {
    const functions = new Map([1, 2, 3].map((id) => [id, { id, name: `F${id}`, family: "send", calls: id === 3 ? 0 : 9, polls: 0 }]));
    const words = (hidden: number[], rankRanges: [number, number][] | null): string =>
      filterWords({ functions, hidden: new Set(hidden), rankRanges });
    expect(words([], null)).toBe("");
    expect(words([1, 3], null)).toBe("1 function hidden");
    expect(words([1, 2], [[128, 159], [7, 7]])).toBe("only ranks 128-159, 7, 2 functions hidden");
    expect(words([], [[7, 7]])).toBe("only rank 7");
    expect(words([], [])).toBe("no ranks");
  });

  it("fit any file system", () => {
    expect(fileName("cg.C 512/ranks", "history")).toBe("cg.C-512-ranks-history.png");
    expect(fileName("///", "x")).toBe("run-x.png");
  });
});

describe("particles", () => {
  it("are smaller the more ranks there are", () => {
    const sizes = [280, 70, 11, 1.1, 0.07].map(particleSizePx);
    expect(sizes).toEqual([...sizes].sort((one, other) => other - one));
    expect(sizes[0]).toBeLessThan(7);
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(2);
  });

  it("know a placement by its content", () => {
    expect(contentOf(Uint32Array.of(0, 0, 1))).toBe(contentOf(Uint32Array.of(0, 0, 1)));
    expect(contentOf(Uint32Array.of(0, 0, 1))).not.toBe(contentOf(Uint32Array.of(0, 1, 1)));
  });
});
