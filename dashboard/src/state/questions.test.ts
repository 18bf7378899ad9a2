import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GivenUp } from "../asks";
import { type Figures, Questions } from "./questions";

interface Scope { of: string; toNs: number }

describe("questions whose answers grow old", () => {
  let asked: { scope: Scope; answer: (value: string) => void; fail: (reason: Error) => void }[];
  let shown: Figures<Scope, string>;
  let questions: Questions<Scope, string>;
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
  const at = (index: number) => asked[index] ?? expect.fail(`nothing was asked for the ${index + 1}th time`);

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    questions = new Questions((scope) => new Promise((answer, fail) => asked.push({ scope, answer, fail })), ({ of }) => of, (figures) => (shown = figures), () => Date.now());
  });
  afterEach(() => vi.useRealTimers());

  it("are asked once a scope stays", async () => {
    for (const of of ["a", "b", "c"]) {
      questions.want({ of, toNs: 1 }, true);
      await pass(50);
    }
    await pass(500);
    expect(asked.map(({ scope }) => scope.of)).toEqual(["c"]);
    at(0).answer("found");
    await pass(10_000);
    expect(shown).toEqual({ known: { answer: "found", scope: { of: "c", toNs: 1 } }, isOther: false, isAsking: false, why: "" });
    expect(asked).toHaveLength(1);
  });

  it("come again at leisure as a run grows, and never wait for it to stop", async () => {
    questions.want({ of: "run", toNs: 0 }, true);
    await pass(300);
    for (let second = 1; second <= 20; second++) {
      questions.want({ of: "run", toNs: second }, true);
      asked.at(-1)?.answer(`up to ${asked.at(-1)?.scope.toNs}`);
      await pass(1000);
    }
    expect(asked.length).toBeGreaterThan(6);
    expect(asked.length).toBeLessThan(12);
    expect(shown.known?.scope.toNs).toBeGreaterThan(15);
  });

  it("are one at a time: while one is away, the next waits for it", async () => {
    questions.want({ of: "run", toNs: 1 }, true);
    await pass(300);
    questions.want({ of: "run", toNs: 2 }, true);
    await pass(9000);
    expect(asked).toHaveLength(1);
    at(0).answer("slow");
    await pass(0);
    expect(shown.known?.answer).toBe("slow");
    // It took nine seconds: there is no hurry.
    await pass(30_000);
    expect(asked).toHaveLength(1);
    await pass(10_000);
    expect(asked).toHaveLength(2);
  });

  it("keep what is known while something else is asked, and say that it is of something else", async () => {
    questions.want({ of: "a", toNs: 1 }, true);
    await pass(300);
    at(0).answer("of a");
    await pass(0);
    questions.want({ of: "b", toNs: 1 }, true);
    expect(shown).toMatchObject({ known: { answer: "of a" }, isOther: true, isAsking: true });
    await pass(300);
    questions.want({ of: "c", toNs: 1 }, true);
    at(1).answer("of b");
    await pass(0);
    expect(shown.known?.answer).toBe("of a");
    await pass(300);
    at(2).answer("of c");
    await pass(0);
    expect(shown).toMatchObject({ known: { answer: "of c" }, isOther: false, isAsking: false });
  });

  it("say why there is no answer, and are asked again when they were only given up", async () => {
    questions.want({ of: "a", toNs: 1 }, true);
    await pass(300);
    at(0).fail(new GivenUp("newer ones"));
    await pass(300);
    at(1).fail(new Error("there is one node"));
    await pass(10_000);
    expect(asked).toHaveLength(2);
    expect(shown).toMatchObject({ known: null, isAsking: false, why: "there is one node" });
    questions.again();
    await pass(0);
    at(2).answer("found");
    await pass(0);
    expect(shown).toMatchObject({ known: { answer: "found" }, isAsking: false, why: "" });
  });

  it("ask nobody without a connection, and go on with the next one", async () => {
    questions.want({ of: "a", toNs: 1 }, false);
    await pass(1000);
    expect([asked.length, shown.why]).toEqual([0, "there is no connection to ask over"]);
    questions.want({ of: "a", toNs: 1 }, true);
    await pass(300);
    at(0).answer("found");
    await pass(0);
    questions.want({ of: "a", toNs: 1 }, false);
    expect(shown).toMatchObject({ known: { answer: "found" }, why: "" });
  });

  it("stop when nobody looks", async () => {
    questions.want({ of: "a", toNs: 1 }, true);
    questions.stop();
    await pass(1000);
    expect(asked).toHaveLength(0);
  });
});
