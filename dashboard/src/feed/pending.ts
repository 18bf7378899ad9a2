// What is in flight at a moment, as the feed tells it: groups of ranks, and what is on its way between them. Checked and
// bounded.

import { bounded, f64Column, FeedError, type Fields, fields, natural, number, sameLength, truth, u32Column } from "./columns";
import type * as Wire from "./types";

/** A group has the ranks from its first to its last that are on nodes (or in regions) from its first key to its last. */
export interface PendingGroups {
  length: number;
  /** Where its ranks begin in the order of all. */
  place: Uint32Array;
  ranks: Uint32Array;
  firstKey: Uint32Array;
  lastKey: Uint32Array;
  firstRank: Uint32Array;
  lastRank: Uint32Array;
  /** Messages in flight from its ranks, and to them. */
  sent: Float64Array;
  received: Float64Array;
}

/** What is in flight from one group to another, or within one. */
export interface PendingEdges {
  length: number;
  from: Uint32Array;
  to: Uint32Array;
  messages: Float64Array;
  bytes: Float64Array;
  /** When the oldest was sent, by whom, to whom, and its bytes. */
  sinceNs: Float64Array;
  src: Uint32Array;
  dst: Uint32Array;
  oldestBytes: Float64Array;
}

export interface PendingMessages {
  /** The moment: the one that was asked for, or the last that is known. */
  atNs: number;
  messages: number;
  bytes: number;
  /** Of them, those without a receive so far. */
  unreceived: number;
  /** Sends without a receive that are too many to be kept; null where such sends are not known. */
  leftOutSends: number | null;
  /** Not all around the moment was read. */
  isPartial: boolean;
  groups: PendingGroups;
  edges: PendingEdges;
  /** The edge with the oldest message; -1 where nothing is in flight. */
  oldest: number;
  /** Pairs of groups that are not here, and their messages. */
  edgesLeftOut: number;
  messagesLeftOut: number;
}

/** More than any answer has: a wrong number must not fill the memory. */
const GROUPS_MAX = 4096;
const EDGES_MAX = 4096;

export function pendingMessages(from: Fields<Wire.PendingMessages>): PendingMessages {
  const groups = groupsOf(fields(from.groups, "The groups in flight"));
  const edges = edgesOf(fields(from.edges, "The edges in flight"), groups.length, number(from, "at_ns"));
  const oldest = from.oldest === null || from.oldest === undefined ? -1 : natural(from, "oldest");
  if (oldest >= edges.length || (oldest < 0 && edges.length > 0)) throw new FeedError("The oldest message in flight is on no edge.");
  return {
    atNs: natural(from, "at_ns"), messages: natural(from, "messages"), bytes: natural(from, "bytes"), unreceived: natural(from, "unreceived"),
    leftOutSends: from.left_out_sends === null || from.left_out_sends === undefined ? null : natural(from, "left_out_sends"),
    isPartial: truth(from, "is_partial"), groups, edges, oldest, edgesLeftOut: natural(from, "edges_left_out"), messagesLeftOut: natural(from, "messages_left_out"),
  };
}

function groupsOf(from: Fields<Wire.PendingGroups>): PendingGroups {
  const columns = {
    place: u32Column(from, "place"), ranks: u32Column(from, "ranks"), firstKey: u32Column(from, "first_key"), lastKey: u32Column(from, "last_key"),
    firstRank: u32Column(from, "first_rank"), lastRank: u32Column(from, "last_rank"), sent: f64Column(from, "sent"), received: f64Column(from, "received"),
  };
  const length = sameLength("groups in flight", columns);
  bounded("groups", [...columns.place], GROUPS_MAX);
  for (let at = 0; at < length; at++) {
    const isInOrder = (columns.firstKey[at] ?? 1) <= (columns.lastKey[at] ?? 0) && (columns.firstRank[at] ?? 1) <= (columns.lastRank[at] ?? 0);
    if (!isInOrder || columns.ranks[at] === 0) throw new FeedError(`Group ${at} in flight has no ranks.`);
    if (!((columns.sent[at] ?? -1) >= 0 && (columns.received[at] ?? -1) >= 0)) throw new FeedError(`Group ${at} in flight has a number that is none.`);
  }
  return { length, ...columns };
}

function edgesOf(from: Fields<Wire.PendingEdges>, groups: number, atNs: number): PendingEdges {
  const columns = {
    from: u32Column(from, "from"), to: u32Column(from, "to"), messages: f64Column(from, "messages"), bytes: f64Column(from, "bytes"),
    sinceNs: f64Column(from, "since_ns"), src: u32Column(from, "src"), dst: u32Column(from, "dst"), oldestBytes: f64Column(from, "oldest_bytes"),
  };
  const length = sameLength("edges in flight", columns);
  bounded("edges", [...columns.from], EDGES_MAX);
  for (let at = 0; at < length; at++) {
    if ((columns.from[at] ?? groups) >= groups || (columns.to[at] ?? groups) >= groups) throw new FeedError(`Edge ${at} in flight leads to a group that is not there.`);
    if (!((columns.messages[at] ?? 0) >= 1 && (columns.bytes[at] ?? -1) >= 0)) throw new FeedError(`Edge ${at} in flight has no message.`);
    if (!((columns.sinceNs[at] ?? Number.NaN) <= atNs)) throw new FeedError(`Edge ${at} in flight was sent after its moment.`);
  }
  return { length, ...columns };
}
