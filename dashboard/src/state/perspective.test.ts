import { describe, expect, it } from "vitest";
import type { PerspectiveMessage } from "../feed/message";
import { fadeNs } from "./clock";
import { firstPerspective, received, selectCommand } from "./perspective";

const bounds = { edgeNs: 100e9, liveNs: 100e9, over: false };
const message = (parts: Partial<PerspectiveMessage>): PerspectiveMessage => ({
  kind: "perspective", version: 1, mode: "paused", timeNs: 10e9, rate: 1, rangeNs: null, ranks: null, hidden: [], pages: 1, followers: 1, ...parts,
});

describe("perspective", () => {
  it("does not jump for messages that were longer on their way", () => {
    const playing = received(firstPerspective(), message({ mode: "playing", rate: 2 }), 1000, bounds);
    expect(received(playing, message({ mode: "playing", rate: 2, timeNs: 11.98e9 }), 2000, bounds).clock).toBe(playing.clock);
    expect(received(playing, message({ mode: "playing", rate: 2, timeNs: 40e9 }), 2000, bounds).clock).toMatchObject({ timeNs: 40e9, atMs: 2000 });
    expect(received(playing, message({ mode: "playing", rate: 4, timeNs: 12e9 }), 2000, bounds).clock.rate).toBe(4);
  });

  it("keeps the fade when it is paused", () => {
    const slow = received(firstPerspective(), message({ mode: "playing", rate: -0.01 }), 1000, bounds);
    const paused = received(slow, message({ rate: -0.01 }), 2000, bounds);
    expect(fadeNs(paused.clock)).toBe(fadeNs(slow.clock));
    const live = received(paused, message({ mode: "live", rate: -0.01 }), 3000, bounds);
    expect(fadeNs(received(live, message({ rate: -0.01 }), 4000, bounds).clock)).toBe(2e9);
  });

  it("selects whole nanoseconds around what was brushed", () => {
    expect(selectCommand({ rangeNs: [1.2, 8.3], ranks: [[0, 3]], hidden: new Set([12, 3]) })).toEqual({ do: "select", range_ns: [1, 9], ranks: [[0, 3]], hidden: [3, 12] });
    expect(selectCommand({ rangeNs: null, ranks: null, hidden: new Set() })).toEqual({ do: "select", range_ns: null, ranks: null, hidden: [] });
  });
});
