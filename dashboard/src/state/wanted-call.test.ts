import { describe, expect, it } from "vitest";
import type { CallDurations } from "../feed/durations";
import type { Calls } from "../feed/calls";
import { type AskCall, wantedCall } from "./wanted-call";

const columns = { rank: Uint32Array.of(2, 2), thread: Uint32Array.of(0, 0), function: Uint32Array.of(7, 9), startNs: Float64Array.of(300, 300), durationNs: Float64Array.of(10, 20), length: 2 };
const rest = { peer: Uint32Array.of(1, 1), tag: Int32Array.of(1, 1), comm: Uint32Array.of(0, 0), bytes: Float64Array.of(8, 8), count: Float64Array.of(1, 1) };
const calls = { ...columns, ...rest } as unknown as Calls;
const none = { ...calls, length: 0 };

function asker(longest: Calls, atNs: number | null): { ask: AskCall; asked: Record<string, unknown>[] } {
  const asked: Record<string, unknown>[] = [];
  return {
    asked,
    ask: {
      answer: (_, fields) => {
        asked.push(fields);
        return Promise.resolve({ longest } as CallDurations);
      },
      nearest: (timeNs, isBack, ranks, only) => {
        asked.push({ timeNs, isBack, ranks, only });
        return Promise.resolve({ atNs, rank: 2, function: 9 });
      },
      calls: () => Promise.resolve(calls),
    },
  };
}

const nameOf = (id: number): string => `f${id}`;

describe("a wanted call", () => {
  it("is the longest of the range and the ranks", async () => {
    const { ask, asked } = asker(calls, null);
    expect(await wantedCall(ask, { isLatest: false, function: 7, ranks: [[2, 3]] }, [5.5, 9.5], nameOf)).toMatchObject({ function: 7, name: "f7", startNs: 300, endNs: 310 });
    expect(asked).toEqual([{ from_ns: 5, to_ns: 10, ranks: [[2, 3]], function: 7, low_ns: 0, high_ns: Number.MAX_SAFE_INTEGER, most: 1 }]);
    expect(await wantedCall(asker(none, null).ask, { isLatest: false, function: null, ranks: null }, null, nameOf)).toBeNull();
  });

  it("is the latest before the end of the range", async () => {
    const { ask, asked } = asker(none, 300);
    expect(await wantedCall(ask, { isLatest: true, function: 9, ranks: null }, [100, 400], nameOf)).toMatchObject({ function: 9, rank: 2, endNs: 320 });
    expect(asked).toEqual([{ timeNs: 400, isBack: true, ranks: null, only: 9 }]);
    // The latest one began before the range.
    expect(await wantedCall(ask, { isLatest: true, function: 9, ranks: null }, [350, 400], nameOf)).toBeNull();
    expect(await wantedCall(asker(none, null).ask, { isLatest: true, function: null, ranks: null }, null, nameOf)).toBeNull();
  });
});
