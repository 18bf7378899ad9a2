import { describe, expect, it } from "vitest";
import { FeedError } from "./columns";
import { hangs } from "./hangs";

const still = { kind: "deadlock", since_s: 1.5, until_s: null, seen_s: 3, sentences: [{ text: "Rank 0 waits.", ranks: [0] }], stuck: [0], circles: [[0]], roots: [], calls: [], call_count: 1 };
const call = { rank: 1, thread: 0, call: "MPI_Recv from rank 2, tag 7", place: "a.c:3 main()", since_s: 2, on: [2], any: false };
const all = { count: 1, stills: [still], ended_in: [call], ended_in_count: 1 };

describe("hangs", () => {
  it("are read in nanoseconds", () => {
    const read = hangs(all);
    expect(read.newest[0]).toEqual({ kind: "deadlock", sinceNs: 1.5e9, untilNs: null, sentences: [{ text: "Rank 0 waits.", ranks: [0] }] });
    expect(read.endedIn[0]).toEqual({ rank: 1, thread: 0, call: "MPI_Recv from rank 2, tag 7", place: "a.c:3 main()", sinceNs: 2e9 });
    expect(hangs({ ...all, stills: [{ ...still, until_s: 4 }] }).newest[0]?.untilNs).toBe(4e9);
  });

  it("are refused where they are something else", () => {
    for (const wrong of [
      { ...all, stills: [{ ...still, kind: "sleeps" }] },
      { ...all, stills: [{ ...still, sentences: [{ text: "x", ranks: [-1] }] }] },
      { ...all, stills: new Array(1025).fill(still) },
      { ...all, ended_in: [{ ...call, place: 3 }] },
      { ...all, count: 0.5 },
    ]) expect(() => hangs(wrong)).toThrow(FeedError);
  });
});
