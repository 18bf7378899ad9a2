import { describe, expect, it } from "vitest";
import { counted } from "../words";
import { ranksWords } from "../words/regions";
import { emptyRun, type RunState } from "./run";
import { search } from "./search";

function run(): RunState {
  const state = { ...emptyRun(), number: 0, clock: { nowNs: 100e9, lagNs: 0 } };
  const row = (id: number, name: string, calls: number) => ({ id, name, family: "send", calls, polls: 0, bytes: 0, timeNs: 0, p50Ns: 0, p99Ns: 0, maxNs: 0 });
  state.functions = new Map([[1, row(1, "MPI_Send", 5)], [2, row(2, "MPI_Isend", 900)], [3, row(3, "MPI_Sendrecv", 70)], [4, row(4, "MPI_Barrier", 2)]]);
  state.nodes = new Map([0, 1, 10].map((node) => [node, { node, name: `node${node}`, clockUncertaintyNs: 0, isSilent: false, cpus: null }]));
  state.totals = { ...state.totals, messages: 9 };
  state.ranks.length = 12;
  for (let rank = 0; rank < 12; rank++) {
    state.ranks.heard[rank] = 1;
    state.ranks.node[rank] = [0, 1, 10][rank % 3]!;
  }
  state.regions = { version: 1, count: 2, withCollectives: false, between: [], regions: [
    { id: 4, ranks: [[0, 5]], latency: 1.1, exactShare: 1, messages: 9, delayed: 1, aboveExpected: 9 }, { id: 7, ranks: [[6, 11]], latency: 3.24, exactShare: 1, messages: 9, delayed: 8, aboveExpected: 9 },
  ] };
  return state;
}

const views = [{ id: "why", label: "Why" }, { id: "where", label: "Where" }];
const sites = new Map([[0, "main.c:42 solve()"], [1, "halo.c:7 exchange()"]]);
const find = (query: string) => search(query, { run: run(), sites, views });

describe("finding", () => {
  it("takes numbers for ranks, and times for times of the run", () => {
    expect(find("7").map(({ hit }) => hit.kind)).toEqual(["rank", "time", "site"]);
    expect(find("7")[0]).toEqual({ hit: { kind: "rank", rank: 7 }, title: "Rank 7", kind: "on node1" });
    expect(find("rank 7").map(({ hit }) => hit.kind)).toEqual(["rank"]);
    expect(find("0-3, 9-40")[0]).toEqual({ hit: { kind: "ranks", ranks: [[0, 3], [9, 11]] }, title: "Ranks 0\u20133, 9\u201311", kind: counted(7, "rank", "ranks") });
    expect(find("99 ").map(({ hit }) => hit.kind)).toEqual(["time"]);
    expect(find("0:01:10")[0]).toMatchObject({ hit: { kind: "time", ns: 70e9 }, kind: "time of the run" });
    expect(find("0:02:10")).toEqual([]);
  });

  it("shows functions whose name begins so before those that only have it, the most called first", () => {
    expect(find("send").map(({ title }) => title)).toEqual(["MPI_Sendrecv", "MPI_Send", "MPI_Isend"]);
    expect(find("MPI_B").map(({ title }) => title)).toEqual(["MPI_Barrier"]);
  });

  it("takes longest and latest for single calls, of functions and ranks", () => {
    expect(find("longest").map(({ title }) => title)).toEqual(["Longest call", "Longest MPI_Send", "Longest MPI_Isend", "Longest MPI_Sendrecv", "Longest MPI_Barrier"]);
    expect(find("longest barr rank 3")).toEqual([{ hit: { kind: "call", wanted: { isLatest: false, function: 4, ranks: [[3, 3]] } }, title: "Longest MPI_Barrier of rank 3", kind: "call" }]);
    expect(find("latest of ranks 0-3, 7")[0]).toMatchObject({ hit: { wanted: { isLatest: true, function: null, ranks: [[0, 3], [7, 7]] } }, title: `Latest call of ${ranksWords([[0, 3], [7, 7]])}` });
    expect(find("slowest rank x").filter(({ hit }) => hit.kind === "call")).toEqual([]);
  });

  it("takes slowest for a message too", () => {
    const messages = (words: string) => find(words).filter(({ hit }) => hit.kind === "message").map(({ hit, title }) => ({ hit, title }));
    expect(messages("slowest")).toEqual([{ hit: { kind: "message", ranks: null }, title: "Slowest message" }]);
    expect(messages("/slowest mess among ranks 0-7")).toEqual([{ hit: { kind: "message", ranks: [[0, 7]] }, title: `Slowest message among ${ranksWords([[0, 7]])}` }]);
    expect(messages("longest message")).toHaveLength(1);
    expect(find("longest mpi_b")[0]).toMatchObject({ title: "Longest MPI_Barrier" });
    expect(["longest", "longest mpi_irecv", "slowest mean", "slowest ranks 0-7", "slowest message rank 3", "slowest message ranks x", "latest message", "slowest barr"].map(messages)).toEqual([[], [], [], [], [], [], [], []]);
  });

  it("finds nodes with their ranks, regions by their slowness, places and views", () => {
    expect(find("node1").map(({ title, kind }) => [title, kind])).toEqual([["node1", `node with ranks 1, 4, \u2026 (${counted(4, "rank", "ranks")})`], ["node10", `node with ranks 2, 5, \u2026 (${counted(4, "rank", "ranks")})`]]);
    expect(find("region").map(({ title, kind }) => [title, kind])).toEqual([["Region of ranks 6\u201311", "region, L 3.24"], ["Region of ranks 0\u20135", "region, L 1.10"]]);
    expect(find("region 3").map(({ title }) => title)).toEqual(["Region of ranks 0\u20135"]);
    expect(find("solve")).toEqual([{ hit: { kind: "site", id: 0, place: "main.c:42 solve()" }, title: "main.c:42 solve()", kind: "call site" }]);
    expect(find("whe").map(({ title }) => title)).toEqual(["Where"]);
    expect(find("   ")).toEqual([]);
    expect(find("zzz")).toEqual([]);
  });
});

