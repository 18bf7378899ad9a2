// Regions and pairs for tests: rows of ranks, each a ring, and a ring of rows.

import type { Pairs, Region, Regions } from "../../feed/regions";

export function rows(many: number, row: number): Regions {
  const regions = Array.from({ length: many }, (_, id): Region => (
    { id, ranks: [[id * row, (id + 1) * row - 1]], latency: id % 3 === 0 ? null : 0.5 + id, exactShare: 0.5, messages: 100, delayed: 10, aboveExpected: 20 }));
  const between = regions.map(({ id }) => ({ a: id, b: (id + 1) % many, latency: 1, exactShare: 0.4, messages: 5, delayed: 0, aboveExpected: 1 })).filter(({ a, b }) => a !== b);
  return { version: 1, count: many, withCollectives: false, regions, between };
}

export function ringPairs(many: number, row: number): Pairs {
  const found: [src: number, dst: number, messages: number][] = [];
  for (let rank = 0; rank < many * row; rank++) {
    const first = rank - (rank % row);
    if (row > 1) found.push([rank, first + ((rank - first + 1) % row), 10], [rank, first + ((rank - first + row - 1) % row), 10]);
    if (rank % row === 0 && many > 1) found.push([rank, (rank + row) % (many * row), 1]);
  }
  return {
    fromNs: 0,
    toNs: 1e9,
    src: Uint32Array.from(found, ([src]) => src),
    dst: Uint32Array.from(found, ([, dst]) => dst),
    messages: Float64Array.from(found, ([, , messages]) => messages),
    bytes: Float64Array.from(found, ([, , messages]) => messages * 100),
    exact: Float64Array.from(found, ([src, , messages]) => (src % 2 === 0 ? messages : 0)),
    latency: Float64Array.from(found, ([src]) => (src % 2 === 0 ? 1 + (src % 5) : Number.NaN)),
    leftOut: 0,
  };
}
