import { describe, expect, it } from "vitest";
import { single } from "./fold";
import { type ArrowFrame, arrowAt, endsOf, inSight, relatedTo, worst } from "./arrows";
import { chances, madeCalls, type MadeMessage, madeMessages } from "./made-traffic";
import { opacityOf } from "./paint-arrows";
import { findMessage, meantMessages, pointedAt, type Scene } from "./pointing";
import { rowsByRank } from "./rows";
import { tracksOf } from "./tracks";

/** Rank 3 is above rank 1; others have no row. */
const ORDER = Uint32Array.of(3, 1);
const FRAME: ArrowFrame = { span: [0, 100], width: 200, height: 40, camera: { top: 0, rowPixels: 20 }, rowOf: rowsByRank(ORDER) };

function ends(message: MadeMessage): number[] | null {
  const into = new Float64Array(4);
  return endsOf(madeMessages([message]), 0, FRAME, into) ? [...into] : null;
}

describe("arrows", () => {
  it("run from where it was sent to where it was received", () => {
    expect(ends({ src: 1, dst: 3, at: [10, 60] })).toEqual([20, 30, 120, 10]);
  });

  it("end at the edge where a rank has no row, on its side", () => {
    expect(ends({ src: 1, dst: 0, at: [0, 50] })).toEqual([0, 30, 100, -20]);
    expect(ends({ src: 9, dst: 3, at: [0, 50] })).toEqual([0, 60, 100, 10]);
    expect(ends({ src: 0, dst: 9, at: [0, 50] })).toBeNull();
  });

  it("are in sight where something of them is", () => {
    const messages = madeMessages([{ src: 1, dst: 3, at: [-50, 50] }, { src: 1, dst: 3, at: [-50, -1] }, { src: 1, dst: 3, at: [101, 120] }, { src: 3, dst: 1, at: [-9, 200] }, { src: 0, dst: 9, at: [0, 5] }]);
    expect([...inSight(messages, FRAME, 0)]).toEqual([0, 3]);
    expect([...inSight(messages, FRAME, 10)]).toEqual([0, 1, 2, 3]);
    expect([...inSight(messages, { ...FRAME, camera: { top: 5, rowPixels: 20 } }, 0)]).toEqual([]);
  });

  it.each([1, 2, 3])("are the worst of many, as a plain sort finds them (%i)", (seed) => {
    const chance = chances(seed);
    const rows = Array.from({ length: 500 }, (): MadeMessage => {
      const from = Math.floor(chance() * 100);
      const known = chance() < 0.7;
      return { src: 1, dst: 3, at: [from, from + Math.floor(chance() * 20)], ...(known ? { latency: Math.floor(chance() * 8) } : {}) };
    });
    const messages = madeMessages(rows);
    const all = Uint32Array.from(rows, (_, at) => at);
    const sorted = [...all].sort((one, other) => {
      const [a, b] = [rows[one], rows[other]];
      return (b?.latency ?? -1) - (a?.latency ?? -1) || (b ? b.at[1] - b.at[0] : 0) - (a ? a.at[1] - a.at[0] : 0) || one - other;
    });
    for (const most of [1, 37, 250, 499, 500, 900]) expect([...worst(messages, all, most)]).toEqual(sorted.slice(0, most).sort((one, other) => one - other));
  });

  it("are fainter the more there are", () => {
    const steps = [1, 100, 1000, 4000].map(opacityOf);
    expect(steps.every((each, at) => each > 0 && each <= (steps[at - 1] ?? 1))).toBe(true);
  });

  it("belong to the call in which they were sent or received", () => {
    const messages = madeMessages([{ src: 1, dst: 3, at: [10, 60] }, { src: 1, dst: 3, at: [30, 70] }, { src: 3, dst: 1, at: [0, 12] }, { src: 1, dst: 1, at: [11, 80] }]);
    expect(relatedTo(messages, 1, 10, 20)).toEqual([0, 2, 3]);
    expect(relatedTo(messages, 3, 60, 65)).toEqual([0]);
  });
});

describe("what is pointed at", () => {
  const calls = madeCalls([{ rank: 3, from: 0, to: 40 }, { rank: 1, from: 50, to: 90, id: 2 }]);
  const messages = madeMessages([{ src: 3, dst: 1, at: [0, 90] }]);
  const scene: Scene = {
    frame: FRAME, rows: single(ORDER), shares: null, hidden: new Set(), calls, tracks: tracksOf(calls), messages, arrows: Uint32Array.of(0),
    inFlight: { total: 1, length: 1, rank: Uint32Array.of(3), thread: Uint32Array.of(0), function: Uint32Array.of(1), sinceNs: Float64Array.of(95) }, edgeNs: 99,
  };

  it("is the row's head, a bar, an arrow beside bars or right on one, a call that still runs, or nothing", () => {
    expect(pointedAt(scene, -5, 25)).toEqual({ kind: "head", rank: 1 });
    expect(pointedAt(scene, 60, 3)).toEqual({ kind: "call", rank: 3, call: 0, count: 1 });
    expect(pointedAt(scene, 0, 10)).toEqual({ kind: "message", message: 0 });
    expect(pointedAt(scene, 92, 21)).toEqual({ kind: "message", message: 0 });
    expect(pointedAt(scene, 194, 5)).toEqual({ kind: "running", rank: 3, at: 0 });
    expect(pointedAt(scene, 199, 5)).toBeNull();
    expect(pointedAt(scene, 150, 100)).toBeNull();
    expect(pointedAt({ ...scene, hidden: new Set([1]) }, 60, 3)).toBeNull();
  });

  it("means the messages of the call, else of what is selected", () => {
    const message = { src: 3, dst: 1, tag: null, comm: null, bytes: 8, sendNs: 0, recvNs: 90, tMsgNs: 9, lateSenderNs: 0, lateReceiverNs: 0, latency: null, isInter: false, isExact: true };
    const selected = { kind: "message", message } as const;
    expect(meantMessages(scene, { kind: "call", rank: 1, call: 1, count: 1 }, null)).toEqual([0]);
    expect(meantMessages(scene, { kind: "message", message: 0 }, null)).toEqual([0]);
    expect(meantMessages(scene, null, selected)).toEqual([0]);
    expect(meantMessages(scene, null, { kind: "rank", rank: 3 })).toEqual([]);
    expect(findMessage(messages, { ...message, recvNs: 91 })).toBe(-1);
  });

  it("is the nearest arrow within reach", () => {
    const two = madeMessages([{ src: 3, dst: 1, at: [0, 0] }, { src: 3, dst: 1, at: [10, 10] }]);
    expect(arrowAt(two, Uint32Array.of(0, 1), FRAME, 17, 20, 5)).toEqual({ message: 1, away: 3 });
    expect(arrowAt(two, Uint32Array.of(0, 1), FRAME, 10, 20, 5).message).toBe(-1);
    expect(arrowAt(two, Uint32Array.of(0), FRAME, 17, 20, 5).message).toBe(-1);
  });
});
