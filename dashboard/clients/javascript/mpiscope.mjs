// A client of mpiscope for Node. It does not run in a page: the server refuses pages of other origins on purpose, and with
// them any web page that tries to read a run. docs/protocol.md explains requests and replies.

import { once } from "node:events";
import WebSocket from "ws";

const PROTOCOL = 1;
const GOING_AWAY = 1001;
/** A batch with as many rows as can be asked for, as JSON. */
const MESSAGE_BYTES_MAX = 128 << 20;
/** Replies that wait; more are not read from the network. */
const WAITING_MAX = 16;
const CLOSE_MS = 2_000;

/** The host and the token in the address that mpiscope printed. Errors never show the token. */
function parse(address) {
  const url = URL.canParse(address ?? "") ? new URL(address) : undefined;
  const token = url?.searchParams.get("token");
  if (url?.protocol !== "http:" || !/^[!-~]+$/.test(token ?? "")) {
    throw new Error("this is not the address of a page: give the whole one that mpiscope printed, as http://HOST:PORT/?token=...");
  }
  return { host: url.host, token };
}

/** A connection. Iterating over it (`for await`) gives all replies until mpiscope ends. */
class Client {
  welcome;
  #socket;
  #waiting = [];
  #wake = () => undefined;
  #end;

  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    socket.on("close", (code, reason) => {
      const isPlanned = code === GOING_AWAY || code === 1000;
      const why = String(reason) || `close code ${code}`;
      this.#finish({ error: isPlanned ? undefined : new Error(`the connection to mpiscope ended: ${why}`) });
    });
    socket.on("error", (error) => this.#finish({ error }));
  }

  #take(data, isBinary) {
    try {
      if (isBinary) throw new Error("it is binary");
      const reply = JSON.parse(String(data));
      if (reply.kind === "welcome") this.welcome = reply;
      this.#waiting.push(reply);
    } catch (error) {
      this.#finish({ error: new Error(`mpiscope sent what is no message of protocol ${PROTOCOL}: ${error.message}`) });
      this.#socket.terminate();
    }
    if (this.#waiting.length >= WAITING_MAX) this.#socket.pause();
    this.#wake();
  }

  #finish(end) {
    this.#end ??= end;
    this.#wake();
  }

  /** The next reply; `undefined` once mpiscope has ended. */
  async next() {
    while (this.#waiting.length === 0) {
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return undefined;
      await new Promise((wake) => (this.#wake = wake));
    }
    if (this.#socket.isPaused) this.#socket.resume();
    return this.#waiting.shift();
  }

  async *[Symbol.asyncIterator]() {
    for (let reply = await this.next(); reply; reply = await this.next()) yield reply;
  }

  /** The batches until all subscriptions have ended, or mpiscope has. A refused request is an error. */
  async *batches() {
    for await (const reply of this) {
      if (reply.kind === "batch") yield reply;
      if (reply.kind === "barrier") this.send({ do: "drawn", barrier: reply.barrier });
      if (reply.kind === "failed" && reply.request !== "receive") throw new Error(`${reply.request}: ${reply.text}`);
      if (reply.kind === "end" && this.#ended(reply.id)) return;
    }
  }

  #open = new Set();
  #ended(id) {
    this.#open.delete(id);
    return this.#open.size === 0;
  }

  /** Sends a request, such as `{ do: "subscribe", id: 1, what: "messages" }`. */
  send(request) {
    if (request.do === "subscribe") this.#open.add(request.id);
    if (request.do === "unsubscribe") this.#open.delete(request.id);
    this.#socket.send(JSON.stringify(request));
  }

  /** Leaves. Requests that were sent before are still carried out. */
  async close() {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#socket.resume();
    this.#socket.close(1000);
    const patience = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    await once(this.#socket, "close");
    clearTimeout(patience);
  }
}

/** Connects under a name that people see. The address is that in `MPISCOPE_ADDRESS` unless one is given. */
export async function connect(name, address = process.env.MPISCOPE_ADDRESS) {
  const { host, token } = parse(address);
  const socket = new WebSocket(`ws://${host}/programs`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    handshakeTimeout: 10_000,
  });
  const client = new Client(socket);
  await new Promise((opened, failed) => {
    socket.once("open", opened);
    socket.once("error", () => failed(new Error("nobody answers at this address")));
    socket.once("unexpected-response", (request, response) => {
      request.destroy();
      const why = response.statusCode === 403 ? "mpiscope refused the token" : "mpiscope accepts no client";
      failed(new Error(`${why} (HTTP status ${response.statusCode})`));
    });
  });
  client.send({ do: "hello", protocol: PROTOCOL, name });
  if ((await client.next())?.kind !== "welcome") throw new Error("mpiscope ended before its greeting");
  return client;
}
