import { describe, expect, it } from "vitest";
import css from "./base.css?raw";
import charts from "./chart.css?raw";

const THEMES = { dark: /data-theme="dark"\] \{([^}]*)\}/, light: /data-theme="light"\] \{([^}]*)\}/ };

function colours(theme: keyof typeof THEMES): Map<string, string> {
  const block = THEMES[theme].exec(css)?.[1] ?? "";
  return new Map([...block.matchAll(/--(\w+): (#[0-9a-f]{6});/g)].map((match) => [match[1] ?? "", match[2] ?? ""]));
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe.each(["dark", "light"] as const)("the %s theme", (theme) => {
  const of = colours(theme);
  it.each(["text", "soft", "good", "bad", "warn"])("has readable text: %s", (name) => {
    for (const ground of ["ground", "raised"]) expect(contrast(of.get(name) ?? "#000000", of.get(ground) ?? "#000000")).toBeGreaterThanOrEqual(4.5);
  });
  it.each(["accent", "edge", "text", "good"])("has visible marks on canvases: %s", (name) => {
    expect(contrast(of.get(name) ?? "#000000", of.get("ground") ?? "#000000")).toBeGreaterThanOrEqual(3);
  });
});

describe("words over the bars of charts", () => {
  it("have an outline of the ground in every view", () => {
    const rule = /^\.time-chart \.over \{([^}]*)\}/m.exec(charts)?.[1] ?? "";
    for (const part of ["fill: var(--text)", "paint-order: stroke", "stroke: var(--ground)"]) expect(rule).toContain(part);
  });
});
