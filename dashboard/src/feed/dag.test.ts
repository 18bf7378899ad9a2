import { describe, expect, it } from "vitest";
import { fed, madeDag } from "../panels/what/made-dag";
import { FeedError } from "./columns";
import { graphed } from "./dag";

const NODES = [{ rank: 2, layer: 0, at: [0, 4] }, { rank: 3, layer: 1, at: [5, 9] }, { rank: 3, layer: 2, at: [12, 20] }] as const;

describe("a graph for views", () => {
  it("has with each node what is known of its rank", () => {
    const { nodes } = madeDag(NODES, [[0, 1], [0, 2]]);
    expect([...nodes.messages]).toEqual([20, 30, 30]);
    expect([...nodes.load]).toEqual([2, 3, 3]);
  });

  it("finds the node at the other end of a message by its rank and its time", () => {
    const bars = [
      { node: 0, isSent: true, other: 3, sendNs: 3, recvNs: 6 },
      { node: 0, isSent: true, other: 3, sendNs: 3, recvNs: 15 },
      { node: 1, isSent: false, other: 2, sendNs: 3, recvNs: 6 },
      { node: 1, isSent: false, other: 9, sendNs: 1, recvNs: 6 },
      { node: 0, isSent: true, other: 3, sendNs: 3, recvNs: 10 },
    ];
    expect([...madeDag(NODES, [[0, 1], [0, 2]], bars).messages.peer]).toEqual([1, 2, 0, -1, -1]);
  });

  it("is refused where somebody who follows it would be lost", () => {
    expect(() => madeDag(NODES, [[1, 0]])).toThrow(FeedError);
    expect(() => madeDag(NODES, [[1, 1]])).toThrow("does not lead forward");
    expect(() => graphed({ ...fed(NODES), layers: 2 })).toThrow("layer that is not there");
    expect(() => graphed({ ...fed(NODES), layers: 1e9 })).toThrow("more than");
    expect(() => graphed({ ...fed(NODES), untilNs: 101 })).toThrow("not in order");
    expect(() => madeDag([{ rank: 0, layer: 0, at: [5, 4] }])).toThrow("ends before");
    expect(() => madeDag(NODES, [], [{ node: 0, isSent: true, other: 3, tMsgNs: Number.NaN }])).toThrow("Bar 0");
  });
});
