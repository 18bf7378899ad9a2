import { describe, expect, it } from "vitest";
import { callHash, jitterOf, leastSegmentPx, ranksPerNode, ranksPerSegment, segmentsOf, separatorsOf, SLOT_MARGIN } from "./layout";

const RANKS = [1, 4, 16, 100, 1024, 16384];
const WIDTHS = [240, 700, 1120, 2400];

function regular(ranks: number, perNode: number): Uint32Array {
  return Uint32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / perNode));
}

describe("ranks on nodes", () => {
  it("are regular in equal blocks, and the last may be smaller", () => {
    expect(ranksPerNode(regular(64, 16))).toBe(16);
    expect(ranksPerNode(regular(70, 16))).toBe(16);
    expect(ranksPerNode(regular(8, 8))).toBe(8);
  });

  it("are not regular when they go round robin or blocks differ", () => {
    expect(ranksPerNode(Uint32Array.of(0, 1, 0, 1))).toBe(0);
    expect(ranksPerNode(Uint32Array.of(0, 0, 1, 1, 1, 2, 2))).toBe(0);
    expect(ranksPerNode(Uint32Array.of(0, 0, 1, 2))).toBe(0);
  });
});

describe("segments", () => {
  for (const ranks of RANKS) {
    for (const widthPx of WIDTHS) {
      for (const perNode of [0, 8, 48]) {
        it(`of ${ranks} ranks on ${widthPx} px, ${perNode} a node, hold all ranks once and are long enough`, () => {
          const leastPx = leastSegmentPx(ranks, 7);
          const perSegment = ranksPerSegment(ranks, widthPx, leastPx, perNode);
          const segments = segmentsOf(ranks, perSegment);
          expect(segments[0]?.first).toBe(0);
          expect(segments.at(-1)?.end).toBe(ranks);
          for (let at = 1; at < segments.length; at++) expect(segments[at]!.first).toBe(segments[at - 1]!.end);
          if (perSegment < ranks) expect((perSegment * widthPx) / ranks).toBeGreaterThanOrEqual(leastPx);
          if (perNode > 1 && perNode < ranks && perSegment < ranks) {
            expect(perSegment % perNode === 0 || perNode % perSegment === 0).toBe(true);
          }
        });
      }
    }
  }

  it("are single ranks where there is room", () => {
    expect(ranksPerSegment(16, 1120, 24, 4)).toBe(1);
    expect(ranksPerSegment(1, 240, 24, 0)).toBe(1);
  });
});

describe("lines between nodes", () => {
  it("stand at every node where there is room", () => {
    expect(separatorsOf(regular(16, 4), 1000)).toEqual({ before: [4, 8, 12], nodes: 1 });
  });

  it("stand at groups of nodes where nodes are narrow, never closer than 14 px", () => {
    const { before, nodes } = separatorsOf(regular(16384, 16), 1120);
    expect(nodes).toBe(16);
    expect((before[0]! * 1120) / 16384).toBeGreaterThanOrEqual(14);
  });

  it("are left out where ranks go round robin over nodes", () => {
    const roundRobin = Uint32Array.from({ length: 1024 }, (_, rank) => rank % 16);
    expect(separatorsOf(roundRobin, 1120).before).toEqual([]);
  });

  it("do not stand in a job on one node", () => {
    expect(separatorsOf(regular(4, 4), 1000).before).toEqual([]);
  });
});

describe("the place of a call in its slot", () => {
  it("is always the same, within the margins, and spread evenly", () => {
    const tenths = new Array<number>(10).fill(0);
    for (let call = 0; call < 20_000; call++) {
      const startNs = 3.6e12 + call * 1717;
      const place = jitterOf(callHash(call % 7, 0, startNs));
      expect(place).toBe(jitterOf(callHash(call % 7, 0, startNs)));
      expect(place).toBeGreaterThanOrEqual(SLOT_MARGIN);
      expect(place).toBeLessThanOrEqual(1 - SLOT_MARGIN);
      tenths[Math.min(9, Math.floor(((place - SLOT_MARGIN) / (1 - 2 * SLOT_MARGIN)) * 10))]!++;
    }
    for (const calls of tenths) expect(Math.abs(calls - 2000)).toBeLessThan(200);
  });

  it("is the same for a call in flight and when it ended, whose starts differ by some nanoseconds", () => {
    expect(callHash(3, 1, 5e9 + 3)).toBe(callHash(3, 1, 5e9 + 9));
  });

  it("depends on rank, thread and start, also beyond 32 bits", () => {
    const hashes = [callHash(1, 0, 5), callHash(2, 0, 5), callHash(1, 1, 5), callHash(1, 0, 5e3), callHash(1, 0, 5 + 2 ** 43)];
    expect(new Set(hashes).size).toBe(5);
  });
});
