import { describe, expect, it } from "vitest";
import { NO_SITE, type ProgramPlaces, type SitePlace, type SiteTimes } from "../../feed/call-sites";
import { blocksOf, functionSums, lineSums, mainSite, neighbours, pathTree, sameNode } from "./tree";

const place = (name: string, line: number, parent: number | null, file = "main.c", module = "/opt/solver"): SitePlace => ({ words: `${file}:${line} ${name}()`, function: name, file, line, module, parent });

/** main calls solve and write, both call exchange; refine calls itself. */
const PLACES: ProgramPlaces = {
  calls: new Map(),
  hasPaths: true,
  all: new Map([
    [2, place("main", 10, null)], [3, place("solve", 20, 2)], [4, place("exchange", 30, 3, "halo.c")],
    [5, place("main", 11, null)], [6, place("write", 40, 5)], [7, place("exchange", 30, 6, "halo.c")],
    [8, place("main", 12, null)], [9, place("refine", 50, 8)], [10, place("refine", 51, 9)],
    [11, place("solve", 21, 2)],
  ]),
};

function times(rows: [site: number, mpi: number, timeNs: number, calls?: number][]): SiteTimes {
  const column = (pick: (row: [number, number, number, number?]) => number): Float64Array => Float64Array.from(rows.map(pick));
  return {
    fromNs: 0, toNs: 100, countedShare: 1, length: rows.length, site: Uint32Array.from(rows.map(([site]) => site)), function: Uint32Array.from(rows.map(([, mpi]) => mpi)),
    calls: column(([, , , calls]) => calls ?? 1), bytes: column(() => 8), timeNs: column(([, , ns]) => ns),
  };
}

const ROWS = times([[4, 1, 60], [7, 1, 30], [10, 2, 8], [9, 2, 4], [11, 3, 10], [NO_SITE, 3, 5]]);
const tree = (isInverted = false) => pathTree(ROWS, PLACES, (id) => `MPI_${id}`, isInverted);
const names = (inverted: boolean): Record<string, number> => {
  const found: Record<string, number> = {};
  const visit = (at: ReturnType<typeof tree>["root"], way: string): void => {
    for (const child of at.children.values()) {
      const path = `${way}/${child.function.name}`;
      found[path] = child.sums.timeNs;
      visit(child, path);
    }
  };
  visit(tree(inverted).root, "");
  return found;
};

describe("call paths", () => {
  it("begin at main and end at MPI", () => {
    expect(names(false)).toEqual({
      "/main": 112, "/main/solve": 70, "/main/solve/exchange": 60, "/main/solve/exchange/MPI_1": 60, "/main/solve/MPI_3": 10,
      "/main/write": 30, "/main/write/exchange": 30, "/main/write/exchange/MPI_1": 30,
      "/main/refine": 12, "/main/refine/refine": 8, "/main/refine/refine/MPI_2": 8, "/main/refine/MPI_2": 4,
      "/unknown call site": 5, "/unknown call site/MPI_3": 5,
    });
    expect(tree()).toMatchObject({ depth: 4, hasPaths: true, root: { sums: { timeNs: 117, calls: 6, bytes: 48 } } });
  });

  it("go the other way when they are inverted", () => {
    const found = names(true);
    expect(found["/MPI_1/exchange"]).toBe(90);
    expect(found["/MPI_1/exchange/solve/main"]).toBe(60);
    expect(found["/MPI_1/exchange/write/main"]).toBe(30);
    expect(found["/MPI_3"]).toBe(15);
  });

  it("count a function once though it calls itself", () => {
    const rows = new Map(functionSums(tree()).map((row) => [row.function.name, row]));
    expect(rows.get("refine")).toMatchObject({ inclusive: { timeNs: 12, calls: 2 }, own: { timeNs: 12 } });
    expect(rows.get("exchange")).toMatchObject({ inclusive: { timeNs: 90 }, own: { timeNs: 90 } });
    expect(rows.get("main")).toMatchObject({ inclusive: { timeNs: 112 }, own: { timeNs: 0 } });
    expect(rows.get("MPI_1")).toMatchObject({ inclusive: { timeNs: 90 }, own: { timeNs: 90 } });
  });

  it("have callers and callees", () => {
    const key = "exchange\n/opt/solver";
    const found = neighbours(tree(), key);
    const short = (rows: typeof found.callers): [string, number][] => rows.map(({ function: { name }, sums }) => [name, sums.timeNs]);
    expect(short(found.callers)).toEqual([["solve", 60], ["write", 30]]);
    expect(short(found.callees)).toEqual([["MPI_1", 90]]);
    const own = neighbours(tree(), "refine\n/opt/solver");
    expect(short(own.callers)).toEqual([["main", 12], ["refine", 8]]);
    expect(short(own.callees)).toEqual([["refine", 8], ["MPI_2", 12]]);
  });

  it("give each line of a source its time", () => {
    expect([...lineSums(tree(), PLACES, "main.c")].map(([line, { timeNs }]) => [line, timeNs])).toEqual([[10, 70], [20, 60], [11, 30], [40, 30], [12, 12], [50, 12], [51, 8], [21, 10]]);
    expect([...lineSums(tree(), PLACES, "halo.c")].map(([line, { timeNs }]) => [line, timeNs])).toEqual([[30, 90]]);
    expect(mainSite(tree(), "solve\n/opt/solver", PLACES)).toBe(3);
    expect(mainSite(tree(), "mpi 1", PLACES)).toBeNull();
  });

  it("fill the width, the greatest first", () => {
    const { root } = tree();
    const blocks = blocksOf(root, "timeNs", 0);
    expect(blocks.filter(({ row }) => row === 2).map(({ node, from, to }) => [node.function.name, Math.round(from * 117), Math.round(to * 117)])).toEqual([["solve", 0, 70], ["write", 70, 100], ["refine", 100, 112], ["MPI_3", 112, 117]]);
    const main = [...root.children.values()][0];
    const zoomed = blocksOf(main ?? root, "timeNs", 0.2);
    expect(zoomed.filter(({ row }) => row <= 1).map(({ from, to }) => [from, to])).toEqual([[0, 1], [0, 1]]);
    expect(zoomed.filter(({ row }) => row === 2).map(({ node }) => node.function.name)).toEqual(["solve", "write"]);
  });

  it("keep what is looked at when figures are newer", () => {
    const [before, after] = [tree(), tree()];
    const exchange = before.root.children.get("main\n/opt/solver")?.children.get("write\n/opt/solver")?.children.get("exchange\n/opt/solver");
    expect(sameNode(after.root, exchange ?? null).parent?.function.name).toBe("write");
    expect(sameNode(after.root, null)).toBe(after.root);
    const without = pathTree(times([[4, 1, 60]]), PLACES, String, false);
    expect(sameNode(without.root, exchange ?? null).function.name).toBe("main");
  });

  it("end where a number is not known", () => {
    expect(pathTree(times([[99, 1, 5]]), PLACES, String, false).root.children.get("\nunknown")?.sums.timeNs).toBe(5);
  });
});
