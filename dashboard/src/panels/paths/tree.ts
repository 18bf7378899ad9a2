// Call paths as a tree of functions: what a program's functions spent in MPI, by who called them. Pure.

import { NO_SITE, type ProgramPlaces, type SitePlace, type SiteTimes } from "../../feed/call-sites";

export type Measure = "timeNs" | "calls" | "bytes";
export type Sums = Record<Measure, number>;

/** A function of the program, or of MPI. */
export interface PathFunction {
  /** What tells it from others: name and program, or the number of an MPI function. */
  key: string;
  name: string;
  module: string;
  /** The number of an MPI function; null for one of the program. */
  mpi: number | null;
}

export interface PathNode {
  /** Its place among the nodes of its tree. */
  number: number;
  function: PathFunction;
  parent: PathNode | null;
  depth: number;
  /** Of it and all it leads to. */
  sums: Sums;
  children: Map<string, PathNode>;
  /** Places in its function through which the paths go, with what goes through them. */
  sites: Map<number, number>;
}

/** A path with what was called at its end; the outermost function comes first, the MPI function last. */
interface Path { functions: PathFunction[]; sites: (number | null)[]; sums: Sums }

export interface PathTree { root: PathNode; nodes: readonly PathNode[]; paths: readonly Path[]; depth: number; hasPaths: boolean }

/** Without debug information a name has an offset. */
export function functionName(place: SitePlace): string {
  return place.function ? place.function.replace(/\+0x[0-9a-f]+$/, "") : place.words.replace(/, called by .*$/, "");
}

