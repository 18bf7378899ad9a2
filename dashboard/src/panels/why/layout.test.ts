import { describe, expect, it } from "vitest";
import type { Attribution, Cause, FindingsReport, Parts } from "../../feed/found";
import type { RangeFigures } from "../../state/range-budgets";
import type { Row } from "../../words/found";
import { LEFT } from "../timeline/scale";
import { avoidableShare, disturbed, ranksAmong, ranksTimeS, scopeOf, stack, strip, stretchAt, stretchBeside, stretchIn } from "./layout";

const row = (part: Row["part"], seconds: number): Row => ({ part, seconds, name: part, title: "" });
const stretch = (fromS: number, toS: number, avoidableS: number, cause: Cause = "pattern", region: number | null = null): Attribution => ({
  fromS, toS, avoidableS, cause, region, confidence: 1, evidence: [],
});

describe("a stacked bar", () => {
  it("is as long as all its parts", () => {
    const { segments, apart, shownS } = stack([row("waiting", 6), row("base", 0), row("other", 2)]);
    expect(segments.map(({ fraction }) => fraction)).toEqual([0.75, 0, 0.25]);
    expect([apart, shownS]).toEqual([[], 8]);
  });

  it("leaves apart what is less than nothing", () => {
    const { segments, apart, shownS, apartS } = stack([row("compute", 9), row("base", -0.5), row("distance", 1), row("unknown", -0.25)]);
    expect(segments.map(({ part, fraction }) => [part, fraction])).toEqual([["compute", 0.9], ["distance", 0.1]]);
    expect(apart.map(({ part }) => part)).toEqual(["base", "unknown"]);
    expect(shownS + apartS).toBe(9.25);
  });

  it("of nothing has no length", () => {
    expect(stack([row("base", 0), row("other", -1)]).segments.map(({ fraction }) => fraction)).toEqual([0]);
  });
});

describe("the network", () => {
  const quiet = (fromS: number, toS: number, isQuiet: boolean) => ({ fromS, toS, isQuiet, slower: isQuiet ? 1 : 3 });

  it("is marked where it was disturbed, as far as that is in sight", () => {
    const scale = { span: [10e9, 20e9] as const, width: 100 };
    const all = [quiet(0, 5, true), quiet(5, 12, false), quiet(12, 18, true), quiet(18, 19, false), quiet(30, 40, false)];
    expect(disturbed(all, scale)).toEqual([{ x: LEFT, width: 20 }, { x: LEFT + 80, width: 10 }]);
  });
});

describe("what figures are of", () => {
  const SELECTED = { rangeNs: [12e9, 13e9] as const, ranks: null };
  const parts = (totalS: number): Parts => ({ totalS }) as Parts;
  const found = {
    fromS: 10, untilS: 30, diagnosis: { budget: parts(31), verdict: { cause: "pattern", share: 0.1, avoidableS: 8, causes: [["pattern", 8]] } },
  } as unknown as FindingsReport;
  const known = (fromNs: number, toNs: number): RangeFigures => ({
    kind: "known", scope: { rangeNs: [12e9, 13e9], ranks: null }, isOld: false, budget: { fromNs, toNs, windowNs: 1e8, parts: parts(3), causes: [["cpu", 2], ["pattern", 1]], verdict: null },
  });

  it("is the run without a range, and says so when there are no figures of a range", () => {
    expect(scopeOf({ kind: "none" }, found, 4)).toEqual({ where: "", parts: parts(31), causes: new Map([["pattern", 8]]), top: "pattern", ranksS: 80, spanNs: [10e9, 30e9], only: null });
    for (const figures of [{ kind: "asked", scope: SELECTED }, { kind: "missing", scope: SELECTED, why: "no" }, known(12e9, 12e9)] as const) {
      expect(scopeOf(figures, found, 4)).toMatchObject({ where: "in the whole run", parts: parts(31), ranksS: 80 });
    }
  });

  it("is the range that was diagnosed, and its ranks' time", () => {
    const scope = scopeOf(known(12e9, 14.5e9), found, 4);
    expect(scope).toMatchObject({ where: "in the range", parts: parts(3), top: "none", ranksS: 10, spanNs: [12e9, 14.5e9], only: null });
    expect([...scope.causes]).toEqual([["cpu", 2], ["pattern", 1]]);
  });
});

