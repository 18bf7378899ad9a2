// What the page asks about a run: by the name of a question, and with a method where the page has a range, a scope or a call
// rather than the fields.

import type { Question } from "../asks";
import type { AnswerMessage, NextEvent, TimelineAnswer } from "../feed/answer";
import type { Sites } from "../feed/call-sites";
import type { Calls, History } from "../feed/calls";
import { type Dag, graphed } from "../feed/dag";
import type { MessageRows } from "../feed/messages";
import type { Pairs } from "../feed/regions";
import type { Selected } from "../feed/selected";
import type { RankRanges, Span } from "./perspective";
import type { SelectedScope } from "./selected";
import { askedRange } from "./span";

type Ask = (question: Question) => Promise<AnswerMessage>;

/** Questions that need nothing but their fields. */
type ByName =
  | "pending" | "courses" | "shares" | "critical" | "group_graph" | "criteria" | "remap" | "rank_metrics" | "rank_layout" | "layouts"
  | "landscape" | "suggestion" | "pairs" | "selected" | "durations" | "sites" | "site_times" | "source_text";

export class ServerQuestions {
  constructor(private readonly ask: Ask, private readonly functions: () => Iterable<number>) {}

  /** The answer to a question that has its name. */
  async answer<Name extends ByName>(name: Name, fields: Record<string, unknown> = {}): Promise<NonNullable<AnswerMessage[Name]>> {
    return given<AnswerMessage[Name]>((await this.ask({ ...fields, ask: name }))[name]);
  }

  /** Single calls of a range, also those in it in part, of some ranks or all; of more than `most` the longest, and a share of the others. */
  async calls(range: Span, ranks: RankRanges | null, most: number): Promise<Calls> {
    return given((await this.ask({ ask: "calls", ...whole(range), ranks, most })).calls);
  }

  /** Single messages of a range, from or to some ranks or all; a share of them where there are more than that. */
  async messages(range: Span, ranks: RankRanges | null, most: number): Promise<MessageRows> {
    return given((await this.ask({ ask: "messages", ...whole(range), ranks, most })).messages);
  }

  /** The dependency graph of a range, of some ranks or all. */
  async dag(range: Span, ranks: RankRanges | null, most: number): Promise<Dag> {
    return graphed(given((await this.ask({ ask: "dag", ...whole(range), ranks, most })).dag));
  }

  /** Who sent to whom in a range. */
  async pairs(range: Span): Promise<Pairs> {
    return this.answer("pairs", whole(range));
  }

  async history(fromNs: number, toNs: number): Promise<History> {
    return given((await this.ask({ ask: "history", from_ns: Math.round(fromNs), to_ns: Math.round(toNs) })).history);
  }

  async timeline(fromNs: number, toNs: number, bins: number): Promise<TimelineAnswer> {
    return given((await this.ask({ ask: "timeline", from_ns: Math.round(fromNs), to_ns: Math.round(toNs), bins })).timeline);
  }

  /** The figures of what is selected. */
  async selected({ rangeNs, ranks, hidden }: SelectedScope): Promise<Selected> {
    return this.answer("selected", { ...askedRange(rangeNs), ranks, hidden });
  }

  /** The call sites from which MPI is called. */
  async sites(): Promise<Sites> {
    return (await this.answer("sites")).calls;
  }

  /** The nearest call of some ranks that begins after a time, or before it, without some functions. */
  async event(timeNs: number, isBack: boolean, ranks: RankRanges | null, hidden: readonly number[]): Promise<NextEvent> {
    return given((await this.ask({ ask: "event", time_ns: Math.round(timeNs), is_back: isBack, ranks, hidden })).event);
  }

  /** That of one function, or of any. */
  async nearest(timeNs: number, isBack: boolean, ranks: RankRanges | null, only: number | null): Promise<NextEvent> {
    return this.event(timeNs, isBack, ranks, only === null ? [] : [...this.functions()].filter((id) => id !== only));
  }

  /** When the next call of the same rank and function begins, or the one before; null where there is none. */
  async nextOf(call: { rank: number; function: number; startNs: number }, isBack: boolean): Promise<number | null> {
    return (await this.nearest(call.startNs, isBack, [[call.rank, call.rank]], call.function)).atNs;
  }

  /** Keeps the layouts of a text, or forgets the one of this name where the text is empty. */
  async saveLayout(by: "recording" | "user", source: string, layout: string): Promise<void> {
    await this.ask({ ask: "save_layout", by, source, layout });
  }
}

function whole([fromNs, toNs]: Span): { from_ns: number; to_ns: number } {
  return { from_ns: Math.floor(fromNs), to_ns: Math.ceil(toNs) };
}

function given<T>(part: T): NonNullable<T> {
  if (part === undefined || part === null) throw new Error("The server's answer lacks what was asked.");
  return part;
}
