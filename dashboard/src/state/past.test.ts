import { describe, expect, it } from "vitest";
import { back, forth, left, noPast } from "./past";

describe("what was looked at before", () => {
  it("goes back and forth through any steps", () => {
    let past = noPast<number>();
    for (let state = 0; state < 5; state++) past = left(past, state, `step ${state}`, state * 10_000);
    let state = 5;
    for (const expected of [4, 3, 2, 1, 0]) {
      const step = back(past, state);
      expect(step?.state).toBe(expected);
      ({ past, state } = step!);
    }
    expect(back(past, state)).toBeNull();
    for (const expected of [1, 2, 3, 4, 5]) {
      const step = forth(past, state);
      expect(step?.state).toBe(expected);
      ({ past, state } = step!);
    }
    expect(forth(past, state)).toBeNull();
  });

  it("takes a wheel's many turns as one step, and another kind as a step of its own", () => {
    let past = left(noPast<string>(), "whole", "zoom", 0);
    for (let turn = 1; turn < 20; turn++) past = left(past, `zoom ${turn}`, "zoom", turn * 100);
    expect(past.before).toEqual(["whole"]);
    past = left(past, "zoom 19", "ranks", 1950);
    expect(past.before).toEqual(["whole", "zoom 19"]);
    past = left(past, "some ranks", "ranks", 9000);
    expect(past.before).toEqual(["whole", "zoom 19", "some ranks"]);
  });

  it("forgets what lay ahead once something else is done, and what is too long ago", () => {
    const past = left(left(noPast<number>(), 1, "a", 0), 2, "b", 10_000);
    const step = back(past, 3)!;
    expect(left(step.past, step.state, "c", 20_000).after).toEqual([]);
    let long = noPast<number>();
    for (let each = 0; each < 500; each++) long = left(long, each, String(each), 0);
    expect(long.before.length).toBe(100);
    expect(long.before[0]).toBe(400);
  });
});
