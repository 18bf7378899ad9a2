// The only socket. Reconnects by itself, each time later, and finds out why it cannot.

import { encode } from "@msgpack/msgpack";
import { Asks } from "./asks";
import { FeedError } from "./feed/columns";
import { decode, type Message, ProtocolMismatch } from "./feed/message";

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;
const PING_EVERY_MS = 2000;
/** The close code of a link that was revoked. */
const REVOKED = 1008;
/** Where this page is served: a link has a path of its own. */
const FOLDER = location.pathname.replace(/[^/]*$/, "");

export type Phase = "connecting" | "open" | "lost" | "full" | "refused" | "outdated";

export interface Link {
  phase: Phase;
  retryInSeconds: number;
  /** Why this page itself closed the connection: what was wrong with a message; else empty. */
  reason: string;
}

export interface NetEvents {
  message(message: Message): void;
  link(link: Link): void;
  roundTrip(ms: number): void;
  /** Whether the server has nothing more to say: the job that it showed is over. */
  isOver(): boolean;
}

/** Says something, unless the connection is closing: what is asked now is given up with it. */
function sendOn(socket: WebSocket, message: Record<string, unknown>): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(encode(message));
}

export class Net {
  readonly asks = new Asks(() => performance.now());
  private socket: WebSocket | null = null;
  private delayMs = FIRST_RETRY_MS;
  private retryAtMs = 0;
  private timer = 0;
  private reason = "";
  /** Whether the open connection has brought a message that fits. */
  private heard = false;
  private over = false;
  private pinging = false;

  constructor(private readonly events: NetEvents) {}

  start(): void {
    addEventListener("online", () => {
      if (!this.socket) this.retryNow();
    });
    setInterval(() => this.tick(), PING_EVERY_MS);
    this.open();
  }

  /** A command to the shared clock; without a connection there is no shared clock to command. */
  command(message: Record<string, unknown>): void {
    if (this.socket) sendOn(this.socket, message);
  }

  retryNow(): void {
    if (!this.socket && !this.over) this.open();
  }

  private open(): void {
    clearInterval(this.timer);
    this.events.link({ phase: "connecting", retryInSeconds: 0, reason: this.reason });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const mine = new WebSocket(`${scheme}://${location.host}${FOLDER}feed`);
    mine.binaryType = "arraybuffer";
    this.heard = false;
    mine.onmessage = (event: MessageEvent<unknown>) => {
      if (mine !== this.socket || !(event.data instanceof ArrayBuffer)) return;
      if (!this.take(event.data) || this.heard) return;
      this.heard = true;
      this.reason = "";
      this.delayMs = FIRST_RETRY_MS;
      this.asks.open((message) => sendOn(mine, message));
      this.events.link({ phase: "open", retryInSeconds: 0, reason: "" });
    };
    mine.onclose = ({ code }) => {
      if (mine === this.socket && code === REVOKED) this.giveUp("refused");
      else if (mine === this.socket) void this.closed();
    };
    this.socket = mine;
  }

  /** Whether the message was fit to be shown. */
  private take(buffer: ArrayBuffer): boolean {
    try {
      const message = decode(buffer);
      if (message.kind === "answer") this.asks.answered(message);
      else this.events.message(message);
      return true;
    } catch (error) {
      if (error instanceof ProtocolMismatch) this.giveUp("outdated");
      else if (error instanceof FeedError) this.resync(error.message);
      else throw error;
      return false;
    }
  }

  private async closed(): Promise<void> {
    this.socket = null;
    this.asks.close();
    const phase = this.heard ? "lost" : await whyNot();
    if (this.over || this.socket) return;
    if (phase === "refused") this.giveUp("refused");
    else if (this.events.isOver()) this.events.link({ phase: "lost", retryInSeconds: 0, reason: "" });
    else this.retry(phase);
  }

  private retry(phase: Phase): void {
    this.retryAtMs = performance.now() + this.delayMs * (0.75 + 0.5 * Math.random());
    this.delayMs = Math.min(this.delayMs * 2, LAST_RETRY_MS);
    const tick = (): void => {
      const leftMs = this.retryAtMs - performance.now();
      if (leftMs <= 0) this.open();
      else this.events.link({ phase, retryInSeconds: Math.ceil(leftMs / 1000), reason: this.reason });
    };
    clearInterval(this.timer);
    this.timer = window.setInterval(tick, 250);
    tick();
  }

  private giveUp(phase: "refused" | "outdated"): void {
    this.over = true;
    clearInterval(this.timer);
    this.asks.close();
    this.socket?.close();
    this.events.link({ phase, retryInSeconds: 0, reason: "" });
  }

  /** A message was not fit to be shown: a new connection starts with a fresh snapshot. */
  private resync(reason: string): void {
    const old = this.socket;
    this.socket = null;
    old?.close();
    this.asks.close();
    this.reason = reason;
    this.retry("lost");
  }

  private tick(): void {
    this.asks.expire();
    if (!this.socket || !this.heard || this.pinging) return;
    this.pinging = true;
    const sentMs = performance.now();
    this.asks
      .ask({ ask: "ping" })
      .then(() => this.events.roundTrip(performance.now() - sentMs), () => this.events.roundTrip(Number.NaN))
      .finally(() => {
        this.pinging = false;
      });
  }
}

/** A browser does not tell a page why a WebSocket was refused; an ordinary request does. */
async function whyNot(): Promise<Phase> {
  try {
    const answer = await fetch(`${FOLDER}health`, { cache: "no-store" });
    if (answer.status === 403 || answer.status === 421) return "refused";
    const health = (await answer.json()) as { viewers: number; viewers_max: number };
    return health.viewers >= health.viewers_max ? "full" : "lost";
  } catch {
    return "lost";
  }
}
