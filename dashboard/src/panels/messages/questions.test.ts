import { describe, expect, it } from "vitest";
import { same } from "../../same";
import { answers, type KnownTraffic, scopeOf, type InSight } from "./questions";

const order = Uint32Array.from({ length: 100 }, (_, rank) => rank);
const seen = (span: readonly [number, number], rows: readonly [number, number] = [0, 100], part: Partial<InSight> = {}): InSight => ({ span, order, rows, only: null, hasArrows: true, ranksPerRow: 1, grows: false, ...part });

describe("what is asked for what is in sight", () => {
  it("has all of it, with some room, and begins at the beginning", () => {
    for (const [from, to] of [[0, 1e9], [5.2e9, 5.3e9], [1e9, 1e9 + 4000], [0.1e9, 7e9]] as const) {
      const { rangeNs } = scopeOf(seen([from, to]));
      expect(rangeNs[0]).toBeLessThanOrEqual(from);
      expect(rangeNs[1]).toBeGreaterThanOrEqual(to + 0.25 * (to - from));
      expect(rangeNs[0]).toBeGreaterThanOrEqual(0);
      expect(rangeNs[1] - rangeNs[0]).toBeLessThan(2.1 * (to - from));
    }
  });

  it("stays the same along little ways, and changes on longer ones", () => {
    expect(same(scopeOf(seen([10e9, 11e9])), scopeOf(seen([10.001e9, 11.001e9])))).toBe(true);
    expect(same(scopeOf(seen([10e9, 11e9])), scopeOf(seen([10.6e9, 11.6e9])))).toBe(false);
    expect(same(scopeOf(seen([10e9, 11e9])), scopeOf(seen([10e9, 11e9], [0, 100], { hasArrows: false })))).toBe(false);
  });

  it("is of the ranks around those in sight, in their order, or of all", () => {
    expect(scopeOf(seen([0, 1e9])).ranks).toBeNull();
    expect(scopeOf(seen([0, 1e9], [40, 48])).ranks).toEqual([[32, 55]]);
    expect(scopeOf(seen([0, 1e9], [40, 48], { order: order.slice().reverse() })).ranks).toEqual([[44, 67]]);
    expect(scopeOf(seen([0, 1e9], [0, 90], { only: [[0, 99]] })).ranks).toEqual([[0, 99]]);
  });

  it("is less while more comes by itself", () => {
    expect(scopeOf(seen([0, 1e9], [0, 100], { grows: true })).mostCalls).toBeLessThan(scopeOf(seen([0, 1e9])).mostCalls);
  });
});

describe("an answer", () => {
  const wide = scopeOf(seen([10e9, 20e9], [36, 52]));
  const known = (part: { calls?: object; messages?: object | null; edgeNs?: number } = {}): KnownTraffic => ({
    scope: wide, calls: { length: 5, total: 5, ...part.calls } as never, messages: part.messages === null ? null : { length: 2, total: 2, ...part.messages } as never, shares: null, messagesWhy: "", edgeNs: part.edgeNs ?? 60e9, tookMs: 1,
  });
  const narrow = scopeOf(seen([12e9, 13e9], [40, 44]));

  it("that has all of a range has all of a part of it", () => {
    expect(answers(known(), narrow, 60e9)).toBe(true);
    expect(answers(known(), scopeOf(seen([30e9, 31e9], [40, 44])), 60e9)).toBe(false);
    expect(answers(known(), scopeOf(seen([12e9, 13e9])), 60e9)).toBe(false);
  });

  it("in which ranks are added up does not have each of them", () => {
    const folded = { ...known(), scope: { ...wide, ranksPerRow: 4 } };
    expect(answers(folded, { ...narrow, ranksPerRow: 4 }, 60e9)).toBe(true);
    expect(answers(folded, narrow, 60e9)).toBe(false);
  });

  it("that has a share, or came too early, has not", () => {
    expect(answers(known({ calls: { total: 6 } }), narrow, 60e9)).toBe(false);
    expect(answers(known({ messages: { total: 6 } }), narrow, 60e9)).toBe(false);
    expect(answers(known({ messages: null }), narrow, 60e9)).toBe(false);
    expect(answers(known({ messages: null }), { ...narrow, mostMessages: 0 }, 60e9)).toBe(true);
    expect(answers(known({ edgeNs: 12.5e9 }), narrow, null)).toBe(false);
  });
});
