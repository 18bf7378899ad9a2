// Prints the time in MPI of each turn or phase that two recordings have. Takes the address of `mpiscope replay A --with B`
// from MPISCOPE_ADDRESS.

import { connect } from "../mpiscope.mjs";

const client = await connect("two runs");
const { second } = client.welcome;
if (!second) throw new Error("start mpiscope replay A --with B");
const { name, number, a_from_ns } = second.sections;
const inMpiMs = Array.from(number, () => [0, 0]);
client.send({ do: "subscribe", id: 0, what: "calls" });
client.send({ do: "subscribe", id: 1, what: "calls", recording: "b" });
for await (const { id, calls, own } of client.batches()) {
  // One clock says which turn a call is in, and B's own time how long it took.
  const { from_ns, to_ns } = own ?? { from_ns: calls.start_ns, to_ns: calls.end_ns };
  for (const [row, start_ns] of calls.start_ns.entries()) {
    const section = a_from_ns.findLastIndex((from_ns) => from_ns <= start_ns);
    if (section >= 0) inMpiMs[section][id] += (to_ns[row] - from_ns[row]) / 1e6;
  }
}
for (const [at, [a, b]] of inMpiMs.entries()) {
  console.log(name[at], number[at], `A ${a.toFixed(3)} ms, B ${b.toFixed(3)} ms`);
}
await client.close();
