import { describe, expect, it } from "vitest";
import { CAUSES } from "../../feed/found";
import { evidenceOf, PARTS, reachedPart, SOURCES, WHAT_IF } from "./sections";

describe("parts of the view", () => {
  const parts = PARTS.map(({ id }, at) => ({ id, y: 100 * at }));

  it("have a mark of their own wherever a link leads", () => {
    for (const cause of [...CAUSES, "none"] as const) expect(PARTS.map(({ id }) => id)).toContain(evidenceOf(cause));
  });

  it("are marked where one is: not the part before it", () => {
    const at = PARTS.findIndex(({ id }) => id === SOURCES);
    expect([reachedPart(parts, 100 * at, false, null), reachedPart(parts, 100 * at - 1, false, null)]).toEqual([SOURCES, WHAT_IF]);
    expect(reachedPart(parts, -1, false, null)).toBe(PARTS[0]?.id);
    expect(reachedPart(parts, 0, true, null)).toBe(PARTS.at(-1)?.id);
  });

  it("are marked where one was led, though they cannot come to the top", () => {
    expect(reachedPart(parts, 0, true, SOURCES)).toBe(SOURCES);
    expect(reachedPart(parts, 0, false, "somewhere-else")).toBe(PARTS[0]?.id);
  });
});
