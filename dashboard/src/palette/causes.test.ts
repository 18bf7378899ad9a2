import { describe, expect, it } from "vitest";
import { CAUSES } from "../feed/found";
import { CAUSE_COLOURS, PART_TONES, type Part } from "./causes";
import { contrast } from "./colour";
import { FAMILIES } from "./families";
import { colourOf } from "./index";
import { distance, VISIONS } from "./vision";

const GROUNDS = { dark: ["#14171b", "#1d2126"], light: ["#ffffff", "#f1f3f5"] };
/** OKLab distances, as for the functions: causes are few and matter most, so they are further apart. */
const LEAST = { causes: { usual: 0.22, dichromatic: 0.14 }, toFunctions: 0.07, toParts: 0.1, neighbours: 0.15, parts: 0.065 };
/** In the order in which they lie beside each other, in the bar of all time and in that of the waiting. */
const BARS: readonly Part[][] = [
  ["waiting", "base", "distance", "excess", "operation", "other", "unknown"],
  ["compute", "cpuWait", "base", "distance", "excess", "operation", "other", "unknown"],
];

describe.each(["dark", "light"] as const)("the %s causes", (theme) => {
  const causes = CAUSES.map((name) => ({ name, hex: CAUSE_COLOURS[name][theme] }));
  const parts = Object.entries(PART_TONES).map(([name, colour]) => ({ name, hex: colour[theme] }));

  it("stand out from the grounds", () => {
    for (const { name, hex } of causes) for (const ground of GROUNDS[theme]) expect(contrast(hex, ground), name).toBeGreaterThanOrEqual(3);
    for (const { name, hex } of parts) expect(contrast(hex, GROUNDS[theme][0] ?? ""), name).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("are apart from each other under %s vision", (vision) => {
    const least = vision === "usual" ? LEAST.causes.usual : LEAST.causes.dichromatic;
    for (const one of causes) {
      for (const other of causes) if (one !== other) expect(distance(one.hex, other.hex, vision), `${one.name} and ${other.name}`).toBeGreaterThanOrEqual(least);
    }
  });

  it("are nobody else's colours", () => {
    const functions = Object.entries(FAMILIES).flatMap(([family, { members }]) =>
      ["", ...Object.keys(members)].map((name) => ({ name: `MPI_${name}`, hex: colourOf(`MPI_${name}`, family)[theme] })));
    for (const cause of causes) {
      for (const { name, hex } of functions) expect(distance(cause.hex, hex, "usual"), `${cause.name} and ${name}`).toBeGreaterThanOrEqual(LEAST.toFunctions);
      for (const { name, hex } of parts) expect(distance(cause.hex, hex, "usual"), `${cause.name} and ${name}`).toBeGreaterThanOrEqual(LEAST.toParts);
    }
  });

  it.each(VISIONS)("lie beside tones that can be distinguished under %s vision", (vision) => {
    for (const bar of BARS) {
      bar.forEach((one, at) => bar.slice(at + 1).forEach((other, further) => {
        const least = further === 0 ? LEAST.neighbours : LEAST.parts;
        expect(distance(PART_TONES[one][theme], PART_TONES[other][theme], vision), `${one} and ${other}`).toBeGreaterThanOrEqual(least);
      }));
    }
  });
});
