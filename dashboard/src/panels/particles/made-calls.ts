// Calls for tests, from the few numbers that matter.
import { NO_TAG, NONE, type Calls } from "../../feed/calls";

export type MadeCall = { startNs: number; durationNs: number; rank?: number; function?: number; count?: number };

export function makeCalls(fromNs: number, toNs: number, calls: readonly MadeCall[], more: Partial<Calls> = {}): Calls {
  const { length } = calls;
  return {
    fromNs, toNs, total: length, share: 1, allFromNs: 0, length,
    rank: Uint32Array.from(calls, (call) => call.rank ?? 0),
    thread: new Uint32Array(length),
    function: Uint32Array.from(calls, (call) => call.function ?? 1),
    startNs: Float64Array.from(calls, (call) => call.startNs),
    durationNs: Float64Array.from(calls, (call) => call.durationNs),
    peer: new Uint32Array(length).fill(NONE),
    tag: new Int32Array(length).fill(NO_TAG),
    bytes: new Float64Array(length),
    comm: new Uint32Array(length).fill(NONE),
    count: Float64Array.from(calls, (call) => call.count ?? 1),
    ...more,
  };
}
