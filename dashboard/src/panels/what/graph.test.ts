import { describe, expect, it } from "vitest";
import { FOLDED, followers, FUTURE, graphOf, HIDDEN, listed, marksOf, neighbours, PAST, reached } from "./graph";
import { madeDag } from "./made-dag";

// 0 -> 2 -> 4, 1 -> 2, 1 -> 3; 5 stands alone.
const graph = graphOf(madeDag([
  { rank: 0, layer: 0, place: 1, at: [7, 9] }, { rank: 1, layer: 0, place: 0, at: [3, 4] }, { rank: 2, layer: 1, place: 0 },
  { rank: 3, layer: 1, place: 1 }, { rank: 2, layer: 2, place: 0 }, { rank: 5, layer: 0, place: 2, at: [5, 5] },
], [[0, 2, 3], [1, 2], [1, 3], [2, 4]], [
  { node: 0, isSent: true, other: 2, tMsgNs: 5, latency: 2 }, { node: 0, isSent: true, other: 2, tMsgNs: 9, latency: 7, isExact: false },
  { node: 0, isSent: true, other: 2, tMsgNs: 1, latency: 3 }, { node: 2, isSent: false, other: 0, tMsgNs: 5 },
]));

describe("a graph", () => {
  it("has its layers in order, each around its middle", () => {
    expect([graph.layers, graph.rows]).toEqual([3, 3]);
    expect([...listed(graph.inLayer, 0)]).toEqual([1, 0, 5]);
    expect([...graph.row]).toEqual([0, -1, -0.5, 0.5, 0, 1]);
    expect([...graph.layerFromNs]).toEqual([3, 10, 20]);
  });

  it("knows whose messages are which, and the slowest of them", () => {
    expect([...listed(graph.messages, 0)]).toEqual([0, 1, 2]);
    expect(graph.slowest[0]).toBe(1);
    expect(graph.slowest[1]).toBe(-1);
  });

  it("takes no upper bound for the worst latency, and nothing for an unknown one", () => {
    expect(graph.worst[0]).toBe(3);
    expect(graph.worst[2]).toBeNaN();
  });

  it("finds what leads to a node, and what follows it", () => {
    expect([...reached(graph, [4], "past")]).toEqual([1, 1, 1, 0, 0, 0]);
    expect([...reached(graph, [1], "future")]).toEqual([0, 0, 1, 1, 1, 0]);
    expect([neighbours(graph, 2, "past"), neighbours(graph, 2, "future")]).toEqual([[0, 1], [4]]);
    expect([followers(graph, 1), followers(graph, 4)]).toEqual([3, 0]);
  });

  it("hides what follows folded nodes, not themselves", () => {
    expect([...marksOf(graph, new Set([2]), -1)]).toEqual([0, 0, FOLDED, 0, HIDDEN, 0]);
    expect([...marksOf(graph, new Set([0, 2]), -1)]).toEqual([FOLDED, 0, HIDDEN | FOLDED, 0, HIDDEN, 0]);
  });

  it("marks the past and the future of what is selected", () => {
    expect([...marksOf(graph, new Set(), 2)]).toEqual([PAST, PAST, 0, 0, FUTURE, 0]);
  });
});
