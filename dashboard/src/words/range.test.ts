import { describe, expect, it } from "vitest";
import type { FindingsReport, Parts } from "../feed/found";
import type { Span } from "../state/perspective";
import type { BudgetScope, RangeFigures } from "../state/range-budgets";
import { emptyRun, type RunState } from "../state/run";
import { coarseness, hasFigures, rangeWords } from "./range";

const LIVE: RunState = { ...emptyRun(), job: { ...emptyRun().job, state: "running" } };
const SELECTED: BudgetScope = { rangeNs: [8e9, 9e9], ranks: null };
const OVER: RunState = { ...LIVE, job: { ...LIVE.job, state: "ended" } };

function known(rangeNs: Span, [fromNs, toNs]: Span, isOld = false): RangeFigures {
  return { kind: "known", scope: { rangeNs, ranks: null }, budget: { fromNs, toNs, windowNs: 100e6, parts: {} as Parts, causes: [], verdict: null }, isOld };
}

function words(figures: RangeFigures, run = LIVE): string {
  const found = rangeWords(figures, run);
  return found ? `${found.title} | ${found.note}`.replace(/[\u00a0\u202f]/g, " ") : "";
}

describe("the heading of the selected range", () => {
  it("says which range the figures are of, and how finely it is known", () => {
    const windows = "Counted in windows of 100 ms: of one that is cut, a part counts.";
    expect(words(known([1.23e9 + 0.4, 3.45e9 - 0.4], [1.23e9, 3.45e9]))).toBe(`Selected range 0:00:01.230 to 0:00:03.450, 2.22 s | ${windows}`);
    expect(words(known([1e9, 2e9], [1e9, 2e9]))).toBe(`Selected range 0:00:01.000 to 0:00:02.000, 1.00 s | ${windows}`);
    expect(words(known([1e9, 1.0021e9], [1e9, 1.003e9]))).toContain("0:00:01.000000 to 0:00:01.003000, 3.00 ms");
  });

  it("says which ranks the figures are of", () => {
    const of = (rangeNs: Span | null): RangeFigures => ({ ...known([1e9, 2e9], [1e9, 2e9]), scope: { rangeNs, ranks: [[0, 3], [8, 8]] } }) as RangeFigures;
    expect(words(of([1e9, 2e9]))).toBe("Selected range 0:00:01.000 to 0:00:02.000, 1.00 s, ranks 0\u20133, 8 | Counted in windows of 100 ms: of one that is cut, a part counts.");
    expect(words(of(null))).toBe("Selected ranks 0\u20133, 8 in the whole run, 0:00:01.000 to 0:00:02.000, 1.00 s | ");
    expect(words({ kind: "asked", scope: { rangeNs: null, ranks: [[7, 7]] } })).toMatch(/^Selected rank 7 \| /);
  });

  it("says what has no diagnosis", () => {
    const live = known([1e9, 9e9], [2e9, 8e9]);
    expect(words(live)).toMatch(/What comes before has no diagnosis\. What comes after has no diagnosis yet\.$/);
    expect(words(live, OVER)).toMatch(/What comes after has no diagnosis\.$/);
    expect(words(live, { ...OVER, found: { isFinal: true } as FindingsReport })).toMatch(/After it there is nothing to diagnose\.$/);
    expect(words(known([1e9, 9e9], [1e9, 9e9], true), OVER)).toMatch(/ \| As diagnosed while the job ran\. Counted in windows/);
  });

  it("says why there are no figures, and whose are shown", () => {
    expect(words({ kind: "none" })).toBe("");
    expect(words({ kind: "asked", scope: SELECTED })).toMatch(/on their way\. What follows is of the whole run\.$/);
    expect(words({ kind: "missing", scope: SELECTED, why: "The server did not answer within 10 s." })).toBe(
      "Selected range | Its figures are missing: The server did not answer within 10 s. What follows is of the whole run.",
    );
    expect(words(known([8e9, 9e9], [7e9, 7e9]))).toMatch(/It has no diagnosis yet\./);
    expect(words(known([8e9, 9e9], [7e9, 7e9]), OVER)).toMatch(/It has no diagnosis\./);
    expect(hasFigures(known([8e9, 9e9], [7e9, 7e9]))).toBe(false);
  });
});

describe("figures of less than a window", () => {
  it("say that they are an average", () => {
    const budget = { fromNs: 2e9, windowNs: 100e6, parts: {} as Parts, causes: [], verdict: null };
    expect(coarseness({ ...budget, toNs: 2.05e9 })).toMatch(/^Counted in windows of 100\sms: this is the average/);
    expect(coarseness({ ...budget, toNs: 2.1e9 })).toBe("");
  });
});
