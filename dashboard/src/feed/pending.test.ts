import { describe, expect, it } from "vitest";
import { madePending, sent, single } from "../panels/pending/made-pending";
import { FeedError, fields } from "./columns";
import { pendingMessages } from "./pending";

const EDGES = [{ from: 0, to: 1, messages: 3, bytes: 300, sinceNs: 900 }, { from: 1, to: 1, messages: 1, bytes: 8, sinceNs: 400, src: 1, dst: 1 }];

describe("messages in flight", () => {
  it("are read", () => {
    const found = madePending(single(2), EDGES, { left_out_sends: 7, unreceived: 2 });
    expect(found).toMatchObject({ atNs: 1000, messages: 4, bytes: 308, unreceived: 2, leftOutSends: 7, isPartial: false, oldest: 1, edgesLeftOut: 0 });
    expect([...found.edges.sinceNs]).toEqual([900, 400]);
    expect([...found.groups.lastRank]).toEqual([0, 1]);
    expect(madePending(single(2), [])).toMatchObject({ messages: 0, oldest: -1, leftOutSends: null });
  });

  it.each([
    ["an edge to nowhere", sent(single(2), [{ from: 0, to: 2 }])],
    ["an edge without a message", sent(single(2), [{ from: 0, to: 1, messages: 0 }])],
    ["a message of the future", sent(single(2), [{ from: 0, to: 1, sinceNs: 1001 }])],
    ["no oldest where something is in flight", sent(single(2), EDGES, { oldest: null })],
    ["an oldest that is not there", sent(single(2), EDGES, { oldest: 2 })],
    ["a group without ranks", sent([{ ranks: 0, keys: [0, 0], of: [0, 0] }], [])],
    ["a group that ends before it begins", sent([{ keys: [0, 0], of: [3, 2] }], [])],
    ["very many groups", sent(single(5000), [])],
    ["half a message", sent(single(2), [], { messages: 0.5 })],
    ["columns of other lengths", { ...sent(single(2), []), edges: { ...(sent(single(2), EDGES).edges as object), src: new Uint8Array(4) } }],
  ])("are refused with %s", (_, wrong) => {
    expect(() => pendingMessages(fields(wrong, "The messages in flight"))).toThrow(FeedError);
  });
});
