import { describe, expect, it } from "vitest";
import { secondSentence, secondWords } from "./second";

describe("a second recording", () => {
  it("is named by its folder, with the way to compare", () => {
    expect(secondWords("/data/after.scope/")).toBe("programs also receive after.scope");
    expect(secondWords("after.scope")).toBe("programs also receive after.scope");
    expect(secondSentence("runs/after.scope")).toMatch(/receive the recording after\.scope, .* mpiscope compare /);
  });
});
