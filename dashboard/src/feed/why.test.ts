import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import type { AnswerMessage } from "./answer";
import { FeedError } from "./columns";
import { decode } from "./message";

const u32 = (values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const f64 = (values: readonly number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

function answered(part: Record<string, unknown>): AnswerMessage {
  const message = decode(encode({ kind: "answer", id: 7, ...part }).slice().buffer);
  if (message.kind !== "answer") throw new Error("no answer");
  return message;
}

describe("the courses of messages", () => {
  const sent = {
    from_ns: 0, to_ns: 2e9, width_ns: 1e9, bins: 2, inter: f64([3, 0]), intra: f64([1, 0]), inter_bytes: f64([300, 0]), intra_bytes: f64([100, 0]),
    uneven: f64([0.5, Number.NaN]), greatest_load: f64([2, Number.NaN]), greatest_rank: u32([7, 0]), sizes: [{ from: 64, to: 128, messages: 3, is_inter: true }],
    slow: f64([1, Number.NaN]), calmest: 0, messages: 4, left_out: 1,
  };
  const read = (change: Record<string, unknown>): unknown => answered({ courses: { ...sent, ...change } }).courses;

  it("are read whole", () => {
    expect(read({})).toMatchObject({
      fromNs: 0, toNs: 2e9, widthNs: 1e9, windows: 2, sizes: [{ fromBytes: 64, toBytes: 128, messages: 3, isInter: true }], calmest: 0, messages: 4, leftOut: 1,
    });
    const found = answered({ courses: sent }).courses;
    expect([[...(found?.inter ?? [])], [...(found?.uneven ?? [])], [...(found?.greatestRank ?? [])], [...(found?.slow ?? [])]]).toEqual([[3, 0], [0.5, Number.NaN], [7, 0], [1, Number.NaN]]);
  });

  it("may be of nothing", () => {
    const none = { bins: 0, inter: f64([]), intra: f64([]), inter_bytes: f64([]), intra_bytes: f64([]), uneven: f64([]), greatest_load: f64([]), greatest_rank: u32([]), sizes: [], slow: f64([]), calmest: null };
    expect(read(none)).toMatchObject({ windows: 0, sizes: [], calmest: null });
  });

  it.each<[string, Record<string, unknown>]>([
    ["more windows than anyone draws", { bins: 4097 }],
    ["windows without a length", { width_ns: 0 }],
    ["an end before the beginning", { to_ns: -1 }],
    ["a column that is short", { intra: f64([1]) }],
    ["a negative amount", { inter: f64([-1, 0]) }],
    ["an amount that is no number", { inter_bytes: f64([Number.NaN, 0]) }],
    ["a ratio without end", { uneven: f64([Infinity, 0]) }],
    ["sizes that are not in order", { sizes: [{ from: 64, to: 64, messages: 3, is_inter: true }] }],
    ["sizes that go anywhere", { sizes: [{ from: 64, to: 65, messages: 3, is_inter: 1 }] }],
    ["more sizes than there are colours", { sizes: Array.from({ length: 33 }, () => sent.sizes[0]) }],
    ["a calmest size that is not there", { calmest: 1 }],
    ["times of sizes that are not there", { slow: f64([1, 1, 1]) }],
    ["half a message", { left_out: 0.5 }],
  ])("are refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });
});

describe("the criteria", () => {
  const sent = {
    version: 3, is_final: false, is_inter: u32([0, 1, 0]), size_from: f64([50, 0, 0]), size_to: f64([100, 50, 50]), samples: f64([12, 400, 31]), median_ns: f64([450, 2000, 410]), normal_ns: f64([Number.NaN, 3000, 500]),
    functions: [{ function: 13, name: "MPI_Allreduce", ranks: 16, bytes: 8, is_root: true, samples: 99, median_ns: 21_000 }],
  };
  const read = (change: Record<string, unknown>): unknown => answered({ criteria: { ...sent, ...change } }).criteria;

  it("are read whole, by scope and in the order of sizes", () => {
    expect(read({})).toEqual({
      version: 3, isFinal: false,
      inter: [{ fromBytes: 0, toBytes: 50, samples: 400, medianNs: 2000, normalNs: 3000 }],
      intra: [{ fromBytes: 0, toBytes: 50, samples: 31, medianNs: 410, normalNs: 500 }, { fromBytes: 50, toBytes: 100, samples: 12, medianNs: 450, normalNs: null }],
      collectives: [{ function: 13, name: "MPI_Allreduce", ranks: 16, bytes: 8, isRoot: true, samples: 99, medianNs: 21_000 }],
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ["perhaps final", { is_final: 1 }],
    ["columns of different lengths", { samples: f64([1]) }],
    ["a size without end", { size_to: f64([Infinity, 50, 50]) }],
    ["sizes that are not in order", { size_from: f64([100, 0, 0]) }],
    ["a time that is no number", { median_ns: f64([Number.NaN, 1, 1]) }],
    ["fewer samples than none", { samples: f64([-1, 1, 1]) }],
    ["a collective without a name", { functions: [{ ...sent.functions[0], name: 3 }] }],
    ["perhaps a root", { functions: [{ ...sent.functions[0], is_root: 1 }] }],
    ["a collective that ends before it begins", { functions: [{ ...sent.functions[0], median_ns: -1 }] }],
  ])("are refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });
});

describe("a better placement", () => {
  const file = { format: "rankfile", name: "job.rankfile", text: "rank 0=a slot=0\n", command: "mpirun --rankfile job.rankfile ./job" };
  const sent = { gains: true, inter_messages_before: 9, inter_messages_after: 3, inter_bytes_before: 900, inter_bytes_after: 300, moved: 2, ranks: 4, sentences: ["2 of 4 ranks move"], files: [file] };
  const read = (change: Record<string, unknown>): unknown => answered({ remap: { ...sent, ...change } }).remap;

  it("is read whole", () => {
    expect(read({})).toEqual({ gains: true, interMessagesBefore: 9, interMessagesAfter: 3, interBytesBefore: 900, interBytesAfter: 300, moved: 2, ranks: 4, sentences: ["2 of 4 ranks move"], files: [file] });
  });

  it.each<[string, Record<string, unknown>]>([
    ["perhaps a gain", { gains: "yes" }],
    ["part of a message", { inter_messages_after: 0.5 }],
    ["a file of an unknown kind", { files: [{ ...file, format: "exe" }] }],
    ["a file without a text", { files: [{ ...file, text: null }] }],
    ["more files than kinds", { files: [file, file, file, file] }],
    ["a sentence that is none", { sentences: [4] }],
  ])("is refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });

  it("is an error in words where it cannot be put", () => {
    expect(answered({ error: "there is one node only" })).toEqual({ kind: "answer", id: 7, error: "there is one node only" });
  });
});
