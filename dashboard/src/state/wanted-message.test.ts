import { describe, expect, it } from "vitest";
import type { GroupGraph } from "../feed/group-graph";
import type { MessageRows } from "../feed/messages";
import type { RankRanges, Span } from "./perspective";
import { type AskMessage, slowestMessage } from "./wanted-message";

const columns = (worst: readonly number[]): GroupGraph["links"] => ({
  length: worst.length, from: new Uint32Array(worst.length), to: new Uint32Array(worst.length), column: new Uint32Array(worst.length),
  messages: new Float64Array(worst.length), bytes: new Float64Array(worst.length), waitedNs: new Float64Array(worst.length), worst: Float64Array.from(worst),
  worstSrc: Uint32Array.from(worst, (_, at) => at), worstDst: Uint32Array.from(worst, (_, at) => at + 10),
  worstSendNs: Float64Array.from(worst, (_, at) => 100 * at), worstRecvNs: Float64Array.from(worst, (_, at) => 100 * at + 10 * (at + 1)),
});

/** Two messages are sent at once; the second is meant. */
const rowsAt = (sendNs: number, src: number): MessageRows => {
  const two = (first: number, second: number) => Float64Array.of(first, second);
  return {
    src: Uint32Array.of(src, src), dst: Uint32Array.of(src + 9, src + 10), tag: Int32Array.of(1, 2), comm: Uint32Array.of(0, 0), bytes: two(8, 16), sendNs: two(sendNs, sendNs),
    recvNs: two(sendNs + 1, sendNs + 10 * (src + 1)), tMsgNs: two(1, 2), lateSenderNs: two(0, 0), lateReceiverNs: two(0, 0), latency: two(1, 3), isInter: Uint32Array.of(0, 1), isExact: Uint32Array.of(1, 1), length: 2,
  } as unknown as MessageRows;
};

function asker(worst: readonly number[]): { ask: AskMessage; asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    ask: {
      answer: (_, fields) => {
        asked.push(fields);
        return Promise.resolve({ links: columns(worst) } as GroupGraph);
      },
      messages: (range: Span, ranks: RankRanges | null) => {
        asked.push([range, ranks]);
        return Promise.resolve(rowsAt(range[0], ranks?.[0]?.[0] ?? 0));
      },
    },
  };
}

describe("the slowest message", () => {
  it("is that with the highest latency, found again among those that were sent at once", async () => {
    const { ask, asked } = asker([1.5, 7, Number.NaN]);
    expect(await slowestMessage(ask, [[0, 7]], [5.5, 900])).toMatchObject({ src: 1, dst: 11, sendNs: 100, recvNs: 120, bytes: 16 });
    expect(asked).toEqual([{ from_ns: 5, to_ns: 900, ranks: [[0, 7]], by: "node" }, [[100, 101], [[1, 1]]]]);
  });

  it("is the longest where no latency is known, and none where there are no messages", async () => {
    expect(await slowestMessage(asker([Number.NaN, Number.NaN]).ask, null, null)).toMatchObject({ src: 1, dst: 11 });
    expect(await slowestMessage(asker([]).ask, null, null)).toBeNull();
  });
});
