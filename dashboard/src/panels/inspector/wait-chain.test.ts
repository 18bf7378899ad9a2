import { describe, expect, it } from "vitest";
import type { MessageRows } from "../../feed/messages";
import { type AskMessages, waitChain } from "./wait-chain";

interface Sent { src: number; dst: number; sendNs: number; recvNs: number; lateNs: number; isExact?: boolean }

function rowsOf(all: readonly Sent[]): MessageRows {
  const f64 = (of: (message: Sent) => number): Float64Array => Float64Array.from(all, of);
  const u32 = (of: (message: Sent) => number): Uint32Array => Uint32Array.from(all, of);
  return {
    fromNs: 0, toNs: 1e9, total: all.length, share: 1, length: all.length, src: u32(({ src }) => src), dst: u32(({ dst }) => dst), tag: new Int32Array(all.length), comm: u32(() => 0), bytes: f64(() => 8),
    sendNs: f64(({ sendNs }) => sendNs), recvNs: f64(({ recvNs }) => recvNs), tMsgNs: f64(() => 10), lateSenderNs: f64(({ lateNs }) => lateNs), lateReceiverNs: f64(() => 0), latency: f64(() => 1),
    isInter: u32(() => 0), isExact: u32(({ isExact }) => Number(isExact ?? true)),
  };
}

/** As the daemon answers: messages from or to the rank that lie in the span at least in part. */
const asked = (all: readonly Sent[]): AskMessages => ([from, to], rank) =>
  Promise.resolve(rowsOf(all.filter(({ src, dst, sendNs, recvNs }) => (src === rank || dst === rank) && recvNs >= from && sendNs < to)));

describe("the chain of waits", () => {
  const chain: Sent[] = [
    { src: 1, dst: 0, sendNs: 900, recvNs: 1000, lateNs: 400 },
    // Rank 1 waited as long for rank 2 before it sent, and rank 2 for nobody.
    { src: 2, dst: 1, sendNs: 850, recvNs: 880, lateNs: 380 },
    { src: 0, dst: 1, sendNs: 100, recvNs: 200, lateNs: 900 },
    { src: 1, dst: 2, sendNs: 700, recvNs: 710, lateNs: 5 },
  ];

  it("leads to the rank that waited for nobody", async () => {
    const { first, steps, isCut } = await waitChain(asked(chain), 0, 500, 1000);
    expect(first).toMatchObject({ src: 1, dst: 0, lateSenderNs: 400 });
    expect(steps.map(({ src, dst }) => [src, dst])).toEqual([[2, 1]]);
    expect(isCut).toBe(false);
  });

  it("is empty of a call that received nothing, and of one that did not wait", async () => {
    expect(await waitChain(asked(chain), 0, 0, 400)).toEqual({ first: null, steps: [], isCut: false });
    expect((await waitChain(asked([{ src: 1, dst: 0, sendNs: 10, recvNs: 300, lateNs: 0 }]), 0, 200, 300)).steps).toEqual([]);
  });

  it("takes the exact message of several, and is cut where it does not end", async () => {
    const two: Sent[] = [{ src: 3, dst: 0, sendNs: 900, recvNs: 1000, lateNs: 500, isExact: false }, { src: 1, dst: 0, sendNs: 950, recvNs: 1000, lateNs: 400 }];
    expect((await waitChain(asked(two), 0, 500, 1000)).first?.src).toBe(1);
    const long = Array.from({ length: 20 }, (_, at): Sent => ({ src: at + 1, dst: at, sendNs: 100_000 - 100 * at - 50, recvNs: 100_000 - 100 * at, lateNs: 1000 }));
    const found = await waitChain(asked(long), 0, 99_000, 100_000);
    expect([found.steps.length, found.isCut]).toEqual([8, true]);
  });
});