describe("chosen ranks", () => {
  it("are those that there are", () => {
    expect([ranksAmong(null, 8), ranksAmong([[0, 3], [6, 100]], 8), ranksAmong([[9, 12]], 8), ranksAmong([], 8)]).toEqual([8, 6, 0, 0]);
  });

  it("have figures of their own, and a time of their own", () => {
    const found = { fromS: 0, untilS: 30, diagnosis: { budget: {}, verdict: {} } } as unknown as FindingsReport;
    const known = (rangeNs: readonly [number, number] | null): RangeFigures => ({
      kind: "known", scope: { rangeNs, ranks: [[2, 3]] }, isOld: false, budget: { fromNs: 0, toNs: 10e9, windowNs: 1e8, parts: { totalS: 3 } as Parts, causes: [], verdict: null },
    });
    expect(scopeOf(known(null), found, 4)).toMatchObject({ where: "of ranks 2\u20133 in the whole run", ranksS: 20 });
    expect(scopeOf(known([0, 10e9]), found, 4)).toMatchObject({ where: "of ranks 2\u20133 in the range", ranksS: 20 });
  });
});

describe("the ranks' time", () => {
  const found = (share: number, avoidableS: number): FindingsReport => ({ fromS: 10, untilS: 30, diagnosis: { verdict: { share, avoidableS } } }) as FindingsReport;

  it("is what the daemon's share is of", () => {
    expect(ranksTimeS(found(0.25, 30), 4)).toBe(120);
  });

  it("is that of what was diagnosed where there is no share", () => {
    expect(ranksTimeS(found(0, 0), 4)).toBe(80);
    expect(ranksTimeS(found(0, 0), 4, [[0, 5e9], [18e9, null]])).toBe(32);
  });
});

describe("the strip", () => {
  const scale = { span: [0, 10e9] as [number, number], width: 1000 };

  it("has a bar for each stretch where the timeline has it, as high as its share", () => {
    // 4 ranks, 2 s: 8 s of the ranks' time.
    const { bars, lines } = strip([stretch(0, 2, 4), stretch(2, 4, 2, "cpu"), stretch(4, 10, 0, "none")], 4, scale, 0, 100);
    expect(lines).toEqual([{ share: 0, y: 100 }, { share: 0.5, y: 0 }]);
    expect(bars.map(({ x, width }) => [x - LEFT, width])).toEqual([[0, 199], [200, 199], [400, 599]]);
    expect(bars.map(({ height }) => height)).toEqual([100, 50, 2]);
    expect(bars.map(({ cause, index }) => [cause, index])).toEqual([["pattern", 0], ["cpu", 1], ["none", 2]]);
  });

  it("does not make much of little", () => {
    const { bars, lines } = strip([stretch(0, 10, 0.4)], 4, scale, 0, 100);
    expect(lines.at(-1)?.share).toBe(0.05);
    expect(bars[0]?.height).toBeCloseTo(20, 9);
  });

  it("is cut where the view ends, and leaves out what is out of sight", () => {
    const zoomed = { span: [1e9, 3e9] as [number, number], width: 1000 };
    const { bars } = strip([stretch(0, 1, 1), stretch(0, 2, 1), stretch(2, 4, 1), stretch(4, 5, 1)], 4, zoomed, 0, 100);
    expect(bars.map(({ index, x, width }) => [index, x - LEFT, width])).toEqual([[1, 0, 499], [2, 500, 499]]);
  });

  it("is of the whole job, not of regions across it", () => {
    const stretches = [stretch(0, 5, 1), stretch(0, 5, 9, "cpu", 3), stretch(5, 10, 1)];
    expect(strip(stretches, 4, scale, 0, 100).bars.map(({ index }) => index)).toEqual([0, 2]);
    expect([stretchAt(stretches, 1e9), stretchAt(stretches, 5e9), stretchAt(stretches, 99e9)]).toEqual([0, 2, 2]);
    expect([stretchBeside(stretches, 0, 1), stretchBeside(stretches, 2, -1), stretchBeside(stretches, 2, 1)]).toEqual([2, 0, -1]);
  });

  it("finds the stretch whose beginning was gone to, to the nanosecond", () => {
    const stretches = [stretch(0, 21 * 1.003075, 1), stretch(21 * 1.003075, 30, 1)];
    expect(stretchAt(stretches, Math.round(21 * 1.003075 * 1e9))).toBe(1);
    expect(stretchAt([stretch(2, 3, 1)], 1e9)).toBe(-1);
  });

  it("has nothing between stretches, and nothing before or after all", () => {
    const stretches = [stretch(1, 2, 1), stretch(0, 9, 9, "cpu", 3), stretch(4, 5, 1)];
    expect([0, 1e9, 2e9, 3e9, 4e9, 6e9].map((ns) => stretchIn(stretches, ns))).toEqual([-1, 0, 0, -1, 2, -1]);
  });

  it("has no share of no time", () => {
    expect([avoidableShare(stretch(1, 1, 5), 4), avoidableShare(stretch(0, 1, 5), 0), avoidableShare(stretch(0, 1, 50), 4), avoidableShare(stretch(0, 1, -1), 4)]).toEqual([0, 0, 1, 0]);
  });
});
