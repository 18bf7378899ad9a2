import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GivenUp } from "../asks";
import { REST_MS } from "./asking";
import { Newest, type NewestFigures } from "./newest";

type Scope = readonly [from: number, to: number];
interface Answered { scope: Scope; text: string }

const scope = (from: number, to: number): Scope => [from, to];

describe("questions where the newest counts", () => {
  let asked: { scope: Scope; answer: (text: string) => void; fail: (reason: Error) => void }[];
  let shown: NewestFigures<Answered>;
  let questions: Newest<Scope, Answered>;
  const [one, other] = ["one", "other"];
  const rest = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1000);

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    const ask = (wanted: Scope): Promise<Answered> => new Promise((resolve, fail) => asked.push({ scope: wanted, answer: (text) => resolve({ scope: wanted, text }), fail }));
    questions = new Newest(ask, (figures) => (shown = figures));
  });
  afterEach(() => vi.useRealTimers());

  it("are asked once a scope stays", async () => {
    questions.want(scope(0, 1), true);
    questions.want(scope(0, 2), true);
    questions.want(scope(0, 3), true);
    expect(shown).toMatchObject({ isAsking: true });
    await rest();
    expect(asked.map((each) => each.scope)).toEqual([[0, 3]]);
    asked[0]?.answer(one);
    await rest();
    expect(shown).toEqual({ known: { text: one, scope: scope(0, 3) }, isAsking: false, why: "" });
  });

  it("are asked at once where nothing is known yet, and later once a scope stays", async () => {
    questions.want(scope(0, 1), true);
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(1);
    asked[0]?.answer(one);
    questions.want(scope(0, 2), true);
    await vi.advanceTimersByTimeAsync(REST_MS - 1);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(2);
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
    expect(shown.known?.text).toBe(one);
    expect(shown.isAsking).toBe(true);
    asked[2]?.answer(other);
    await rest();
    expect(shown.known).toEqual({ text: other, scope: scope(0, 3) });
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
    expect(shown).toMatchObject({ isAsking: false, known: { text: one } });
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
    expect(shown).toMatchObject({ isAsking: true, known: { text: one } });
    await rest();
    asked[1]?.answer(other);
    await rest();
    expect(asked).toHaveLength(2);
    expect(shown.known?.text).toBe(other);
  });

  it("stop when nobody looks", async () => {
    questions.want(scope(0, 1), true);
    questions.stop();
    await rest();
    expect(asked).toHaveLength(0);
  });
});
