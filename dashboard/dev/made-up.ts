// Made-up calls of a stencil code with a slow node: the same for the same numbers. Pictures can be compared.
import type { Calls, History } from "../src/feed/calls";
import { NO_TAG, NONE } from "../src/feed/calls";
import type { FunctionFact } from "../src/panels/particles";

export const FUNCTIONS: readonly [number, string, string][] = [
  [10, "MPI_Send", "send"], [14, "MPI_Isend", "send"], [20, "MPI_Recv", "receive"], [21, "MPI_Irecv", "receive"],
  [30, "MPI_Wait", "complete"], [31, "MPI_Waitall", "complete"], [34, "MPI_Test", "complete"],
  [40, "MPI_Iprobe", "probe"], [50, "MPI_Barrier", "barrier"], [51, "MPI_Bcast", "rooted"],
  [52, "MPI_Reduce", "rooted"], [53, "MPI_Allreduce", "all"], [60, "MPI_Comm_split", "communicator"],
];

/** A repeatable source of random numbers of 0..1. */
function source(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state ^ (state >>> 15)) >>> 0) / 4294967296;
  };
}

type Row = [rank: number, functionId: number, startNs: number, durationNs: number, peer: number, bytes: number, polls: number];

export class MadeUp {
  /** Calls of one round of all ranks. */
  static readonly CALLS_A_ROUND = 8;
  readonly functions = new Map<number, FunctionFact>();
  longestNs = 0;
  #rows: Row[] = [];
  #rounds = 0;

  constructor(
    readonly ranks: number,
    readonly callsASecond: number,
    readonly perNode: number,
  ) {
    for (const [id, name, family] of FUNCTIONS) this.functions.set(id, { id, name, family, calls: 0, polls: 0 });
  }

  get roundNs(): number {
    return (this.ranks * MadeUp.CALLS_A_ROUND * 1e9) / this.callsASecond;
  }

  #add(...row: Row): number {
    this.#rows.push(row);
    this.longestNs = Math.max(this.longestNs, row[3]);
    const fact = this.functions.get(row[1]);
    if (fact) {
      fact.calls++;
      fact.polls += row[6] - 1;
    }
    return row[2] + row[3];
  }

  #round(round: number): void {
    const random = source(round * 7919 + 17);
    const beginNs = round * this.roundNs;
    for (let rank = 0; rank < this.ranks; rank++) {
      const slow = Math.floor(rank / this.perNode) === 1 ? 6 : 1;
      const right = (rank + 1) % this.ranks;
      let atNs = beginNs + random() * 0.05 * this.roundNs + rank * 40;
      atNs = this.#add(rank, 21, atNs, 300 + random() * 500, NONE, 0, 1) + 200;
      atNs = this.#add(rank, 14, atNs, 900 + random() * 1200 * slow, right, 8192, 1) + 300;
      atNs = this.#add(rank, 31, atNs, (12e3 + random() ** 3 * 3e5) * slow, NONE, 8192, 1);
      atNs += random() * 0.1 * this.roundNs;
      if (rank % 2 === 0) atNs = this.#add(rank, 10, atNs, 2500 * (1 + random()), right, 1 << 18, 1);
      else atNs = this.#add(rank, 20, atNs, 4e3 * (1 + 20 * random() ** 6), rank - 1, 1 << 18, 1);
      const polls = 1 + Math.floor(random() * 40);
      atNs = this.#add(rank, 34, atNs, polls * 700, NONE, 0, polls);
      // A broadcast that goes down the ranks one after the other: the logarithmic pattern.
      atNs = this.#add(rank, 51, atNs, 6e3 + rank * (4e5 / this.ranks) + random() * 2e3, 0, 1024, 1);
      atNs = this.#add(rank, 53, atNs, 6e4 + random() * 2e4 + (slow > 1 ? 0 : 4e5), NONE, 64, 1);
      if (round % 50 === 7) this.#add(rank, 50, atNs, 3e6 + random() * 2e6 * slow, NONE, 0, 1);
      else this.#add(rank, 52, atNs, 2e4 * (1 + random() * 0.4), 0, 512, 1);
    }
    if (round % 200 === 3) this.#add(0, 60, beginNs, 4e7, NONE, 0, 1);
  }

  /** The calls that end in a range; ranges have to follow each other. */
  ended(fromNs: number, toNs: number): Calls {
    while (this.#rounds * this.roundNs < toNs) this.#round(this.#rounds++);
    const rows: Row[] = [];
    const later: Row[] = [];
    for (const row of this.#rows) (row[2] + row[3] < toNs ? rows : later).push(row);
    this.#rows = later;
    const length = rows.length;
    const column = (at: number): number[] => rows.map((row) => row[at] ?? 0);
    return {
      fromNs, toNs, total: length, share: 1, allFromNs: 0, length,
      rank: Uint32Array.from(column(0)), thread: new Uint32Array(length), function: Uint32Array.from(column(1)),
      startNs: Float64Array.from(column(2), Math.round), durationNs: Float64Array.from(column(3), Math.round),
      peer: Uint32Array.from(column(4)), tag: new Int32Array(length).fill(NO_TAG), bytes: Float64Array.from(column(5)),
      comm: new Uint32Array(length), count: Float64Array.from(column(6)),
    };
  }
}

/** What the daemon would answer about these calls. */
export function historyOf(tiles: Iterable<Calls>, fromNs: number, toNs: number, ranksPerRow: number): History {
  const cells = new Map<number, number>();
  let total = 0;
  for (const tile of tiles) {
    for (let at = 0; at < tile.length; at++) {
      const endNs = tile.startNs[at]! + tile.durationNs[at]!;
      if (endNs < fromNs || endNs >= toNs) continue;
      const row = Math.floor(tile.rank[at]! / ranksPerRow) * ranksPerRow;
      const bin = Math.floor(16 * Math.log2(1 + tile.durationNs[at]! / tile.count[at]!));
      const key = (row * 512 + tile.function[at]!) * 2048 + bin;
      cells.set(key, (cells.get(key) ?? 0) + 1);
      total++;
    }
  }
  const keys = [...cells.keys()];
  return {
    fromNs, toNs, binsPerOctave: 16, ranksPerRow, length: keys.length, total,
    row: Uint32Array.from(keys, (key) => Math.floor(key / 2048 / 512)),
    function: Uint32Array.from(keys, (key) => Math.floor(key / 2048) % 512),
    bin: Uint32Array.from(keys, (key) => key % 2048),
    count: Float64Array.from(cells.values()),
  };
}
