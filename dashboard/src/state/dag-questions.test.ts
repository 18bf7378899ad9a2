import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GivenUp } from "../asks";
import { madeDag } from "../panels/what/made-dag";
import type { Dag } from "../feed/dag";
import { type DagFigures, DagQuestions, type DagScope, lastSecond } from "./dag-questions";

const scope = (from: number, to: number): DagScope => ({ rangeNs: [from, to], ranks: null, isSelected: true });

describe("the questions about graphs", () => {
  let asked: { scope: DagScope; answer: (dag: Dag) => void; fail: (reason: Error) => void }[];
  let shown: DagFigures;
  let questions: DagQuestions;
  const [one, other] = [madeDag([]), madeDag([])];
  const rest = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1000);

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    questions = new DagQuestions((wanted) => new Promise((answer, fail) => asked.push({ scope: wanted, answer, fail })), (figures) => (shown = figures));
  });
  afterEach(() => vi.useRealTimers());

  it("are asked once a scope stays", async () => {
    questions.want(scope(0, 1), true);
    questions.want(scope(0, 2), true);
    questions.want(scope(0, 3), true);
    expect(shown).toMatchObject({ isAsking: true });
    await rest();
    expect(asked.map(({ scope: { rangeNs } }) => rangeNs)).toEqual([[0, 3]]);
    asked[0]?.answer(one);
    await rest();
    expect(shown).toEqual({ known: { dag: one, scope: scope(0, 3) }, isAsking: false, why: "" });
  });

  it("drop answers to what is not wanted any more, and keep what was known meanwhile", async () => {
    questions.want(scope(0, 1), true);
    await rest();
    asked[0]?.answer(one);
    await rest();
    questions.want(scope(0, 2), true);
    await rest();
    questions.want(scope(0, 3), true);
    asked[1]?.answer(other);
    await rest();
    expect(shown.known?.dag).toBe(one);
    expect(shown.isAsking).toBe(true);
    asked[2]?.answer(other);
    await rest();
    expect(shown.known).toEqual({ dag: other, scope: scope(0, 3) });
  });

  it("ask nothing for what is known, and nothing without a connection", async () => {
    questions.want(scope(0, 1), true);
    await rest();
    asked[0]?.answer(one);
    await rest();
    questions.want(scope(0, 2), true);
    questions.want(scope(0, 1), true);
    await rest();
    expect(asked).toHaveLength(1);
    expect(shown).toMatchObject({ isAsking: false, known: { dag: one } });
    questions.want(scope(0, 5), false);
    await rest();
    expect(asked).toHaveLength(1);
    expect(shown.why).toContain("no connection");
    questions.want(scope(0, 5), true);
    await rest();
    expect(asked).toHaveLength(2);
  });

  it("say why there is no answer, and ask again when they were only given up", async () => {
    questions.want(scope(0, 1), true);
    await rest();
    asked[0]?.fail(new GivenUp("newer ones"));
    await rest();
    expect(asked).toHaveLength(2);
    asked[1]?.fail(new Error("the messages of this run cannot be read here"));
    await rest();
    expect(shown).toMatchObject({ known: null, isAsking: false, why: "the messages of this run cannot be read here" });
  });

  it("are asked again on request, with what is known still shown", async () => {
    questions.again();
    questions.want(scope(0, 1), true);
    await rest();
    asked[0]?.answer(one);
    await rest();
    questions.again();
    expect(shown).toMatchObject({ isAsking: true, known: { dag: one } });
    await rest();
    asked[1]?.answer(other);
    await rest();
    expect(asked).toHaveLength(2);
    expect(shown.known?.dag).toBe(other);
  });

  it("stop when nobody looks", async () => {
    questions.want(scope(0, 1), true);
    questions.stop();
    await rest();
    expect(asked).toHaveLength(0);
  });
});

describe("the last second", () => {
  it("is whole, and all there is of a run that is shorter", () => {
    expect(lastSecond(29.7e9)).toEqual([28e9, 29e9]);
    expect(lastSecond(1e9)).toEqual([0, 1e9]);
    expect(lastSecond(0.4e9)).toEqual([0, 0.4e9]);
  });
});
