// Adds a view to the page: how many bytes each rank sent to each other rank. Takes the address from MPISCOPE_ADDRESS.
// The view stays as long as this program runs. Stop it with Ctrl-C.

import { readFile } from "node:fs/promises";
import { connect } from "../mpiscope.mjs";

const html = await readFile(new URL("../../own_view.html", import.meta.url), "utf8");
const client = await connect("bytes sent");
client.send({ do: "panel", id: 1, title: "Bytes sent", html });
client.send({ do: "subscribe", id: 2, what: "messages" });
const sent = [];
for await (const { messages } of client.batches()) {
  const { ranks } = client.welcome;
  while (sent.length < ranks) sent.push([]);
  for (const row of sent) while (row.length < ranks) row.push(0);
  for (const [row, bytes] of messages.bytes.entries()) {
    sent[messages.source[row]][messages.destination[row]] += bytes;
  }
  client.send({ do: "tell_panel", id: 1, data: sent });
}
while (await client.next());
