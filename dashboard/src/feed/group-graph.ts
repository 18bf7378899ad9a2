// Who sent to whom, by groups of ranks and iterations of the main loop. Checked.

import { NONE } from "./calls";
import { FeedError, f64Column, type Fields, natural, sameLength, u32Column } from "./columns";
import type * as Wire from "./types";

export interface GroupGraph {
  /** Where each column begins, and where the last one ends. */
  edgesNs: Float64Array;
  /** Turns of the main loop in each column; 0 where no loop was found. */
  turns: Uint32Array;
  loop: { turns: number; function: number; site: number | null } | null;
  /** By group: its ranks, in order, and the first and last node or region. */
  groups: readonly { ranks: Uint32Array; firstKey: number; lastKey: number }[];
  links: {
    length: number; from: Uint32Array; to: Uint32Array; column: Uint32Array; messages: Float64Array; bytes: Float64Array; waitedNs: Float64Array;
    /** Not a number where it is not known. */
    worst: Float64Array;
    worstSrc: Uint32Array; worstDst: Uint32Array; worstSendNs: Float64Array; worstRecvNs: Float64Array;
  };
  /** Messages with one side among other ranks. */
  outside: number;
}

export function groupGraph(from: Fields<Wire.GroupGraph>): GroupGraph {
  const edgesNs = f64Column(from, "edges_ns");
  const turns = u32Column(from, "turns");
  if (turns.length === 0 || edgesNs.length !== turns.length + 1) throw new FeedError("The columns of the graph do not have the edges that they should.");
  const ofRank = { rank: u32Column(from, "rank"), group: u32Column(from, "group") };
  const keys = { first: u32Column(from, "first_key"), last: u32Column(from, "last_key") };
  sameLength("ranks of the graph", ofRank);
  const count = sameLength("groups of the graph", keys);
  const members: number[][] = Array.from({ length: count }, () => []);
  ofRank.group.forEach((group, at) => {
    const of = members[group];
    if (!of) throw new FeedError("A rank of the graph is in a group that there is not.");
    of.push(ofRank.rank[at] ?? 0);
  });
  const links = {
    from: u32Column(from, "from"), to: u32Column(from, "to"), column: u32Column(from, "column"), messages: f64Column(from, "messages"), bytes: f64Column(from, "bytes"),
    waitedNs: f64Column(from, "waited_ns"), worst: f64Column(from, "worst"), worstSrc: u32Column(from, "worst_src"), worstDst: u32Column(from, "worst_dst"),
    worstSendNs: f64Column(from, "worst_send_ns"), worstRecvNs: f64Column(from, "worst_recv_ns"),
  };
  const length = sameLength("links of the graph", links);
  for (let at = 0; at < length; at++) {
    if ((links.from[at] ?? 0) >= count || (links.to[at] ?? 0) >= count || (links.column[at] ?? 0) >= turns.length) throw new FeedError("A link of the graph leads nowhere.");
  }
  const [site, marker] = [natural(from, "loop_site"), natural(from, "loop_function")];
  return {
    edgesNs, turns, loop: marker === NONE ? null : { turns: natural(from, "loop_turns"), function: marker, site: site === NONE ? null : site },
    groups: members.map((ranks, group) => ({ ranks: Uint32Array.from(ranks), firstKey: keys.first[group] ?? 0, lastKey: keys.last[group] ?? 0 })),
    links: { length, ...links }, outside: natural(from, "outside"),
  };
}
