import { describe, expect, it } from "vitest";
import { answer } from "./answer";
import { NO_TAG, NONE } from "./calls";
import { messageText } from "./messages";

const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values, (value) => value >>> 0).buffer);
const f64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

const messages = {
  from_ns: 0, to_ns: 100, total: 8, share: 0.25, src: u32(0, 3), dst: u32(1, 2), tag: u32(-5, NO_TAG), comm: u32(0, NONE), bytes: f64(8, 2 ** 40), send_ns: f64(1, 2), recv_ns: f64(9, 50),
  t_msg_ns: f64(8, 40), late_sender_ns: f64(0, 3), late_receiver_ns: f64(0, 0), latency: f64(1.5, Number.NaN), is_inter: u32(0, 1), is_exact: u32(1, 0),
};
const read = (part: object = {}) => answer({ id: 3, messages: { ...messages, ...part } }).messages;

describe("messages", () => {
  it("are read as columns, and one by itself with what is not there", () => {
    const rows = read();
    if (!rows) throw new Error("there are none");
    expect(rows).toMatchObject({ length: 2, total: 8, share: 0.25, fromNs: 0, toNs: 100 });
    expect(messageText(rows, 0)).toEqual({
      src: 0, dst: 1, tag: -5, comm: 0, bytes: 8, sendNs: 1, recvNs: 9, tMsgNs: 8, lateSenderNs: 0, lateReceiverNs: 0, latency: 1.5, isInter: false, isExact: true,
    });
    expect(messageText(rows, 1)).toMatchObject({ src: 3, tag: null, comm: null, bytes: 2 ** 40, lateSenderNs: 3, latency: null, isInter: true, isExact: false });
  });

  it("may be received before they were sent: clocks agree only so well", () => {
    expect(read({ recv_ns: f64(0, 50) })?.recvNs[0]).toBe(0);
  });

  it.each([
    [{ src: u32(0) }, /"dst" of messages is 2 long where others are 1/], [{ dst: u32(1, 0xffffffff) }, /no job has/], [{ send_ns: f64(1, Number.NaN) }, /time that is none/],
    [{ bytes: f64(-1, 0) }, /size or a delay/], [{ latency: f64(-1, 1) }, /latency that is none/], [{ share: 0 }, /no share/], [{ total: 1 }, /more messages than/],
  ])("are refused where they are none (%#)", (part, words) => {
    expect(() => read(part)).toThrow(words);
  });
});
