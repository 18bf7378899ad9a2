import { describe, expect, it } from "vitest";
import type { CriticalPath } from "../../feed/critical";
import type { GroupGraph } from "../../feed/group-graph";
import { madeShares } from "../messages/made-shares";
import { cellBox, cellParts, drawnLinks, headStep, linkLines, LINKS_MOST, pathParts } from "./groups-layout";
import { ranksPerRow } from "./groups-state";

function made(groups: number, columns: number, links: readonly { from: number; to: number; column: number; waited?: number; worst?: number }[]): GroupGraph {
  const of = (value: (link: (typeof links)[number]) => number): Float64Array => Float64Array.from(links, value);
  const ids = (value: (link: (typeof links)[number]) => number): Uint32Array => Uint32Array.from(links, value);
  return {
    edgesNs: Float64Array.from({ length: columns + 1 }, (_, at) => 100 * at), turns: new Uint32Array(columns).fill(1), loop: null,
    groups: Array.from({ length: groups }, (_, group) => ({ ranks: Uint32Array.of(2 * group, 2 * group + 1), firstKey: group, lastKey: group })),
    links: {
      length: links.length, from: ids(({ from }) => from), to: ids(({ to }) => to), column: ids(({ column }) => column), messages: of(() => 1), bytes: of(() => 8),
      waitedNs: of(({ waited }) => waited ?? 0), worst: of(({ worst }) => worst ?? Number.NaN), worstSrc: ids(() => 0), worstDst: ids(() => 0), worstSendNs: of(() => 0), worstRecvNs: of(() => 1),
    },
    outside: 0,
  };
}

describe("the aggregated graph", () => {
  it("draws no more links than can be read, the worst ones, and none within a group", () => {
    const all = Array.from({ length: 12 * 11 }, (_, at) => ({ from: Math.floor(at / 11), to: at % 12, column: at % 8, waited: at }));
    const graph = made(12, 8, all);
    const drawn = drawnLinks(graph);
    expect(drawn).toHaveLength(LINKS_MOST);
    expect(drawn[0]).toBe(130);
    expect(drawn.every((at) => graph.links.from[at] !== graph.links.to[at])).toBe(true);
    const lines = linkLines(graph, { width: 1000, height: 500 });
    expect(lines.filter(({ hasWords }) => hasWords).length).toBeLessThanOrEqual(14);
    expect(drawnLinks(made(2, 1, [{ from: 0, to: 1, column: 0 }, { from: 1, to: 0, column: 0, worst: 3 }]))).toEqual([1, 0]);
  });

  it("has its states beside and below each other", () => {
    const graph = made(12, 16, []);
    const frame = { width: 1040, height: 420 };
    const [a, right, below] = [cellBox(graph, frame, 0, 0), cellBox(graph, frame, 0, 1), cellBox(graph, frame, 1, 0)];
    expect(a.x + a.width).toBeLessThan(right.x);
    expect(a.y + a.height).toBeLessThan(below.y);
    const last = cellBox(graph, frame, 11, 15);
    expect(last.x + last.width).toBeLessThanOrEqual(frame.width);
    expect(last.y + last.height).toBeLessThanOrEqual(frame.height);
  });

  it("keeps states that can be seen and links that go right in a narrow frame", () => {
    const graph = made(3, 16, [{ from: 0, to: 1, column: 0 }, { from: 1, to: 2, column: 15 }]);
    for (const width of [120, 200, 500, 700]) {
      const frame = { width, height: 200 };
      for (let column = 0; column < 16; column++) expect(cellBox(graph, frame, 0, column).width).toBeGreaterThanOrEqual(2);
      for (const { x0, x1 } of linkLines(graph, frame)) expect(x1).toBeGreaterThan(x0);
      expect(linkLines(graph, frame)[0]?.x1).toBeLessThanOrEqual(cellBox(graph, frame, 0, 1).x);
    }
  });

  it("has words over as many columns as there is room for", () => {
    const graph = made(3, 16, []);
    for (const width of [200, 500, 1040, 2400]) {
      const step = headStep(graph, { width, height: 200 });
      const [a, b] = [cellBox(graph, { width, height: 200 }, 0, 0), cellBox(graph, { width, height: 200 }, 0, step)];
      expect(b.x - a.x).toBeGreaterThanOrEqual(78);
    }
    expect(headStep(graph, { width: 2400, height: 200 })).toBe(1);
  });

  it("says what ranks of a group did, and where the critical path was", () => {
    const graph = made(2, 2, []);
    const shares = madeShares(4, 2, (rank, window) => (rank === 3 ? [0, 0, 0, 0, 100] : [window === 0 ? 100 : 50]));
    const parts = cellParts(graph, shares);
    expect([parts[0]?.[0]?.[0], parts[0]?.[1]?.[0], parts[1]?.[0]?.[4]]).toEqual([1, 0.5, 0.5]);
    const path: CriticalPath = {
      fromNs: 0, toNs: 200, length: 3, rank: Uint32Array.of(0, 3, 0), kind: Uint32Array.of(0, 0, 0), startNs: Float64Array.of(0, 50, 150), function: new Uint32Array(3), site: new Uint32Array(3), other: new Uint32Array(3), isJoined: false,
      parts: { length: 0, kind: new Uint32Array(0), function: new Uint32Array(0), site: new Uint32Array(0), ns: new Float64Array(0), steps: new Float64Array(0) },
    };
    expect(pathParts(graph, path)).toEqual([[0.5, 0.5], [0.5, 0.5]]);
  });

  it("adds up ranks that follow each other by a power of two", () => {
    const graph = made(4, 1, []);
    expect(ranksPerRow(graph)).toBe(2);
    expect(ranksPerRow({ ...graph, groups: [{ ranks: Uint32Array.of(0, 2), firstKey: 0, lastKey: 0 }] })).toBe(1);
  });
});
