import { describe, expect, it } from "vitest";
import type { Switch } from "../feed/switch";
import { recordingSwitch } from "../feed/switch";
import { FeedError } from "../feed/columns";
import { emptyRun, type RunState } from "../state/run";
import { gapWords } from "./switch";

const SECOND = 1e9;
const run = (parts: Partial<Switch>, state: "running" | "ended" = "running"): RunState => {
  const empty = emptyRun();
  return { ...empty, clock: { nowNs: 20 * SECOND, lagNs: 0 }, job: { ...empty.job, state }, switch: { isOn: true, heldS: null, unrecordedCalls: 0, gapsNs: [], ...parts } };
};
const words = (state: RunState): string => gapWords(state).replace(/\u2009/g, " ");

describe("recording that was switched off", () => {
  it("is shown while it is off, and afterwards for how long it was", () => {
    expect(words(run({}))).toBe("");
    expect(words(emptyRun())).toBe("");
    expect(words(run({ isOn: false, unrecordedCalls: 7, gapsNs: [[5 * SECOND, null]] }))).toBe("Recording is off since 0:00:05.0; 7 calls were made meanwhile. What happens now is not kept.");
    expect(words(run({ isOn: false, heldS: 30, gapsNs: [[0, null]] }))).toBe("Recording is off since 0:00:00.0. The last 30 s are held back and recorded when something happens: when the job hangs, ends, or you switch recording on.");
    expect(words(run({ heldS: 30, gapsNs: [[0, 0]] }))).toBe("");
    expect(words(run({ unrecordedCalls: 2 }))).toBe("2 calls were made while the program had recording paused (MPI_Pcontrol).");
    expect(words(run({ unrecordedCalls: 1, gapsNs: [[5 * SECOND, 8 * SECOND]] }))).toBe("Recording was off for 3.00 s, from 0:00:05.0 on; 1 call was made meanwhile. What happened then is not known.");
    expect(words(run({ gapsNs: [[0, SECOND], [18 * SECOND, null]] }, "ended"))).toBe("Recording was off for 3.00 s in 2 stretches. What happened then is not known.");
  });

  it("is read in nanoseconds, or refused", () => {
    expect(recordingSwitch({ is_on: true, held_s: 30, unrecorded_calls: 3, gaps_s: [[1, 2], [3, null]] })).toEqual({ isOn: true, heldS: 30, unrecordedCalls: 3, gapsNs: [[SECOND, 2 * SECOND], [3 * SECOND, null]] });
    for (const wrong of [{ is_on: 1, unrecorded_calls: 3, gaps_s: [] }, { is_on: true, unrecorded_calls: 3, gaps_s: [[1]] }, { is_on: true, unrecorded_calls: -1, gaps_s: [] }]) expect(() => recordingSwitch(wrong)).toThrow(FeedError);
  });
});
