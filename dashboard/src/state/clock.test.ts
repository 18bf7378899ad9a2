import { describe, expect, it } from "vitest";
import { type Bounds, type Clock, commanded, fadeNs, LiveTime, nextStep, RATES, settled, timeAt } from "./clock";

const S = 1e9;
const running: Bounds = { edgeNs: 100 * S, liveNs: 99.9 * S, over: false };
const ended: Bounds = { edgeNs: 100 * S, liveNs: 100 * S, over: true };
const at = (mode: Clock["mode"], timeNs: number, rate = 1): Clock => ({ mode, timeNs, rate, atMs: 1000 });

describe("clock", () => {
  it("moves while it plays, in both directions and at any rate", () => {
    expect(timeAt(at("playing", 10 * S), 3000, running)).toBe(12 * S);
    expect(timeAt(at("playing", 10 * S, -2), 3000, running)).toBe(6 * S);
    expect(timeAt(at("playing", 10 * S, 0.001), 3000, running)).toBe(10.002 * S);
    expect(timeAt(at("paused", 10 * S, 5), 3000, running)).toBe(10 * S);
    expect(timeAt(at("live", 0), 3000, running)).toBe(99.9 * S);
  });

  it("never leaves the run", () => {
    expect(timeAt(at("playing", 99 * S, 100), 3000, running)).toBe(100 * S);
    expect(timeAt(at("playing", 1 * S, -1), 3000, running)).toBe(0);
  });

  it("stands at the ends, or is live again at the moving one", () => {
    expect(settled(at("playing", 1 * S, -1), 3000, running)).toMatchObject({ mode: "paused", timeNs: 0 });
    expect(settled(at("playing", 99 * S), 3000, ended)).toMatchObject({ mode: "paused", timeNs: 100 * S });
    expect(settled(at("playing", 99 * S, 10), 3000, running)).toMatchObject({ mode: "live", rate: 1 });
    const going = at("playing", 10 * S);
    expect(settled(going, 3000, running)).toBe(going);
  });

  it("does what is commanded", () => {
    expect(commanded(at("live", 0), { do: "pause" }, 2000, running)).toEqual({ mode: "paused", timeNs: 99.9 * S, rate: 1, atMs: 2000 });
    expect(commanded(at("playing", 10 * S, -2), { do: "seek", time_ns: 50 * S }, 2000, running)).toMatchObject({ mode: "playing", timeNs: 50 * S, rate: -2 });
    expect(commanded(at("live", 0), { do: "seek", time_ns: 500 * S }, 2000, running)).toMatchObject({ mode: "paused", timeNs: 100 * S });
    expect(commanded(at("playing", 10 * S), { do: "step", by_ns: -0.5 * S }, 2000, running)).toMatchObject({ mode: "paused", timeNs: 10.5 * S });
    expect(commanded(at("paused", 10 * S), { do: "rate", rate: 0.01 }, 2000, running)).toMatchObject({ mode: "paused", timeNs: 10 * S, rate: 0.01 });
    expect(commanded(at("live", 0), { do: "rate", rate: 0.01 }, 2000, running)).toMatchObject({ mode: "live", rate: 1 });
    expect(commanded(at("paused", 10 * S), { do: "play", rate: -0.5 }, 2000, running)).toMatchObject({ mode: "playing", timeNs: 10 * S, rate: -0.5 });
    expect(commanded(at("paused", 10 * S, 5), { do: "live" }, 2000, running)).toMatchObject({ mode: "live", rate: 1 });
  });

  it("fades for two seconds of the viewer", () => {
    expect(fadeNs(at("live", 0, 1))).toBe(2 * S);
    expect(fadeNs(at("playing", 0, -0.01))).toBe(0.02 * S);
    expect(fadeNs(at("playing", 0, 0))).toBeGreaterThan(0);
  });

  it("has a ladder of rates in logarithmic steps", () => {
    expect(RATES[0]).toBe(0.001);
    expect(RATES.at(-1)).toBe(100);
    expect(nextStep(RATES, 1, 1)).toBe(2);
    expect(nextStep(RATES, 1, -1)).toBe(0.5);
    expect(nextStep(RATES, 100, 1)).toBe(100);
    expect(nextStep(RATES, 0.7, -1)).toBe(0.5);
  });
});

describe("live time", () => {
  it("runs evenly over uneven news and never back", () => {
    const live = new LiveTime();
    let before = 0;
    let most = 0;
    for (let ms = 0; ms < 10_000; ms += 16) {
      // News each 96 ms, alternately 0 and 60 ms old.
      if (ms % 96 === 0) live.heard((5000 + ms - (ms % 192 === 0 ? 60 : 0)) * 1e6, ms);
      const now = live.at(ms, false);
      expect(now).toBeGreaterThanOrEqual(before);
      if (ms > 2000) most = Math.max(most, now - before);
      before = now;
    }
    expect(most).toBeLessThan(40e6);
    expect(Math.abs(before - 15_000e6)).toBeLessThan(150e6);
  });

  it("does not move without news, and jumps when it was far away", () => {
    const live = new LiveTime();
    live.heard(5e9, 0);
    expect(live.at(0, false)).toBe(5e9);
    let now = 0;
    for (let ms = 0; ms < 5000; ms += 16) now = live.at(ms, false);
    expect(now).toBeLessThan(5.5e9);
    live.heard(60e9, 5000);
    expect(live.at(5000, false)).toBe(60e9);
    expect(live.at(9000, true)).toBe(60e9);
  });
});
