// Prints every message slower than 1 ms while the program runs. Takes the address from MPISCOPE_ADDRESS.

import { connect } from "../mpiscope.mjs";

const client = await connect("slow messages");
client.send({ do: "subscribe", id: 1, what: "messages", at_least_ns: 1e6 });
for await (const { messages } of client.batches()) {
  for (const [row, source] of messages.source.entries()) {
    const [end_s, took_ms] = [messages.receive_ns[row] / 1e9, messages.transfer_ns[row] / 1e6];
    const path = `${messages.bytes[row]} bytes from rank ${source} to rank ${messages.destination[row]}`;
    console.log(`${end_s.toFixed(6)} s: ${path} took ${took_ms.toFixed(3)} ms`);
  }
}
await client.close();
