// Questions to the server: which are on their way, which wait, which took too long. No socket and no clock of its own.

import type { AnswerMessage } from "./feed/answer";

/** What the server allows at a time. */
export const OUTSTANDING_MAX = 8;
/** Older questions that still wait are given up for newer ones: nobody looks at their answers any more. */
export const QUEUED_MAX = 24;
const PATIENCE_MS = 10_000;
/** The error of a question that the server gave up for a newer one of its kind, perhaps of another view. */
export const REPLACED = "a newer question took its place";

export interface Question { ask: "calls" | "timeline" | "history" | "durations" | "selected" | "pairs" | "pending" | "dag" | "messages" | "courses" | "shares" | "critical" | "group_graph" | "criteria" | "remap" | "rank_metrics" | "rank_layout" | "layouts" | "save_layout" | "landscape" | "suggestion" | "event" | "sites" | "site_times" | "source_text" | "ping"; [field: string]: unknown }

interface Waiting {
  question: Question;
  resolve: (answer: AnswerMessage) => void;
  reject: (reason: Error) => void;
  sentMs: number;
}

/** The question was given up before it was answered; not worth a word to the user. */
export class GivenUp extends Error {}

/** For a part without which the rest is worth showing: nothing, unless it is only to be asked for again. */
export function nothingUnlessGivenUp(reason: unknown): null {
  if (reason instanceof GivenUp) throw reason;
  return null;
}

export class Asks {
  private nextId = 1;
  private readonly outstanding = new Map<number, Waiting>();
  private queue: Waiting[] = [];
  private send: ((message: Record<string, unknown>) => void) | null = null;

  constructor(private readonly nowMs: () => number) {}

  /** A connection is open: questions flow. */
  open(send: (message: Record<string, unknown>) => void): void {
    this.send = send;
    this.pump();
  }

  /** No connection: what was asked will never be answered. */
  close(): void {
    this.send = null;
    const all = [...this.outstanding.values(), ...this.queue];
    this.outstanding.clear();
    this.queue = [];
    for (const waiting of all) waiting.reject(new GivenUp("The connection was lost before the answer came."));
  }

  ask(question: Question): Promise<AnswerMessage> {
    return new Promise((resolve, reject) => {
      const waiting = { question, resolve, reject, sentMs: 0 };
      // A ping measures the connection; waiting behind others it would measure them.
      if (question.ask === "ping") this.queue.unshift(waiting);
      else this.queue.push(waiting);
      while (this.queue.length > QUEUED_MAX) {
        const oldest = this.queue.shift();
        oldest?.reject(new GivenUp("Newer questions took its place."));
      }
      this.pump();
    });
  }

  answered(answer: AnswerMessage): void {
    const waiting = this.outstanding.get(answer.id);
    if (!waiting) return;
    this.outstanding.delete(answer.id);
    if (answer.error !== undefined) waiting.reject(answer.error === REPLACED ? new GivenUp(answer.error) : new Error(answer.error));
    else waiting.resolve(answer);
    this.pump();
  }

  /** Gives up what was not answered in time; to be called now and then. */
  expire(): void {
    for (const [id, waiting] of this.outstanding) {
      if (this.nowMs() - waiting.sentMs < PATIENCE_MS) continue;
      this.outstanding.delete(id);
      waiting.reject(new Error(`The server did not answer within ${PATIENCE_MS / 1000} s.`));
    }
    this.pump();
  }

  private pump(): void {
    while (this.send && this.outstanding.size < OUTSTANDING_MAX) {
      const waiting = this.queue.shift();
      if (!waiting) return;
      const id = this.nextId;
      this.nextId = this.nextId >= 0xffffffff ? 1 : this.nextId + 1;
      waiting.sentMs = this.nowMs();
      this.outstanding.set(id, waiting);
      this.send({ ...waiting.question, id });
    }
  }
}
