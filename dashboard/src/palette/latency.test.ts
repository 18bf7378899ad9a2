import { describe, expect, it } from "vitest";
import { contrast } from "./colour";
import { HOSTS, hostColour, isRepeated, LINKS } from "./hosts";
import { latencyColour, latencyPlace, UNKNOWN_LATENCY } from "./latency";
import { distance, VISIONS } from "./vision";

const GROUNDS = { dark: ["#14171b", "#1d2126"], light: ["#ffffff", "#f1f3f5"] };

describe("the place of a latency on the scale", () => {
  it("is in the middle at what is usual, and as far for a half as for twice", () => {
    expect(latencyPlace(1)).toBe(0);
    expect(latencyPlace(2)).toBeCloseTo(0.5);
    expect(latencyPlace(0.5)).toBeCloseTo(-0.5);
  });

  it("ends at four times and at a quarter", () => {
    expect([latencyPlace(4), latencyPlace(400), latencyPlace(0.25), latencyPlace(0)]).toEqual([1, 1, -1, -1]);
  });
});

describe.each(["dark", "light"] as const)("the %s scale of latency", (theme) => {
  const places = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4];
  const colours = places.map((latency) => latencyColour(latency, theme));

  it("stands out from the grounds", () => {
    for (const hex of [...colours, UNKNOWN_LATENCY[theme]]) for (const ground of GROUNDS[theme]) expect(contrast(hex, ground), hex).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("has ends and a middle that are apart under %s vision", (vision) => {
    const [low, middle, high] = [colours[0] ?? "", colours[4] ?? "", colours.at(-1) ?? ""];
    for (const [one, other] of [[low, middle], [middle, high], [low, high]] as const) expect(distance(one, other, vision)).toBeGreaterThan(0.1);
  });

  it("goes in steps that look alike on each side", () => {
    const steps = colours.slice(1).map((hex, at) => distance(colours[at] ?? "", hex, "usual"));
    for (const side of [steps.slice(0, 4), steps.slice(4)]) expect(Math.max(...side) / Math.min(...side)).toBeLessThan(1.7);
  });

  it("has another colour for what is not known", () => {
    expect(latencyColour(Number.NaN, theme)).toBe(UNKNOWN_LATENCY[theme]);
  });
});

describe.each(["dark", "light"] as const)("the %s hosts", (theme) => {
  it("stand out from the grounds", () => {
    const links = Object.values(LINKS[theme]);
    for (const hex of [...HOSTS[theme], ...links]) for (const ground of GROUNDS[theme]) expect(contrast(hex, ground), hex).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("are apart from each other under %s vision", (vision) => {
    const least = vision === "usual" ? 0.12 : 0.069;
    HOSTS[theme].forEach((one, at) => HOSTS[theme].slice(at + 1).forEach((other) => expect(distance(one, other, vision), `${one} ${other}`).toBeGreaterThan(least)));
    expect(distance(LINKS[theme].former, LINKS[theme].latter, vision)).toBeGreaterThan(0.14);
  });

  it("repeat with a mark", () => {
    expect([hostColour(0, theme), isRepeated(11), isRepeated(12)]).toEqual([hostColour(12, theme), false, true]);
  });
});
