import { describe, expect, it } from "vitest";
import { answer } from "./answer";
import { FeedError } from "./columns";
import { dag } from "./dependencies";

const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const f64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

// 0 -> 1 -> 3 and 2 -> 3.
const graph = {
  from_ns: 0, to_ns: 100, until_ns: 90, layers: 3,
  nodes: {
    rank: u32(0, 1, 2, 3), host: u32(0, 0, 1, 1), layer: u32(0, 1, 0, 2), place: u32(0, 0, 1, 0), begin_ns: f64(1, 5, 2, 9),
    end_ns: f64(1, 7, 2, 11), received: u32(0, 1, 0, 2), sent: u32(1, 1, 1, 0), following: u32(2, 1, 1, 0),
  },
  edges: { from: u32(0, 1, 2), to: u32(1, 3, 3), messages: u32(1, 1, 1), bytes: f64(8, 8, 8) },
  ranks: { rank: u32(0), messages: f64(1), load: f64(0), flatness: f64(0), mean: 1.5, deviation: 0.5 },
  isolated: u32(7),
  bars: {
    node: u32(0), is_sent: u32(1), other: u32(1), bytes: f64(8), t_msg_ns: f64(4), latency: f64(Number.NaN), is_exact: u32(1),
    send_ns: f64(1), recv_ns: f64(5),
  },
  messages: 3, open: 0, contradicted: 0, left_out: 2, bars_left_out: 5, has_criteria: false, notes: ["it is cut"],
};

describe("the dependency graph", () => {
  it("is read column by column", () => {
    const read = answer({ id: 4, dag: graph });
    expect(read.dag?.nodes.length).toBe(4);
    expect([...(read.dag?.edges.to ?? [])]).toEqual([1, 3, 3]);
    expect(read.dag).toMatchObject({ untilNs: 90, leftOut: 2, barsLeftOut: 5, hasCriteria: false, notes: ["it is cut"] });
    expect(read.dag?.bars.latency[0]).toBeNaN();
  });

  it("is refused when it makes no sense", () => {
    expect(() => dag({ ...graph, edges: { ...graph.edges, to: u32(1, 9, 3) } })).toThrow(FeedError);
    expect(() => dag({ ...graph, edges: { ...graph.edges, from: u32(1, 0, 2) } })).toThrow(FeedError);
    expect(() => dag({ ...graph, bars: { ...graph.bars, node: u32(4) } })).toThrow(FeedError);
    expect(() => dag({ ...graph, nodes: { ...graph.nodes, place: u32(0) } })).toThrow(FeedError);
  });
});

describe("a past", () => {
  it("says of each rank up to where", () => {
    const past = {
      from_ns: 0, to_ns: 100, is_future: false, rank: 2, at_ns: 70, event: "receive", beyond_ns: null, events: 9, found: 5,
      collectives: 0, contradictions: 0, ranks: { rank: u32(0, 1), events: u32(0, 5), edge_ns: f64(Number.NaN, 60) },
      messages: { src: u32(1), dst: u32(2), bytes: f64(8), send_ns: f64(60), recv_ns: f64(70) }, messages_total: 1,
    };
    const read = answer({ id: 4, cone: past }).cone;
    expect(read).toMatchObject({ rank: 2, beyondNs: null, messagesTotal: 1, event: "receive" });
    expect(read?.ranks.edgeNs[0]).toBeNaN();
    expect(answer({ id: 4, cone: { ...past, beyond_ns: 30 } }).cone?.beyondNs).toBe(30);
  });
});
