import { describe, expect, it } from "vitest";
import { piecesOf } from "./highlight";

describe("highlight", () => {
  it("loses no character, and tells the kinds apart", () => {
    const text = "BEGIN_VIZ=s # one\nx=cos(2*pi()*Rank/1e3), y = event0.val\n  # all\nEND_VIZ\n";
    const pieces = piecesOf(text);
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    const kindOf = (part: string): string | undefined => pieces.find((piece) => piece.text === part)?.kind;
    expect([kindOf("BEGIN_VIZ=s "), kindOf("# one"), kindOf("x"), kindOf("cos"), kindOf("Rank"), kindOf("1e3"), kindOf("event0.val")]).toEqual(["block", "comment", "set", "function", "given", "number", "given"]);
    expect(piecesOf("").map((piece) => piece.text).join("")).toBe("");
  });
});
