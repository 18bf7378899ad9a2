// An external program that a test plays.

import WebSocket from "ws";
import { until } from "./wait.mjs";

/** A program that is connected: its socket, what it heard, and a way to say something. */
export async function connect(t, address, name) {
  const { host, searchParams } = new URL(address);
  const socket = new WebSocket(`ws://${host}/programs`, { headers: { authorization: `Bearer ${searchParams.get("token")}` } });
  t.after(() => socket.close());
  const heard = [];
  socket.onmessage = ({ data }) => heard.push(JSON.parse(String(data)));
  const say = (message) => socket.send(JSON.stringify(message));
  await new Promise((opened, failed) => {
    socket.onopen = opened;
    socket.onerror = failed;
  });
  say({ do: "hello", protocol: 1, name });
  await until(`${name} is greeted`, async () => heard.some(({ kind }) => kind === "welcome"));
  return { socket, heard, say };
}
