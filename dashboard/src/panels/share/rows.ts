// Single calls and messages that a view draws, as tables. Pure.

import { type Calls, NO_TAG, NONE } from "../../feed/calls";
import type { MessageRows } from "../../feed/messages";
import type { SharedTable, Value } from "./tables";

type Names = ReadonlyMap<number, { name: string }>;

const CALLS = ["rank", "thread", "function", "start_ns", "duration_ns", "peer", "tag", "bytes", "communicator", "calls"] as const;
const MESSAGES = ["source", "destination", "tag", "communicator", "bytes", "send_ns", "receive_ns", "transfer_ns", "late_sender_ns", "latency"] as const;

const unless = (value: number | undefined, none: number): Value => (value === undefined || value === none ? null : value);

export function callsTable(batches: Iterable<Calls>, names: Names, isDrawn: (calls: Calls, row: number) => boolean): SharedTable {
  function* rows(): Generator<readonly Value[]> {
    for (const calls of batches) {
      for (let row = 0; row < calls.length; row++) {
        if (!isDrawn(calls, row)) continue;
        const id = calls.function[row] ?? 0;
        yield [
          calls.rank[row] ?? 0, calls.thread[row] ?? 0, names.get(id)?.name ?? `function ${id}`, calls.startNs[row] ?? 0, calls.durationNs[row] ?? 0,
          unless(calls.peer[row], NONE), unless(calls.tag[row], NO_TAG), calls.bytes[row] ?? 0, unless(calls.comm[row], NONE), calls.count[row] ?? 1,
        ];
      }
    }
  }
  return { columns: CALLS, rows: rows() };
}

/** Of some of the messages, by their places. */
export function messagesTable(messages: MessageRows, places: Iterable<number>): SharedTable {
  function* rows(): Generator<readonly Value[]> {
    for (const row of places) {
      yield [
        messages.src[row] ?? 0, messages.dst[row] ?? 0, unless(messages.tag[row], NO_TAG), unless(messages.comm[row], NONE), messages.bytes[row] ?? 0,
        messages.sendNs[row] ?? 0, messages.recvNs[row] ?? 0, messages.tMsgNs[row] ?? null, messages.lateSenderNs[row] ?? null, messages.latency[row] ?? null,
      ];
    }
  }
  return { columns: MESSAGES, rows: rows() };
}

/** Whether a call has a part in a range of time. */
export function overlaps({ startNs, durationNs }: Calls, row: number, fromNs: number, toNs: number): boolean {
  const start = startNs[row] ?? 0;
  return start <= toNs && start + (durationNs[row] ?? 0) >= fromNs;
}
