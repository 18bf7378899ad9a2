import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { FeedError } from "./columns";
import type { FindingsReport, RangeBudget } from "./found";
import { decode } from "./message";
import type * as Wire from "./types";

const wait: Wire.Wait = {
  state: "late sender", function: "MPI_Recv", site: 2, place: "main.c:42 solve()", waiter: 7, awaited: 3, times: 120, seconds: 4.5, longest_s: 0.25, longest_at_s: 61.5,
};
const wire: Wire.FindingsReport = {
  headline: "Load imbalance costs 12.0 s.", blamed: [3], details: ["This is likely."], waiting_note: "They would wait anyway.", actions: ["Look at rank 3."], from_s: 1.5, until_s: 62, left_out_calls: 12_345, is_final: false,
  evolution: { by: "node", version: 1, window_s: 0.1, final_s: 61.9, has_normal: false, regions: [], links: [], other_messages: [0, 0] },
  judgement: {
    disturbances: [{ cause: "pattern", from_s: 2, to_s: 8 }],
    budget: {
      waiting_s: 10, base_s: 1, distance_s: 2, excess_s: 3, operation_s: 4, other_s: 5, unknown_s: 6, total_s: 31,
      waiting_by: { compute: 9, base: -0.5, distance: 1, excess: 0.5, operation: 0.25, other: 0.125, unknown: -0.375, no_core: 2 },
      distance_saved_s: 0.5, excess_inside_s: 0.75, cpu_wait_s: 2,
    },
    efficiency: { parallel: 0.6, load_balance: 0.75, communication: 0.8, transfer: 0.9, serialization: 0.89 },
    waits: [wait],
    gathered: [{ state: "late sender", function: "MPI_Recv", site: null, place: "", waiters: 3, awaited: 2, most_awaited: 3, most_awaited_s: 4, times: 9, seconds: 5 }],
    sources: [{ cause: "pattern", total_s: 5, few: [3], few_s: 4, few_nodes: 1, few_hosts: [], ranks: [{ rank: 3, seconds: 4, computed_s: 9 }], computed_s: 6, times: [{ from_s: 1, to_s: 2, ranks: [3, 4] }], differs_by_step: true }],
    advised: { moved: 2, inter_messages: 30, inter_messages_after: 10, messages: 90 },
    is_distance_unknown: false,
    stopped: { count: 1, longest: [{ rank: 1, seconds: 2 }] },
    blocked: { count: 0, longest: null },
    slow_links: { known: 0, slow: 0, worst: [] },
    cpu_shortage: { ranks: 16, cpus: 2, usable: 2, per_cpu: 8, waited: 0.97, most_rank: 3, most_waited: 0.99 },
    whatif: { recorded_s: 6, without: [{ causes: ["pattern"], run_s: 4, least_s: 3, most_s: 5 }] },
    sites: [{ site: 2, place: "main.c:42 solve()", seconds: 6, by: { compute: 5, base: -0.5, distance: 1, excess: 0.5, operation: 0.25, other: 0.125, unknown: -0.375, no_core: 1 } }],
    attribution: [{ from_s: 1.5, to_s: 2.5, region: null, cause: "pattern", avoidable_s: 0.5, confidence: 0.7, evidence: [0] }],
    quiet: [{ from_s: 1.5, to_s: 20, is_quiet: true, slower: 1.1 }, { from_s: 20, to_s: 62, is_quiet: false, slower: 2.5 }],
    verdict: { cause: "pattern", avoidable_s: 12, avoidable_wall_s: 3, is_at_least: true, share: 0.05, confidence: 0.9, causes: [["pattern", 12], ["cpu", 1]], lost_share: 0, basis: { state: "part", missing_share: 0.04, until_s: null, sentence: "4 % of the calls are missing." }, remarks: ["close"] },
    regions: { version: 0, count: 0, with_collectives: false, regions: [], between: [] },
  },
};

