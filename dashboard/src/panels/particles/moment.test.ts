import { describe, expect, it } from "vitest";
import { makeCalls, type MadeCall } from "./made-calls";
import { place, type Moment, type Placed } from "./moment";
import { pack } from "./pack";
import { everyOne } from "./sampling";
import { heightOf } from "./scale";

const colours = new Uint8Array(4096 * 4).fill(255);

function moment(timeNs: number, more: Partial<Moment> = {}): Moment {
  return {
    timeNs, fadeNs: 2e9, scale: { unitNs: 1e3, topNs: 1e9 }, ranks: 4, widthPx: 400, heightPx: 300, rimPx: 8, sizePx: 4,
    clearedNs: Number.NEGATIVE_INFINITY, colours, ranksShown: null, ink: [1, 1, 1], ...more,
  };
}

function placed(call: MadeCall, at: Moment): Placed | null {
  const into: Placed = { xPx: 0, yPx: 0, strength: 0, running: false, function: 0 };
  return place(at, everyOne(pack(makeCalls(1e12, 1e12 + 1e9, [call]))), 0, into) ? into : null;
}

describe("a particle", () => {
  const call = { startNs: 1e12 + 1e6, durationNs: 5e6, rank: 2, function: 7 };
  const endNs = call.startNs + call.durationNs;

  it("is not there before its call", () => {
    expect(placed(call, moment(call.startNs - 1000))).toBeNull();
  });

  it("rises with its age while the call runs", () => {
    const half = placed(call, moment(call.startNs + 2e6))!;
    expect(half).toMatchObject({ running: true, strength: 1, function: 7 });
    expect(half.yPx).toBeCloseTo(300 * heightOf(2e6, { unitNs: 1e3, topNs: 1e9 }), 3);
    expect(half.xPx).toBeGreaterThan(200);
    expect(half.xPx).toBeLessThan(300);
  });

  it("stands at its duration and fades evenly until it is gone", () => {
    const ended = placed(call, moment(endNs + 0.5e9))!;
    expect(ended.running).toBe(false);
    expect(ended.strength).toBeCloseTo(0.75, 4);
    expect(ended.yPx).toBeCloseTo(300 * heightOf(5e6, { unitNs: 1e3, topNs: 1e9 }), 3);
    expect(placed(call, moment(endNs + 2e9 - 1e4))!.strength).toBeLessThan(0.001);
    expect(placed(call, moment(endNs + 2e9 + 1e4))).toBeNull();
  });

  it("is gone when fading was cleared after its end, not when it ended later", () => {
    expect(placed(call, moment(endNs + 1e9, { clearedNs: endNs + 1e6 }))).toBeNull();
    expect(placed(call, moment(endNs + 1e9, { clearedNs: endNs - 1e6 }))).not.toBeNull();
    expect(placed(call, moment(call.startNs + 1e6, { clearedNs: endNs + 1e6 }))).not.toBeNull();
  });

  it("is not drawn when its function or rank is hidden", () => {
    const hidden = colours.slice();
    hidden[7 * 4 + 3] = 0;
    expect(placed(call, moment(endNs, { colours: hidden }))).toBeNull();
    expect(placed(call, moment(endNs, { ranksShown: Uint8Array.of(1, 1, 0, 1) }))).toBeNull();
    expect(placed(call, moment(endNs, { ranksShown: Uint8Array.of(0, 0, 1, 0) }))).not.toBeNull();
  });
});
