// Marks each message whose latency ratio L exceeds 4, in all views. Takes the address from MPISCOPE_ADDRESS.

import { connect } from "../mpiscope.mjs";

const client = await connect("slow by L");
client.send({ do: "subscribe", id: 1, what: "messages" });
for await (const { messages } of client.batches()) {
  for (const [row, latency] of messages.latency.entries()) {
    // null where L is not known
    if (latency > 4) {
      const [time_ns, until_ns, rank] = [messages.send_ns[row], messages.receive_ns[row], messages.destination[row]];
      const text = `L = ${latency.toFixed(1)}, from rank ${messages.source[row]}`;
      client.send({ do: "annotate", time_ns, until_ns, rank, text });
    }
  }
}
await client.close();
