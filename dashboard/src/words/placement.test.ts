import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COST_NOT_KNOWN, gainWords, placementCost } from "./placement";

describe("what placement costs", () => {
  it("is the same in all places where it is not known", () => {
    expect([placementCost(0, true), gainWords({ seconds: 0, share: 0, isUnknown: true })]).toEqual(["not known", COST_NOT_KNOWN]);
    expect(placementCost(3, true)).toBe("at least 3.00 s");
    expect(gainWords({ seconds: 3, share: 0.1, isUnknown: true })).toBe(`Placed like that, the run would spare at least 3.00 s of the ranks\u2019 time. ${COST_NOT_KNOWN}`);
  });

  it("has the words of the daemon's remark", () => {
    const remarks = readFileSync(new URL("../../../daemon/verdict/src/diagnosis.rs", import.meta.url), "utf8");
    expect(remarks).toContain(COST_NOT_KNOWN.slice(0, COST_NOT_KNOWN.indexOf("within nodes")));
  });

  it("is a number where it is known", () => {
    expect(placementCost(3, false)).toBe("3.00 s");
    expect(gainWords({ seconds: 3, share: 0.1, isUnknown: false })).toMatch(/^Placed like that, the run would spare 3\.00 s of the ranks\u2019 time, 10\.0/);
    expect(gainWords({ seconds: 0.1, share: 0.001, isUnknown: false })).toMatch(/^It is not worth it: placed like that/);
  });
});
