import { describe, expect, it } from "vitest";
import { contrast } from "./colour";
import { HOSTS, hostColour, isRepeated, LINKS, NO_HOST } from "./hosts";
import { distance, VISIONS } from "./vision";

const GROUNDS = { dark: ["#14171b", "#1d2126"], light: ["#ffffff", "#f1f3f5"] };

describe.each(["dark", "light"] as const)("the %s hosts", (theme) => {
  it("stand out from the grounds", () => {
    const links = Object.values(LINKS[theme]);
    for (const hex of [...HOSTS[theme], ...links]) for (const ground of GROUNDS[theme]) expect(contrast(hex, ground), hex).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("are apart from each other under %s vision", (vision) => {
    const least = vision === "usual" ? 0.12 : 0.069;
    HOSTS[theme].forEach((one, at) => HOSTS[theme].slice(at + 1).forEach((other) => expect(distance(one, other, vision), `${one} ${other}`).toBeGreaterThan(least)));
  });

  it.each(VISIONS)("are beside links whose two colours are apart under %s vision", (vision) => {
    expect(distance(LINKS[theme].former, LINKS[theme].latter, vision)).toBeGreaterThan(0.14);
  });

  it("repeat with a mark, and are grey where nobody knows which", () => {
    expect([hostColour(0, theme), isRepeated(11), isRepeated(12)]).toEqual([hostColour(12, theme), false, true]);
    expect([HOSTS[theme].includes(hostColour(NO_HOST, theme)), isRepeated(NO_HOST)]).toEqual([false, false]);
  });
});
