import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TERMS, termOf } from "./terms";

const glossary = readFileSync(new URL("../../../../GLOSSARY.md", import.meta.url), "utf8").toLowerCase();

describe("terms", () => {
  it("are those of the glossary", () => {
    expect(Object.values(TERMS).map(({ name }) => name.toLowerCase()).filter((name) => !glossary.includes(name))).toEqual([]);
  });

  it("are one short sentence with a picture that stays in its frame", () => {
    for (const { name, sentence, picture } of Object.values(TERMS)) {
      expect(sentence.match(/\.(\s|$)/g), name).toHaveLength(1);
      expect(sentence.split(" ").length, name).toBeLessThanOrEqual(20);
      expect(picture.length, name).toBeGreaterThan(1);
      for (const shape of picture) {
        if (shape.kind !== "bar") continue;
        expect(shape.x + shape.width, name).toBeLessThanOrEqual(160);
        expect(shape.y + shape.height, name).toBeLessThanOrEqual(56);
      }
    }
  });

  it("of a confidence says what its values mean, without a gap", () => {
    const levels: readonly string[] = TERMS.confidence.levels;
    expect(levels.map((level) => level.match(/\d+(?= %)/g)?.map(Number))).toEqual([[80], [50, 80], [30, 50], [30]]);
  });

  it("are found by the words that views have", () => {
    expect([termOf("Latency L"), termOf("delayed"), termOf("Calls")]).toEqual(["latency", "delayed", null]);
  });
});
