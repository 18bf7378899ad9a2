import { describe, expect, it } from "vitest";
import type { Selected } from "../feed/selected";
import type { Region } from "../feed/regions";
import { ofWhat, selectionFigures } from "../words/selected";
import { rangeFigures } from "./range-budgets";
import { apply, emptyRun, type RunState } from "./run";
import { knownOf, type SelectedFigures, selectedScope, shownOf, subjectOf } from "./selected";

const u32 = (...values: number[]) => Uint32Array.from(values);
const f64 = (...values: number[]) => Float64Array.from(values);
const region: Region = { id: 4, ranks: [[0, 1]], latency: 1.5, exactShare: 1, messages: 90, delayed: 40, aboveExpected: 9 };

function run(change: Partial<RunState> = {}): RunState {
  const begun = apply(emptyRun(), {
    kind: "snapshot", number: 0, clock: { nowNs: 10e9, lagNs: 0 }, job: { ...emptyRun().job, state: "running", ranks: 3 },
    functions: { length: 1, id: u32(7), name: ["MPI_Send"], family: ["send"], calls: f64(50), polls: f64(0), bytes: f64(0), timeNs: f64(5e9), p50Ns: f64(1), p99Ns: f64(1), maxNs: f64(1) },
  });
  return { ...begun, regions: { version: 1, count: 1, withCollectives: false, regions: [region], between: [] }, ...change };
}

const answer: Selected = {
  fromNs: 2e9, toNs: 4e9, calls: 8, polls: 1, mpiTimeNs: 1e9, messages: 6, intraMessages: 3, interMessages: 3, bytes: 600,
  functions: { length: 1, function: u32(7), calls: f64(8), polls: f64(1), bytes: f64(600), timeNs: f64(1e9), p50Ns: f64(20), p99Ns: f64(30), maxNs: f64(40) },
  ranks: { length: 2, rank: u32(1, 2), calls: f64(5, 3), mpiTimeNs: f64(6e8, 4e8), sent: f64(4, 2), received: f64(2, 4), bytesSent: f64(400, 200) },
  regions: { length: 1, id: u32(4), messages: f64(4), exact: f64(0), delayed: f64(0), aboveExpected: f64(0), latency: f64(Number.NaN) },
  budget: null, budgetMissing: "where time went is not known yet",
};
const choice = { rangeNs: [2e9, 4e9] as const, ranks: [[1, 2]] as const, hidden: new Set<number>() };
const scopeOf = (of = run(), change = {}) => {
  const scope = selectedScope(of, { ...choice, ...change });
  if (!scope) throw new Error("nothing is selected");
  return scope;
};
const known = (change: Partial<SelectedFigures> = {}): SelectedFigures => ({ known: { answer, scope: scopeOf() }, isOther: false, isAsking: false, why: "", ...change });

describe("what is selected of a run", () => {
  it("is nothing without a range, ranks or hidden functions", () => {
    expect(selectedScope(run(), { rangeNs: null, ranks: null, hidden: new Set() })).toBeNull();
    expect(scopeOf(run(), { rangeNs: null, ranks: null, hidden: new Set([9, 3]) }).hidden).toEqual([3, 9]);
  });

  it("grows with the run where its end is not past, and is asked for at once when the run ends", () => {
    const later = run({ clock: { nowNs: 20e9, lagNs: 0 } });
    expect(scopeOf(later)).toEqual(scopeOf());
    expect(scopeOf(later, { rangeNs: null }).untilS).toBeGreaterThan(scopeOf(run(), { rangeNs: null }).untilS);
    expect(subjectOf(scopeOf(later, { rangeNs: null }))).toBe(subjectOf(scopeOf(run(), { rangeNs: null })));
    const ended = run({ job: { ...run().job, state: "ended" } });
    expect(subjectOf(scopeOf(ended))).not.toBe(subjectOf(scopeOf()));
  });
});

describe("what views show", () => {
  it("is the run where nothing is selected or known", () => {
    const whole = run();
    expect(shownOf(whole, null)).toEqual({ run: whole, selected: null, lengthNs: 10e9, ranks: 3 });
  });

  it("is the selection in all of its figures", () => {
    const shown = shownOf(run(), answer);
    expect(shown.run.totals).toMatchObject({ calls: 8, polls: 1, messages: 6, bytes: 600 });
    expect(shown.run.functions.get(7)).toMatchObject({ name: "MPI_Send", calls: 8, maxNs: 40 });
    expect([...shown.run.ranks.calls.subarray(0, 3)]).toEqual([0, 5, 3]);
    expect(shown.run.regions?.regions[0]).toEqual({ ...region, messages: 4, delayed: 0, aboveExpected: 0, exactShare: 0, latency: null });
    expect([shown.lengthNs, shown.ranks]).toEqual([2e9, 2]);
    const tiles = Object.fromEntries(selectionFigures(shown).map(({ name, value }) => [name, value]));
    expect(tiles).toMatchObject({ Ranks: "2", Calls: "8", "Mean rate": "4 calls/s", Messages: "6" });
  });

  it("keeps the figures of the choice before while others are on their way, not after", () => {
    const other = scopeOf(run(), { ranks: [[0, 0]] });
    expect(knownOf(other, known({ isAsking: true, isOther: true }))).toBe(answer);
    expect(knownOf(other, known({ isOther: true, why: "there is no connection to ask over" }))).toBeNull();
    expect(knownOf(null, known())).toBeNull();
  });
});

describe("what figures are of", () => {
  const words = (figures: SelectedFigures, wanted = scopeOf()): string => {
    const found = ofWhat(wanted, figures, shownOf(run(), knownOf(wanted, figures)));
    return `${found?.text} | ${found?.title}`.replace(/[\u00a0\u202f]/g, " ");
  };

  it("has words, or why they are of the whole run", () => {
    expect(ofWhat(null, known(), shownOf(run(), null))).toBeNull();
    expect(words(known())).toBe("of the selection | 0:00:02.000 to 0:00:04.000, 2.00 s; ranks 1\u20132");
    expect(words(known({ isAsking: true }))).toMatch(/^of the selection, being updated/);
    expect(words({ known: null, isOther: false, isAsking: true, why: "" })).toMatch(/^The figures of the selection are on their way\. These are of the whole run\./);
    expect(words({ known: null, isOther: false, isAsking: false, why: "the disk is gone" })).toMatch(/^The figures of the selection are missing: the disk is gone\. These are of the whole run\./);
  });

  it("is the same for the delay budget", () => {
    expect(rangeFigures(null, known())).toEqual({ kind: "none" });
    expect(rangeFigures(scopeOf(run(), { rangeNs: null, ranks: null, hidden: new Set([7]) }), known())).toEqual({ kind: "none" });
    expect(rangeFigures(scopeOf(), known())).toMatchObject({ kind: "missing", why: "where time went is not known yet" });
    const budget = { fromNs: 2e9, toNs: 4e9, windowNs: 1e8, causes: [], parts: {} as never, verdict: null };
    const diagnosed = { known: { answer: { ...answer, budget }, scope: scopeOf() } };
    expect(rangeFigures(scopeOf(), known(diagnosed))).toEqual({ kind: "known", scope: { rangeNs: [2e9, 4e9], ranks: [[1, 2]] }, budget, isOld: false });
    expect(rangeFigures(scopeOf(), known({ ...diagnosed, isOther: true }))).toMatchObject({ kind: "known", isOld: true });
    expect(rangeFigures(scopeOf(), { known: null, isOther: false, isAsking: true, why: "" })).toMatchObject({ kind: "asked" });
  });
});
