// A histogram of transfer times, drawn again with every batch. Takes the address from MPISCOPE_ADDRESS.

import { connect } from "../mpiscope.mjs";

// Each bin is twice as wide as the one before.
const counts = new Array(20).fill(0);
const client = await connect("histogram");
client.send({ do: "subscribe", id: 1, what: "messages" });
for await (const { messages, to_ns } of client.batches()) {
  for (const transfer_ns of messages.transfer_ns) {
    counts[Math.min(Math.floor(Math.log2(Math.max(transfer_ns / 1e3, 0.5))) + 1, 19)] += 1;
  }
  const all = counts.reduce((sum, count) => sum + count);
  console.log(`\x1b[H\x1b[J${all} messages until ${(to_ns / 1e9).toFixed(3)} s of the run`);
  for (const [bin, count] of counts.entries()) {
    const bar = "#".repeat((60 * count) / Math.max(...counts, 1));
    console.log(`below ${String(1 << bin).padStart(6)} us ${String(count).padStart(10)} ${bar}`);
  }
}
await client.close();