function read(change: (from: Wire.FindingsReport) => unknown = () => undefined): FindingsReport {
  const sent = structuredClone(wire);
  change(sent);
  const bytes = encode({ protocol: 2, kind: "delta", number: 1, clock: { now_ns: 1, lag_ns: 0 }, found: sent });
  const message = decode(bytes.slice().buffer);
  if (message.kind !== "delta" || !message.found) throw new Error("nothing found");
  return message.found;
}

/** Any field of anything in it. */
type Loose = Record<string, unknown>;
const verdict = (from: Wire.FindingsReport): Loose => from.judgement.verdict as unknown as Loose;
const first = (list: readonly unknown[]): Loose => list[0] as Loose;

describe("what was found", () => {
  it("has a source for each part of a long run", () => {
    const of = (parts: number) => read((from) => {
      for (const source of from.judgement.sources) source.times = Array.from({ length: parts }, (_, at) => ({ from_s: at, to_s: at + 1, ranks: [3] }));
    });
    expect(of(96).diagnosis.sources[0]?.times).toHaveLength(96);
    expect(() => of(97)).toThrow(FeedError);
  });

  it("is read whole", () => {
    expect(read()).toEqual({
      headline: "Load imbalance costs 12.0 s.", blamed: [3], details: ["This is likely."], waitingNote: "They would wait anyway.", actions: ["Look at rank 3."], fromS: 1.5, untilS: 62, leftOutCalls: 12_345, isFinal: false,
      diagnosis: {
        budget: {
          waitingS: 10, baseS: 1, distanceS: 2, excessS: 3, operationS: 4, otherS: 5, unknownS: 6, totalS: 31,
          waitingBy: { compute: 9, base: -0.5, distance: 1, excess: 0.5, operation: 0.25, other: 0.125, unknown: -0.375, cpuWait: 2 },
          excessInsideS: 0.75, cpuWaitS: 2,
        },
        efficiency: { parallel: 0.6, loadBalance: 0.75, communication: 0.8, transfer: 0.9, serialization: 0.89 },
        waits: [{ state: "late sender", function: "MPI_Recv", site: 2, place: "main.c:42 solve()", waiter: 7, awaited: 3, times: 120, seconds: 4.5, longestS: 0.25, longestAtS: 61.5 }],
        gathered: [{ state: "late sender", function: "MPI_Recv", site: null, place: "", waiters: 3, awaited: 2, mostAwaited: 3, mostAwaitedS: 4, times: 9, seconds: 5 }],
        sources: [{ cause: "pattern", totalS: 5, few: [3], fewNodes: 1, ranks: [{ rank: 3, seconds: 4, computedS: 9 }], computedS: 6, times: [{ fromS: 1, toS: 2, ranks: [3, 4] }], differsByStep: true }],
        advised: { moved: 2, interMessages: 30, interMessagesAfter: 10, messages: 90 },
        isDistanceUnknown: false,
        hasCpuContention: true,
        whatIf: { recordedS: 6, without: [{ causes: new Set(["pattern"]), runS: 4, leastS: 3, mostS: 5 }] },
        sites: [{ site: 2, place: "main.c:42 solve()", seconds: 6, by: { compute: 5, base: -0.5, distance: 1, excess: 0.5, operation: 0.25, other: 0.125, unknown: -0.375, cpuWait: 1 } }],
        attribution: [{ fromS: 1.5, toS: 2.5, region: null, cause: "pattern", avoidableS: 0.5, confidence: 0.7, evidence: [0] }],
        disturbances: [{ cause: "pattern", fromS: 2, toS: 8 }],
        quiet: [{ fromS: 1.5, toS: 20, isQuiet: true, slower: 1.1 }, { fromS: 20, toS: 62, isQuiet: false, slower: 2.5 }],
        verdict: { cause: "pattern", avoidableS: 12, avoidableWallS: 3, isAtLeast: true, share: 0.05, confidence: 0.9, basis: "part", causes: [["pattern", 12], ["cpu", 1]], remarks: ["close"] },
        regions: null,
      },
      evolution: { by: "node", version: 1, windowS: 0.1, finalS: 61.9, hasNormal: false, regions: [], links: [], otherInside: 0, otherBetween: 0 },
    });
  });

  it("is nothing where there is nothing yet", () => {
    const bytes = encode({ protocol: 2, kind: "delta", number: 1, clock: { now_ns: 1, lag_ns: 0 }, found: null });
    expect(decode(bytes.slice().buffer)).not.toHaveProperty("found");
  });

  it("may have been waited for in calls without a known call site", () => {
    expect(read((from) => Object.assign(first(from.judgement.sites), { site: null, place: "" })).diagnosis.sites[0]).toMatchObject({ site: null, place: "" });
  });

  it("may lie in a region, and be no cause", () => {
    const { diagnosis } = read((from) => Object.assign(first(from.judgement.attribution), { region: 4, cause: "none", evidence: [] }));
    expect(diagnosis.attribution[0]).toMatchObject({ region: 4, cause: "none", evidence: [] });
  });

  it.each<[string, (from: Wire.FindingsReport) => unknown]>([
    ["a headline that is no text", (from) => Object.assign(from, { headline: 7 })],
    ["a detail that is no text", (from) => (from.details as unknown[]).push(null)],
    ["an end before the beginning", (from) => (from.until_s = 1)],
    ["a part of a call", (from) => (from.left_out_calls = 0.5)],
    ["perhaps final", (from) => Object.assign(from, { is_final: "perhaps" })],
    ["no diagnosis", (from) => Object.assign(from, { judgement: [] })],
    ["a part of the budget that is no number", (from) => (from.judgement.budget.base_s = Number.NaN)],
    ["no split of the waiting", (from) => Object.assign(from.judgement.budget, { waiting_by: 3 })],
    ["an efficiency without end", (from) => (from.judgement.efficiency.transfer = Infinity)],
    ["a negative rank", (from) => (first(from.judgement.waits)["waiter"] = -1)],
    ["a wait that is a list", (from) => ((from.judgement.waits as unknown[])[0] = [])],
    ["a stretch that runs backwards", (from) => (first(from.judgement.attribution)["to_s"] = 1)],
    ["a network neither quiet nor not", (from) => (first(from.judgement.quiet)["is_quiet"] = 1)],
    ["a stretch of an unknown cause", (from) => (first(from.judgement.attribution)["cause"] = "gremlins")],
    ["evidence that is not there", (from) => (first(from.judgement.attribution)["evidence"] = [1])],
    ["a verdict of an unknown cause", (from) => (verdict(from)["cause"] = "toString")],
    ["a verdict on some other basis", (from) => (verdict(from)["basis"] = { state: "most" })],
    ["a verdict that is at least something", (from) => (verdict(from)["is_at_least"] = 1)],
    ["a source of no cause", (from) => (first(from.judgement.sources)["cause"] = "none")],
    ["a source without ranks", (from) => (first(from.judgement.sources)["ranks"] = 3)],
    ["a part of the run that ends before it begins", (from) => (first(from.judgement.sources[0]?.times ?? [])["to_s"] = 0)],
    ["a gathered wait of minus one rank", (from) => (first(from.judgement.gathered)["waiters"] = -1)],
    ["a placement that moves nobody knows how many", (from) => (from.judgement.advised = {} as Wire.Advised)],
    ["a run without no cause", (from) => (first(from.judgement.whatif.without)["causes"] = ["none"])],
    ["a run that takes no time that is a number", (from) => (first(from.judgement.whatif.without)["run_s"] = Number.NaN)],
    ["a cost of no cause", (from) => (verdict(from)["causes"] = [["none", 3]])],
    ["a cost without a figure", (from) => (verdict(from)["causes"] = [["cpu"]])],
    ["a cost that is a text", (from) => (verdict(from)["causes"] = ["cpu"])],
    ["more causes than there are", (from) => (verdict(from)["causes"] = Array.from({ length: 5 }, () => ["cpu", 1]))],
    ["more waits than anyone reads", (from) => (from.judgement.waits = Array.from({ length: 1001 }, () => wait))],
    ["a place without its split", (from) => Object.assign(from.judgement.sites[0] ?? {}, { by: null })],
    ["a place of half a number", (from) => (first(from.judgement.sites)["site"] = 0.5)],
    ["more places than anyone reads", (from) => (from.judgement.sites = Array.from({ length: 4097 }, () => structuredClone(wire.judgement.sites[0])) as Wire.SiteWait[])],
    ["more sentences than anyone reads", (from) => (from.details = Array.from({ length: 65 }, () => "and"))],
  ])("is refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });
});

describe("where time went in a range", () => {
  const sent: Wire.RangeBudget = { from_ns: 2e9, to_ns: 4.5e9, window_ns: 1e8, parts: wire.judgement.budget, causes: [["cpu", 3], ["pattern", 2], ["mapping", 0], ["background", 0]], verdict: { cause: "cpu", avoidable_wall_s: 0.2, share: 0.08, confidence: 0.9, ranks: [3], sentence: "8 % avoidable.", details: ["Rank 3 waits."], actions: ["Move it."] } };

  function budgetOf(change: (from: Wire.RangeBudget) => unknown = () => undefined): RangeBudget {
    const budget = structuredClone(sent);
    change(budget);
    return readRange(budget);
  }

  function readRange(budget: unknown): RangeBudget {
    const message = decode(encode({ kind: "answer", id: 7, budget }).slice().buffer);
    if (message.kind !== "answer" || !message.budget) throw new Error("no budget");
    return message.budget;
  }

  it("is read whole", () => {
    expect(budgetOf()).toEqual({ fromNs: 2e9, toNs: 4.5e9, windowNs: 1e8, parts: read().diagnosis.budget, causes: [["cpu", 3], ["pattern", 2], ["mapping", 0], ["background", 0]], verdict: { cause: "cpu", sentence: "8 % avoidable.", details: ["Rank 3 waits."], actions: ["Move it."], ranks: [3] } });
    expect(budgetOf((from) => (from.verdict = null)).verdict).toBeNull();
  });

  it("is read as the made-up server sends it", async () => {
    const { makeFound, makeRangeBudget } = await import(new URL("../../dev/found.mjs", import.meta.url).href);
    const job = { ranks: 8, hash: () => 0.5 };
    const madeUp = makeFound("pattern", { ...job, untilS: 30, isFinal: true });
    const rangeOf = (fromNs: number, toNs: number): RangeBudget => readRange(makeRangeBudget(madeUp, { ...job, fromNs, toNs, only: null }));
    const [all, first, rest] = [rangeOf(0, 30e9), rangeOf(0, 12.3e9), rangeOf(12.3e9, 30e9)];
    expect(first).toMatchObject({ fromNs: 0, toNs: 12.3e9 });
    expect(first.parts.totalS + rest.parts.totalS).toBeCloseTo(all.parts.totalS, 6);
  });

  it("is an error in words where there is none", () => {
    const message = decode(encode({ kind: "answer", id: 7, error: "where time went is not known yet" }).slice().buffer);
    expect(message).toEqual({ kind: "answer", id: 7, error: "where time went is not known yet" });
  });

  it.each<[string, (from: Wire.RangeBudget) => unknown]>([
    ["an end before the beginning", (from) => (from.to_ns = 1e9)],
    ["no parts", (from) => Object.assign(from, { parts: null })],
    ["a part without end", (from) => (from.parts.total_s = Infinity)],
    ["no split of the waiting", (from) => Object.assign(from.parts, { waiting_by: undefined })],
    ["an unknown cause", (from) => (from.causes[0] = ["gremlins", 1])],
    ["a cost of no cause", (from) => (from.causes[0] = ["none", 1])],
    ["a cost that is no number", (from) => (from.causes[0] = ["cpu", Number.NaN])],
    ["a verdict on gremlins", (from) => Object.assign(from.verdict ?? {}, { cause: "gremlins" })],
    ["a verdict without a sentence", (from) => Object.assign(from.verdict ?? {}, { sentence: 3 })],
    ["more causes than there are", (from) => from.causes.push(["cpu", 1])],
  ])("is refused with %s", (_, change) => {
    expect(() => budgetOf(change)).toThrow(FeedError);
  });
});
