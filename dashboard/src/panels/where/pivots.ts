// Places of the nodes of a graph in the plane, with neighbours near each other: classical scaling of the hops to a few pivots.
// A grid comes out as a grid. Pure, and the same for the same graph.

export interface Graph {
  size: number;
  /** Neighbours of node n: `targets[starts[n]]` to `targets[starts[n + 1] - 1]`. */
  starts: Uint32Array;
  targets: Uint32Array;
}

const PIVOTS = 32;
const ROUNDS = 60;

export function graphOf(size: number, a: ArrayLike<number>, b: ArrayLike<number>): Graph {
  const starts = new Uint32Array(size + 1);
  for (let at = 0; at < a.length; at++) {
    for (const node of [a[at] ?? 0, b[at] ?? 0]) starts[node + 1] = (starts[node + 1] ?? 0) + 1;
  }
  for (let node = 0; node < size; node++) starts[node + 1] = (starts[node + 1] ?? 0) + (starts[node] ?? 0);
  const next = starts.slice();
  const targets = new Uint32Array(2 * a.length);
  for (let at = 0; at < a.length; at++) {
    const [one, other] = [a[at] ?? 0, b[at] ?? 0];
    for (const [from, to] of [[one, other], [other, one]] as const) {
      const place = next[from] ?? 0;
      targets[place] = to;
      next[from] = place + 1;
    }
  }
  return { size, starts, targets };
}

/** Hops from a node; what cannot be reached is -1. */
function hops({ size, starts, targets }: Graph, from: number): Int32Array {
  const found = new Int32Array(size).fill(-1);
  const queue = new Uint32Array(size);
  let [head, tail] = [0, 1];
  queue[0] = from;
  found[from] = 0;
  while (head < tail) {
    const node = queue[head++] ?? 0;
    for (let at = starts[node] ?? 0; at < (starts[node + 1] ?? 0); at++) {
      const next = targets[at] ?? 0;
      if (found[next] !== -1) continue;
      found[next] = (found[node] ?? 0) + 1;
      queue[tail++] = next;
    }
  }
  return found;
}

/** Squared hops to pivots that are far from each other, without the means of rows and columns. */
function columnsOf(graph: Graph): Float64Array[] {
  const { size } = graph;
  const nearest = new Float64Array(size).fill(Infinity);
  const columns: Float64Array[] = [];
  let pivot = 0;
  while (columns.length < Math.min(PIVOTS, size)) {
    const found = hops(graph, pivot);
    const beyond = found.reduce((most, hop) => Math.max(most, hop), 0) + 2;
    const column = Float64Array.from(found, (hop) => (hop < 0 ? beyond : hop));
    columns.push(column.map((hop) => hop * hop));
    let next = 0;
    for (let node = 0; node < size; node++) {
      nearest[node] = Math.min(nearest[node] ?? 0, column[node] ?? 0);
      if ((nearest[node] ?? 0) > (nearest[next] ?? 0)) next = node;
    }
    pivot = next;
  }
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / size);
  const all = means.reduce((sum, value) => sum + value, 0) / columns.length;
  for (let node = 0; node < size; node++) {
    const mean = columns.reduce((sum, column) => sum + (column[node] ?? 0), 0) / columns.length;
    columns.forEach((column, at) => (column[node] = -((column[node] ?? 0) - mean - (means[at] ?? 0) + all) / 2));
  }
  return columns;
}

/** The strongest direction of a symmetric matrix that is square to those before it. */
function direction(matrix: readonly Float64Array[], before: readonly Float64Array[]): Float64Array {
  const many = matrix.length;
  let vector = Float64Array.from(matrix, (_, at) => 1 / (1 + at) + (at % 3 === before.length ? 0.5 : 0));
  for (let round = 0; round < ROUNDS; round++) {
    const next = Float64Array.from(matrix, (row) => row.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0));
    for (const other of before) {
      const along = next.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
      for (let at = 0; at < many; at++) next[at] = (next[at] ?? 0) - along * (other[at] ?? 0);
    }
    const length = Math.hypot(...next);
    if (!(length > 1e-9)) return new Float64Array(many);
    vector = next.map((value) => value / length);
  }
  return vector;
}

/** Around 0, with a mean distance of 1 from it; all at 0 where the graph says nothing. */
export function places(graph: Graph): { x: Float32Array; y: Float32Array } {
  const { size } = graph;
  const columns = columnsOf(graph);
  const matrix = columns.map((one) => Float64Array.from(columns, (other) => one.reduce((sum, value, node) => sum + value * (other[node] ?? 0), 0)));
  const first = direction(matrix, []);
  const second = direction(matrix, [first]);
  const along = (vector: Float64Array): Float32Array => {
    const found = new Float32Array(size);
    for (let node = 0; node < size; node++) found[node] = columns.reduce((sum, column, at) => sum + (column[node] ?? 0) * (vector[at] ?? 0), 0);
    return found;
  };
  const [x, y] = [along(first), along(second)];
  let mean = 0;
  for (let node = 0; node < size; node++) mean += Math.hypot(x[node] ?? 0, y[node] ?? 0) / size;
  const scale = mean > 1e-9 ? 1 / mean : 0;
  return { x: x.map((value) => value * scale), y: y.map((value) => value * scale) };
}
