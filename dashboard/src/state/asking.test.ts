import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GivenUp } from "../asks";
import { Asking, type Outcome } from "./asking";

describe("questions where the newest counts", () => {
  let wanted: string | null;
  let sent: { scope: string; answer: (text: string) => void; fail: (reason: Error) => void }[];
  let taken: [scope: string, outcome: Outcome<string>][];
  let asking: Asking<string, string>;
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  beforeEach(() => {
    vi.useFakeTimers();
    [wanted, sent, taken] = ["a", [], []];
    asking = new Asking(() => wanted, (scope) => new Promise((answer, fail) => sent.push({ scope, answer, fail })), (outcome, scope) => taken.push([scope, outcome]), () => Date.now());
  });
  afterEach(() => vi.useRealTimers());

  it("are of what is wanted when their time has come, and of nothing where nothing is", async () => {
    asking.askIn(100);
    expect([asking.isWaiting, asking.isAway]).toEqual([true, false]);
    wanted = "b";
    await pass(100);
    expect([sent.map(({ scope }) => scope), asking.isWaiting, asking.isAway]).toEqual([["b"], false, true]);
    wanted = null;
    asking.askNow();
    expect(sent).toHaveLength(1);
  });

  it("have one answer each, which is nobody's after a newer one", async () => {
    asking.askNow();
    asking.askNow();
    await pass(40);
    sent[1]?.answer("new");
    await pass(0);
    sent[0]?.answer("old");
    await pass(0);
    expect(taken).toEqual([["a", { answer: "new" }]]);
    expect([asking.isAway, asking.tookMs]).toEqual([false, 40]);
  });

  it("say why there is no answer, and tell what failed from what was only given up", async () => {
    asking.askNow();
    sent[0]?.fail(new Error("there is none"));
    await pass(0);
    asking.askNow();
    sent[1]?.fail(new GivenUp("newer ones"));
    await pass(0);
    expect(taken).toEqual([["a", { why: "there is none" }], ["a", null]]);
  });

  it("are for nothing once they are dropped, and go on while only what waits is taken back", async () => {
    asking.askNow();
    asking.askIn(100);
    asking.cancel();
    sent[0]?.answer("still wanted");
    await pass(200);
    expect([taken.length, sent.length]).toEqual([1, 1]);
    asking.askNow();
    asking.askIn(100);
    asking.drop();
    sent[1]?.answer("not wanted");
    await pass(200);
    expect([taken.length, sent.length, asking.isAway]).toEqual([1, 2, false]);
  });
});