function functionOf(place: SitePlace): PathFunction {
  const name = functionName(place);
  return { key: `${name}\n${place.module}`, name, module: place.module.replace(/^.*\//, ""), mpi: null };
}

/** From the outermost place to the one that makes the call. */
function placesTo(site: number, places: ProgramPlaces): [number, SitePlace][] {
  const way: [number, SitePlace][] = [];
  for (let at: number | null = site; at !== null; ) {
    const place = places.all.get(at);
    if (!place) break;
    way.push([at, place]);
    at = place.parent;
  }
  return way.reverse();
}

const UNKNOWN: PathFunction = { key: "\nunknown", name: "unknown call site", module: "", mpi: null };

function pathsOf(times: SiteTimes, places: ProgramPlaces, nameOf: (mpi: number) => string): Path[] {
  const paths: Path[] = [];
  for (let row = 0; row < times.length; row++) {
    const [site, mpi] = [times.site[row] ?? NO_SITE, times.function[row] ?? 0];
    const sums: Sums = { timeNs: times.timeNs[row] ?? 0, calls: times.calls[row] ?? 0, bytes: times.bytes[row] ?? 0 };
    const way = placesTo(site, places);
    const own = way.length > 0 ? way.map(([, place]) => functionOf(place)) : [UNKNOWN];
    const last: PathFunction = { key: `mpi ${mpi}`, name: nameOf(mpi), module: "MPI", mpi };
    paths.push({ functions: [...own, last], sites: [...(way.length > 0 ? way.map(([id]) => id) : [null]), null], sums });
  }
  return paths;
}

function node(nodes: PathNode[], of: PathFunction, parent: PathNode | null): PathNode {
  const made: PathNode = { number: nodes.length, function: of, parent, depth: parent ? parent.depth + 1 : 0, sums: zero(), children: new Map(), sites: new Map() };
  nodes.push(made);
  return made;
}

const zero = (): Sums => ({ timeNs: 0, calls: 0, bytes: 0 });

function add(sums: Sums, more: Sums): void {
  sums.timeNs += more.timeNs;
  sums.calls += more.calls;
  sums.bytes += more.bytes;
}

/** From main to MPI, or `isInverted` from MPI to main. */
export function pathTree(times: SiteTimes, places: ProgramPlaces, nameOf: (mpi: number) => string, isInverted: boolean): PathTree {
  const paths = pathsOf(times, places, nameOf);
  const nodes: PathNode[] = [];
  const root = node(nodes, { key: "", name: "all", module: "", mpi: null }, null);
  let depth = 0;
  for (const { functions, sites, sums } of paths) {
    add(root.sums, sums);
    let at = root;
    for (let step = 0; step < functions.length; step++) {
      const index = isInverted ? functions.length - 1 - step : step;
      const of = functions[index] ?? UNKNOWN;
      let next = at.children.get(of.key);
      if (!next) at.children.set(of.key, (next = node(nodes, of, at)));
      add(next.sums, sums);
      const site = sites[index];
      if (site !== null && site !== undefined) next.sites.set(site, (next.sites.get(site) ?? 0) + sums.timeNs);
      at = next;
    }
    depth = Math.max(depth, functions.length);
  }
  return { root, nodes, paths, depth, hasPaths: places.hasPaths };
}

/** A rectangle of the picture, from 0 to 1 in width. */
export interface Block { node: PathNode; from: number; to: number; row: number }

/** What is drawn when a node fills the width: what led to it, and what it leads to, down to this width. */
export function blocksOf(focus: PathNode, measure: Measure, least: number): Block[] {
  const blocks: Block[] = [];
  for (let above: PathNode | null = focus; above; above = above.parent) blocks.push({ node: above, from: 0, to: 1, row: above.depth });
  const visit = (at: PathNode, from: number, to: number): void => {
    const total = at.sums[measure];
    if (total <= 0) return;
    let left = from;
    for (const child of sorted(at, measure)) {
      const right = left + (to - from) * (child.sums[measure] / total);
      if (right - left >= least) {
        blocks.push({ node: child, from: left, to: right, row: child.depth });
        visit(child, left, right);
      }
      left = right;
    }
  };
  visit(focus, 0, 1);
  return blocks;
}

/** What a node leads to, the greatest first; by name where they are the same. */
export function sorted(at: PathNode, measure: Measure): PathNode[] {
  return [...at.children.values()].sort((one, other) => other.sums[measure] - one.sums[measure] || (one.function.key < other.function.key ? -1 : 1));
}

export interface FunctionSums {
  function: PathFunction;
  /** Of all calls under it, each once though the function may be several times on their path. */
  inclusive: Sums;
  /** Of the MPI calls that it makes itself; of an MPI function, all of its calls. */
  own: Sums;
}

/** Each function with what it leads to. */
export function functionSums({ paths }: PathTree): FunctionSums[] {
  const all = new Map<string, FunctionSums>();
  for (const { functions, sums } of paths) {
    const seen = new Set<string>();
    functions.forEach((of, at) => {
      let row = all.get(of.key);
      if (!row) all.set(of.key, (row = { function: of, inclusive: zero(), own: zero() }));
      if (!seen.has(of.key)) add(row.inclusive, sums);
      seen.add(of.key);
      if (at >= functions.length - 2) add(row.own, sums);
    });
  }
  return [...all.values()];
}

export interface Neighbour { function: PathFunction; sums: Sums }

/** Who called a function, and what it called, each path once. */
export function neighbours({ paths }: PathTree, key: string): { callers: Neighbour[]; callees: Neighbour[] } {
  const [callers, callees] = [new Map<string, Neighbour>(), new Map<string, Neighbour>()];
  for (const { functions, sums } of paths) {
    const note = (found: Map<string, Neighbour>, of: PathFunction | undefined, seen: Set<string>): void => {
      if (!of || seen.has(of.key)) return;
      seen.add(of.key);
      const row = found.get(of.key) ?? { function: of, sums: zero() };
      found.set(of.key, row);
      add(row.sums, sums);
    };
    const [above, below] = [new Set<string>(), new Set<string>()];
    functions.forEach((of, at) => {
      if (of.key !== key) return;
      note(callers, functions[at - 1], above);
      note(callees, functions[at + 1], below);
    });
  }
  return { callers: [...callers.values()], callees: [...callees.values()] };
}

/** Time by line of a source file: of all calls that come through the line, each once. */
export function lineSums({ paths }: PathTree, places: ProgramPlaces, file: string): Map<number, Sums> {
  const lines = new Map<number, Sums>();
  for (const { sites, sums } of paths) {
    const seen = new Set<number>();
    for (const site of sites) {
      const place = site === null ? undefined : places.all.get(site);
      if (!place || place.file !== file || place.line === 0 || seen.has(place.line)) continue;
      seen.add(place.line);
      const row = lines.get(place.line) ?? zero();
      lines.set(place.line, row);
      add(row, sums);
    }
  }
  return lines;
}

/** The place of a function through which most time goes. */
export function mainSite(tree: PathTree, key: string, places: ProgramPlaces): number | null {
  const all = new Map<number, number>();
  for (const { functions, sites, sums } of tree.paths) {
    functions.forEach((of, at) => {
      const site = sites[at];
      if (of.key === key && site !== null && site !== undefined) all.set(site, (all.get(site) ?? 0) + sums.timeNs);
    });
  }
  const known = [...all].filter(([site]) => (places.all.get(site)?.line ?? 0) > 0);
  return known.sort((one, other) => other[1] - one[1] || one[0] - other[0])[0]?.[0] ?? null;
}

/** A node of another tree with the same functions on its path; the nearest that there is. */
export function sameNode(root: PathNode, before: PathNode | null): PathNode {
  const way: string[] = [];
  for (let at = before; at?.parent; at = at.parent) way.push(at.function.key);
  let at = root;
  for (const key of way.reverse()) {
    const next = at.children.get(key);
    if (!next) break;
    at = next;
  }
  return at;
}
