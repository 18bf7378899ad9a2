import { describe, expect, it } from "vitest";
import { dragKind } from "./pointer";

const PLAIN = { isShift: false, isTouch: false };
const SHIFT = { isShift: true, isTouch: false };
const FINGER = { isShift: false, isTouch: true };

describe("dragging on the timeline", () => {
  it("selects a range, and never moves the clock unless it takes hold of the cursor", () => {
    for (const isPannable of [true, false]) {
      expect([dragKind("plot", PLAIN, isPannable), dragKind("ruler", PLAIN, isPannable)]).toEqual(["brush", "brush"]);
      expect(dragKind("cursor", PLAIN, isPannable)).toBe("scrub");
    }
  });

  it("pans with Shift or a finger where there is something to pan", () => {
    expect([dragKind("plot", SHIFT, true), dragKind("plot", FINGER, true), dragKind("cursor", SHIFT, true)]).toEqual(["pan", "pan", "pan"]);
    expect([dragKind("plot", SHIFT, false), dragKind("plot", FINGER, false)]).toEqual(["brush", "brush"]);
  });
});
