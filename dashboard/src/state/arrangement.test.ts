import { describe, expect, it } from "vitest";
import { arrange, arrangement, remembered, rememberedWord } from "./arrangement";

describe("arrangement", () => {
  it("keeps words that are no choice among a few, as long as an address can hold them", () => {
    const chosen = rememberedWord("test.word", "first", (word) => word !== "bad");
    chosen.value = "1.00_-2.50";
    expect(arrangement().get("test.word")).toBe("1.00_-2.50");
    chosen.value = "4P\u00d716Block";
    expect(arrangement().has("test.word")).toBe(false);
    arrange(new Map([["test.word", "other"]]));
    expect(chosen.value).toBe("other");
    arrange(new Map([["test.word", "bad"]]));
    expect(chosen.value).toBe("first");
  });

  it("takes of a few choices no other one", () => {
    const chosen = remembered("test.choice", "a", ["a", "b"]);
    arrange(new Map([["test.choice", "b"]]));
    expect(chosen.value).toBe("b");
    arrange(new Map([["test.choice", "c"]]));
    expect(chosen.value).toBe("a");
  });
});
