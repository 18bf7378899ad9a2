import { describe, expect, it } from "vitest";
import type { Calls } from "../feed/calls";
import type { CallText } from "../panels/view";
import { type AskCalls, similarCall } from "./similar";

const call: CallText = { function: 7, name: "MPI_Recv", rank: 2, thread: 0, startNs: 100, endNs: 120, peer: null, tag: null, bytes: 8, comm: 0, count: 1 };
const columns = { rank: Uint32Array.of(2, 2, 2), thread: Uint32Array.of(0, 0, 0), function: Uint32Array.of(7, 9, 7), startNs: Float64Array.of(200, 300, 300), durationNs: Float64Array.of(10, 20, 30) };
const rest = { peer: Uint32Array.of(1, 1, 1), tag: Int32Array.of(1, 1, 1), comm: Uint32Array.of(0, 0, 0), bytes: Float64Array.of(8, 8, 8), count: Float64Array.of(1, 1, 1) };

function ask(atNs: number | null): AskCalls {
  return { nextOf: (_, isBack) => Promise.resolve(isBack ? null : atNs), calls: () => Promise.resolve({ ...columns, ...rest } as unknown as Calls) };
}

describe("a similar call", () => {
  it("is of the same rank and function, among those that begin at one moment", async () => {
    expect(await similarCall(ask(300), call, false)).toMatchObject({ function: 7, startNs: 300, endNs: 330, name: "MPI_Recv" });
  });

  it("is none where there is no further one, or it cannot be had", async () => {
    expect(await similarCall(ask(300), call, true)).toBeNull();
    expect(await similarCall(ask(250), call, false)).toBeNull();
  });
});
