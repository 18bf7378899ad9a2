import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GivenUp } from "../asks";
import type { Parts, RangeBudget } from "../feed/found";
import { type BudgetScope, RangeBudgets, type RangeFigures } from "./range-budgets";

const LONG_MS = 1000;
const A: BudgetScope = { rangeNs: [10, 20], ranks: null };
const B: BudgetScope = { rangeNs: [10, 30], ranks: null };

function budget(toNs: number): RangeBudget {
  return { fromNs: 0, toNs, parts: {} as Parts, causes: [] };
}

interface Sent { scope: BudgetScope; answer: (budget: RangeBudget) => Promise<void>; refuse: (reason: Error) => Promise<void> }

function setup() {
  const sent: Sent[] = [];
  const shown: RangeFigures[] = [];
  const budgets = new RangeBudgets(
    (scope) => new Promise((resolve, reject) => {
      const settled = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));
      sent.push({
        scope,
        answer: (with_) => (resolve(with_), settled()),
        refuse: (reason) => (reject(reason), settled()),
      });
    }),
    (figures) => shown.push(figures),
  );
  const at = (index: number): Sent => sent[index] ?? expect.fail(`nothing was asked for the ${index + 1}th time`);
  return { budgets, sent, shown, at, last: () => shown.at(-1) };
}

describe("the figures of a range", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are asked for once the range stays", async () => {
    const { budgets, sent, last, at } = setup();
    for (const to of [12, 15, 20]) budgets.want({ rangeNs: [10, to], ranks: null }, 1, true);
    expect([sent.length, last()]).toEqual([0, { kind: "asked", scope: A }]);
    vi.advanceTimersByTime(LONG_MS);
    expect(sent.map(({ scope }) => scope)).toEqual([A]);
    await at(0).answer(budget(20));
    expect(last()).toEqual({ kind: "known", scope: A, budget: budget(20), isOld: false });
  });

  it("are asked for again with a newer judgement, and with nothing else", async () => {
    const { budgets, sent, last, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).answer(budget(15));
    budgets.want({ rangeNs: [10, 20], ranks: null }, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    expect(sent).toHaveLength(1);
    budgets.want({ rangeNs: [10, 20], ranks: null }, 2, true);
    vi.advanceTimersByTime(LONG_MS);
    expect(last()).toMatchObject({ kind: "known", budget: { toNs: 15 } });
    await at(1).answer(budget(20));
    expect(last()).toMatchObject({ kind: "known", budget: { toNs: 20 } });
  });

  it("are those of the newest range, whatever comes when", async () => {
    const { budgets, last, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    budgets.want(B, 1, true);
    await at(0).answer(budget(20));
    expect(last()).toEqual({ kind: "asked", scope: B });
    vi.advanceTimersByTime(LONG_MS);
    budgets.want(B, 2, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(2).answer(budget(30));
    await at(1).answer(budget(25));
    expect(last()).toMatchObject({ kind: "known", scope: B, budget: { toNs: 30 } });
  });

  it("of the range before stay until those of the new one are there", async () => {
    const { budgets, last, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).answer(budget(20));
    budgets.want(B, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    expect(last()).toMatchObject({ scope: A });
    await at(1).answer(budget(30));
    expect(last()).toMatchObject({ scope: B });
    budgets.want(null, 1, true);
    expect(last()).toEqual({ kind: "none" });
  });

  it("may be of some ranks, in a range or in the whole run", async () => {
    const { budgets, sent, last, at } = setup();
    const some: BudgetScope = { rangeNs: null, ranks: [[0, 3]] };
    budgets.want(some, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).answer(budget(20));
    expect(last()).toMatchObject({ kind: "known", scope: some });
    budgets.want({ ...some, ranks: [[0, 3]] }, 1, true);
    budgets.want({ ...A, ranks: [[0, 4]] }, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    expect(sent.map(({ scope }) => scope)).toEqual([some, { ...A, ranks: [[0, 4]] }]);
  });

  it("say why they are missing, and come when they can", async () => {
    const { budgets, last, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).refuse(new Error("where time went was not judged yet"));
    expect(last()).toEqual({ kind: "missing", scope: A, why: "where time went was not judged yet" });
    budgets.want(A, 2, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(1).answer(budget(20));
    expect(last()).toMatchObject({ kind: "known" });
  });

  it("are asked for again when a question was given up for others", async () => {
    const { budgets, sent, last, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).refuse(new GivenUp("newer ones"));
    expect(last()).toEqual({ kind: "asked", scope: A });
    vi.advanceTimersByTime(LONG_MS);
    expect(sent).toHaveLength(2);
  });

  it("stay without a connection, and are asked for over the next one", async () => {
    const { budgets, sent, last, at } = setup();
    budgets.want(A, 1, false);
    vi.advanceTimersByTime(LONG_MS);
    expect([sent.length, last()]).toEqual([0, { kind: "missing", scope: A, why: "there is no connection to ask over" }]);
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    await at(0).answer(budget(20));
    budgets.want(A, 1, false);
    expect(last()).toMatchObject({ kind: "known", isOld: false });
    budgets.want(A, 2, false);
    expect(last()).toMatchObject({ kind: "known", isOld: true });
    budgets.want(B, 2, false);
    expect(last()).toMatchObject({ kind: "missing" });
  });

  it("are nobody's once nobody looks", async () => {
    const { budgets, shown, at } = setup();
    budgets.want(A, 1, true);
    vi.advanceTimersByTime(LONG_MS);
    budgets.stop();
    const before = shown.length;
    await at(0).answer(budget(20));
    expect([shown.length, shown.at(-1)]).toEqual([before, { kind: "none" }]);
  });
});
