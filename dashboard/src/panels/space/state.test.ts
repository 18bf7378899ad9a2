// Which questions the 3D view asks, and when. No page and no server.

import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { firstPerspective } from "../../state/perspective";
import { emptyRun } from "../../state/run";
import type { Store } from "../../state/store";
import { SpaceState } from "./state";

const FRAME_MS = 16;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("asks for figures while the clock moves", async () => {
  const first = emptyRun();
  const run = signal({ ...first, clock: { ...first.clock, nowNs: 10e9 }, ranks: { ...first.ranks, count: 4 }, job: { ...first.job, ranks: 4, source: "replay" as const } });
  const asked: number[] = [];
  const timeNs = signal(1e9);
  const store = {
    run, figures: run, timeNs, link: signal({ phase: "open" }), perspective: signal(firstPerspective()), selected: signal({ isAsking: false }), selection: signal(null),
    questions: {
      answer: (kind: string, span: { to_ns: number }) => {
        if (kind === "rank_metrics") asked.push(span.to_ns);
        return Promise.reject(new Error("no answer"));
      },
      sites: () => Promise.reject(new Error("no answer")),
    },
  } as unknown as Store;
  const state = new SpaceState(store);
  state.time.value = "moment";
  const stop = state.watch();
  for (let ms = 0; ms < 4000; ms += FRAME_MS) {
    timeNs.value += FRAME_MS * 1e6;
    await vi.advanceTimersByTimeAsync(FRAME_MS);
  }
  stop();
  state.time.value = "range";
  expect(asked.length).toBeGreaterThanOrEqual(7);
  expect(asked.length).toBeLessThanOrEqual(16);
  expect(asked.at(-1)).toBeGreaterThan(4e9);
});
