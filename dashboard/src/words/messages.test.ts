import { describe, expect, it } from "vitest";
import { emptyRun } from "../state/run";
import { missingWords, partIs, type Shown, shownWords, tellMessage } from "./messages";

const message = { src: 3, dst: 4, tag: null, comm: 0, bytes: 2048, sendNs: 1e9, recvNs: 1.002e9, tMsgNs: 5e5, lateSenderNs: 1500, lateReceiverNs: 0, latency: 2.5, isInter: true, isExact: false };
const shown: Shown = { ranks: 64, inSight: 64, isCrowded: false, isTime: false, isShares: false, windowNs: 0, calls: 1200, allFromNs: 0, share: 1, arrows: "all", drawn: 30, messages: 30, messagesShare: 1, messagesWhy: "", hidden: 0 };
const plain = (text: string): string => text.replaceAll("\u2009", " ");

describe("a message in words", () => {
  it("has its ends, its times and what they mean, and nothing that is not known", () => {
    const { title, rows } = tellMessage(message, emptyRun());
    expect(title).toBe("Message from 3 to 4");
    expect(rows.map(([name]) => name)).toEqual(["From", "To", "Bytes", "Communicator", "Sent", "Received", "Time", "Latency L", "Late sender"]);
    const values = Object.fromEntries(rows.map(([name, value]) => [name, plain(value)]));
    expect(values).toMatchObject({ From: "rank 3", Bytes: "2.00 KiB (2 048)", Sent: "0:00:01.000000000", Time: "\u2264 500 µs", "Latency L": "2.50", "Late sender": "1.50 µs" });
    expect(tellMessage({ ...message, isExact: true }, emptyRun()).rows.find(([name]) => name === "Time")?.[1]).toBe("500 µs");
  });
});

describe("a picture in words", () => {
  it("says what is drawn", () => {
    expect(plain(shownWords(shown))).toBe("64 ranks; 1 200 calls, each a bar; 30 messages");
    expect(plain(shownWords({ ...shown, isCrowded: true, isTime: true, messages: 99 }))).toBe("64 ranks, several to a line; 1 200 calls, how much of the time was spent in MPI; 30 of 99 messages");
    expect(plain(shownWords({ ...shown, isTime: true, isShares: true, windowNs: 2e6 }))).toBe("64 ranks; what time was spent on: exact sums of all calls, in windows of 2.00 ms. Zoom in for calls and arrows");
    expect(missingWords({ ...shown, isTime: true, isShares: true, share: 0.5, messagesShare: 0.5, drawn: 0 })).toBe("");
    expect(shownWords({ ...shown, inSight: 16 })).toMatch(/^16 of 64 ranks; /);
    expect(shownWords({ ...shown, arrows: "none" })).toContain("no arrows");
    expect(missingWords(shown)).toBe("");
  });

  it("says what is left out, with the part that is not", () => {
    expect(plain(missingWords({ ...shown, share: 1 / 12, allFromNs: 40_000, messagesShare: 0.8, messages: 31, hidden: 2 })))
      .toBe("Calls under 40.0 µs: 1 in 12 is drawn, longer ones all. Messages: 80.0 % are known. Arrows: the highest latencies, then the longest. 2 functions are hidden.");
    expect(missingWords({ ...shown, share: 0.1, allFromNs: 40_000, isTime: true })).toContain("1 in 10 is known and counted for the others.");
    expect(missingWords({ ...shown, messagesWhy: "The server did not answer." })).toBe("Messages are missing: The server did not answer.");
    expect(partIs(1 / 3)).toBe("1 in 3 is");
  });
});
