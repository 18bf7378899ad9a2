import { describe, expect, it } from "vitest";
import { type Calls, NO_TAG, NONE } from "../../feed/calls";
import { callsTable, overlaps } from "./rows";
import { csv } from "./tables";

const CALLS: Calls = {
  fromNs: 0, toNs: 100, total: 2, share: 1, allFromNs: 0, length: 2, rank: Uint32Array.of(3, 4), thread: Uint32Array.of(0, 1), function: Uint32Array.of(7, 9),
  startNs: Float64Array.of(10, 50), durationNs: Float64Array.of(5, 20), peer: Uint32Array.of(1, NONE), tag: Int32Array.of(2, NO_TAG), bytes: Float64Array.of(64, 0),
  comm: Uint32Array.of(0, NONE), count: Float64Array.of(1, 30),
};

describe("rows of a view", () => {
  it("are what is drawn, with nothing where nothing is known", () => {
    const table = callsTable([CALLS], new Map([[7, { name: "MPI_Send" }]]), () => true);
    expect(csv(table)).toBe("rank,thread,function,start_ns,duration_ns,peer,tag,bytes,communicator,calls\r\n3,0,MPI_Send,10,5,1,2,64,0,1\r\n4,1,function 9,50,20,,,0,,30\r\n");
    const some = callsTable([CALLS], new Map(), (calls, row) => overlaps(calls, row, 16, 60));
    expect([...some.rows].map(([rank]) => rank)).toEqual([4]);
  });
});
