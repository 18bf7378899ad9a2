import { describe, expect, it } from "vitest";
import { CAUSE_COLOURS } from "./causes";
import { contrast } from "./colour";
import { REGION_COLOURS, REGION_MARKS, regionLook } from "./regions";
import { distance, VISIONS } from "./vision";

const GROUNDS = { dark: ["#14171b", "#1d2126"], light: ["#ffffff", "#f1f3f5"] };
const LEAST = { usual: 0.14, dichromatic: 0.09, toCauses: 0.05 };

describe.each(["dark", "light"] as const)("the %s colours of regions", (theme) => {
  const all = REGION_COLOURS.map((colour) => colour[theme]);

  it("are twelve that stand out from the grounds", () => {
    expect(new Set(all).size).toBe(12);
    for (const hex of all) for (const ground of GROUNDS[theme]) expect(contrast(hex, ground), hex).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("are apart from each other under %s vision", (vision) => {
    const least = vision === "usual" ? LEAST.usual : LEAST.dichromatic;
    for (const one of all) for (const other of all) if (one !== other) expect(distance(one, other, vision), `${one} and ${other}`).toBeGreaterThanOrEqual(least);
  });

  it("are no cause's", () => {
    for (const one of all) for (const cause of Object.values(CAUSE_COLOURS)) expect(distance(one, cause[theme], "usual"), one).toBeGreaterThanOrEqual(LEAST.toCauses);
  });
});

describe("the look of a region", () => {
  it("is of colour and mark, different for the first 48", () => {
    const looks = Array.from({ length: 48 }, (_, id) => `${regionLook(id).colour.dark} ${regionLook(id).mark}`);
    expect(new Set(looks).size).toBe(REGION_COLOURS.length * REGION_MARKS.length);
    expect(regionLook(48)).toEqual(regionLook(0));
  });
});
