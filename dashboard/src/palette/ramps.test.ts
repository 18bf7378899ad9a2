import { describe, expect, it } from "vitest";
import { contrast } from "./colour";
import { amountPart, amountRamp, amountTicks, latencyColour, latencyPart, latencyRamp, loadRamp, STEPS, UNKNOWN_TONE } from "./ramps";
import { distance, VISIONS } from "./vision";

const GROUND = { dark: "#14171b", light: "#ffffff" };
/** Steps of hex colours are rounded; over this many rounding no longer counts. */
const STRIDE = 8;

function steps(ramp: readonly string[], from = 0, to = STEPS): number[] {
  const found: number[] = [];
  for (let step = from; step + STRIDE <= to; step += STRIDE) found.push(distance(ramp[step] ?? "", ramp[step + STRIDE] ?? "", "usual"));
  return found;
}

describe.each(["dark", "light"] as const)("the %s scales", (theme) => {
  it("stand out from the canvas", () => {
    for (const colour of [...latencyRamp(theme), ...amountRamp(theme), ...loadRamp(theme), UNKNOWN_TONE[theme]]) expect(contrast(colour, GROUND[theme])).toBeGreaterThanOrEqual(3);
  });

  it("are even", () => {
    for (const found of [steps(latencyRamp(theme)), steps(amountRamp(theme)), steps(loadRamp(theme))]) {
      expect(Math.max(...found) / Math.min(...found)).toBeLessThan(1.5);
      expect(Math.min(...found)).toBeGreaterThan(0.03);
    }
  });

  it.each(VISIONS)("tell low, usual and high latency apart under %s vision", (vision) => {
    const [low, usual, high] = [0.25, 1, 4].map((latency) => latencyColour(latency, theme));
    for (const [one, other] of [[low, usual], [usual, high], [low, high]]) expect(distance(one ?? "", other ?? "", vision)).toBeGreaterThan(0.09);
  });

  it.each(VISIONS)("have more amount always lighter, or always darker, under %s vision", (vision) => {
    const ramp = amountRamp(theme);
    // The further from the ground the more.
    const away = ramp.map((colour) => distance(colour, GROUND[theme], vision));
    for (let step = STRIDE; step <= STEPS; step += STRIDE) expect(away[step]).toBeGreaterThan(away[step - STRIDE] ?? Infinity);
  });
});

describe.each(["dark", "light"] as const)("the scale of load, %s", (theme) => {
  it.each(VISIONS)("tells even, uneven and very uneven apart under %s vision", (vision) => {
    const [even = "", uneven = "", very = ""] = [0, STEPS / 2, STEPS].map((step) => loadRamp(theme)[step]);
    for (const [one, other] of [[even, uneven], [uneven, very]] as const) expect(distance(one, other, vision)).toBeGreaterThan(0.09);
  });
});

describe("places on the scales", () => {
  it("are by factors of latency", () => {
    expect([0.25, 0.5, 1, 2, 4, 100, 0].map(latencyPart)).toEqual([0, 0.25, 0.5, 0.75, 1, 1, 0]);
    expect([latencyColour(null, "dark"), latencyColour(Number.NaN, "dark")]).toEqual([UNKNOWN_TONE.dark, UNKNOWN_TONE.dark]);
  });

  it("are by factors of amounts, with round numbers beside them", () => {
    expect([amountPart(1, 1, 100), amountPart(10, 1, 100), amountPart(100, 1, 100), amountPart(5, 5, 5)]).toEqual([0, 0.5, 1, 1]);
    expect(amountTicks(3, 45_000, 9)).toEqual([10, 100, 1000, 10_000]);
    expect(amountTicks(1, 1e9, 4)).toEqual([1, 1000, 1e6, 1e9]);
    expect(amountTicks(1000, 40_000_000, 9, 32)).toEqual([1024, 32_768, 2 ** 20, 2 ** 25]);
    expect([amountTicks(0, 0, 4), amountTicks(7, 8, 4)]).toEqual([[], []]);
  });
});
