import { describe, expect, it } from "vitest";
import { Asks, GivenUp, OUTSTANDING_MAX, QUEUED_MAX, REPLACED } from "./asks";

function setup() {
  const sent: Record<string, unknown>[] = [];
  const time = { ms: 0 };
  const asks = new Asks(() => time.ms);
  asks.open((message) => sent.push(message));
  return { asks, sent, time };
}

describe("asks", () => {
  it("has at most eight on their way, and the next when one is answered", async () => {
    const { asks, sent } = setup();
    const first = asks.ask({ ask: "calls", from_ns: 0 });
    for (let index = 1; index < 12; index++) void asks.ask({ ask: "calls", from_ns: index }).catch(() => undefined);
    expect(sent).toHaveLength(OUTSTANDING_MAX);
    asks.answered({ kind: "answer", id: Number(sent[0]?.["id"]) });
    expect(await first).toMatchObject({ kind: "answer" });
    expect(sent).toHaveLength(OUTSTANDING_MAX + 1);
    expect(new Set(sent.map((message) => message["id"])).size).toBe(sent.length);
  });

  it("gives up the oldest that wait", async () => {
    const { asks } = setup();
    const results: Promise<unknown>[] = [];
    for (let index = 0; index < OUTSTANDING_MAX + QUEUED_MAX + 1; index++) results.push(asks.ask({ ask: "calls" }).catch((reason: unknown) => reason));
    expect(await results[OUTSTANDING_MAX]).toBeInstanceOf(GivenUp);
  });

  it("sends a ping before what waits", () => {
    const { asks, sent } = setup();
    for (let index = 0; index < OUTSTANDING_MAX + 3; index++) void asks.ask({ ask: "calls" });
    void asks.ask({ ask: "ping" });
    asks.answered({ kind: "answer", id: Number(sent[0]?.["id"]) });
    expect(sent.at(-1)).toMatchObject({ ask: "ping" });
  });

  it("takes a question that another view replaced for given up, to be asked again", async () => {
    const { asks, sent } = setup();
    const replaced = asks.ask({ ask: "shares" });
    const newer = asks.ask({ ask: "shares" });
    asks.answered({ kind: "answer", id: Number(sent[0]?.["id"]), error: REPLACED });
    asks.answered({ kind: "answer", id: Number(sent[1]?.["id"]), error: "There are none." });
    await expect(replaced).rejects.toBeInstanceOf(GivenUp);
    await expect(newer).rejects.not.toBeInstanceOf(GivenUp);
  });

  it("says errors, timeouts and lost connections", async () => {
    const { asks, sent, time } = setup();
    const wrong = asks.ask({ ask: "history" });
    asks.answered({ kind: "answer", id: Number(sent[0]?.["id"]), error: "There is none." });
    await expect(wrong).rejects.toThrow("There is none.");
    const slow = asks.ask({ ask: "history" });
    time.ms = 60_000;
    asks.expire();
    await expect(slow).rejects.toThrow(/did not answer/);
    const lost = asks.ask({ ask: "history" });
    asks.close();
    await expect(lost).rejects.toThrow(/connection/);
  });

  it("keeps questions of a page that is not connected yet", () => {
    const asks = new Asks(() => 0);
    void asks.ask({ ask: "timeline" });
    const sent: unknown[] = [];
    asks.open((message) => sent.push(message));
    expect(sent).toHaveLength(1);
  });
});
