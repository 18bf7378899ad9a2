// Messages in flight for tests, in the bytes of the feed.

import { fields } from "../../feed/columns";
import { type PendingMessages, pendingMessages } from "../../feed/pending";

const u32 = (values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const f64 = (values: readonly number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

export interface MadeGroup { ranks?: number; keys: readonly [first: number, last: number]; of: readonly [first: number, last: number]; place?: number }
export interface MadeEdge { from: number; to: number; messages?: number; bytes?: number; sinceNs?: number; src?: number; dst?: number }

/** Ranks one by one, four on a node. */
export function single(ranks: number): MadeGroup[] {
  return Array.from({ length: ranks }, (_, rank) => ({ keys: [Math.floor(rank / 4), Math.floor(rank / 4)] as const, of: [rank, rank] as const }));
}

/** As it is sent. */
export function sent(groups: readonly MadeGroup[], edges: readonly MadeEdge[], more: Record<string, unknown> = {}): Record<string, unknown> {
  const sum = (name: "messages" | "bytes"): number => edges.reduce((all, edge) => all + (edge[name] ?? 1), 0);
  const since = edges.map(({ sinceNs = 0 }) => sinceNs);
  return {
    at_ns: 1000, messages: sum("messages"), bytes: sum("bytes"), unreceived: 0, left_out_sends: null, is_partial: false,
    groups: {
      place: u32(groups.map(({ place }, at) => place ?? at)), ranks: u32(groups.map(({ ranks = 1 }) => ranks)),
      first_key: u32(groups.map(({ keys }) => keys[0])), last_key: u32(groups.map(({ keys }) => keys[1])),
      first_rank: u32(groups.map(({ of }) => of[0])), last_rank: u32(groups.map(({ of }) => of[1])),
      sent: f64(groups.map(() => 0)), received: f64(groups.map(() => 0)),
    },
    edges: {
      from: u32(edges.map(({ from }) => from)), to: u32(edges.map(({ to }) => to)), messages: f64(edges.map(({ messages = 1 }) => messages)),
      bytes: f64(edges.map(({ bytes = 1 }) => bytes)), since_ns: f64(since), src: u32(edges.map(({ src = 0 }) => src)), dst: u32(edges.map(({ dst = 1 }) => dst)),
      oldest_bytes: f64(edges.map(() => 1)),
    },
    oldest: edges.length > 0 ? since.indexOf(Math.min(...since)) : null, edges_left_out: 0, messages_left_out: 0, ...more,
  };
}

export function madePending(groups: readonly MadeGroup[], edges: readonly MadeEdge[], more: Record<string, unknown> = {}): PendingMessages {
  return pendingMessages(fields(sent(groups, edges, more), "The messages in flight"));
}
