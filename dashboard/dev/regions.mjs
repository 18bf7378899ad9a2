// Made-up regions and traffic by pairs: rows of ranks that exchange among themselves, a transpose between rows, and a ring
// of rows. Kinds: slow (one region is), calm, unknown (no criteria yet), one (a single region), yet (none).

/** Rows as long as a job of this size would have them. */
const rowOf = (ranks) => (ranks >= 1500 ? 50 : ranks >= 400 ? 32 : ranks >= 32 ? 8 : Math.max(2, Math.ceil(Math.sqrt(ranks))));
const STRIDES = [1, 2, 5, 10];

/** Whom each rank sends to, and how many of 100 messages. */
function* partners(rank, ranks, row) {
  const first = rank - (rank % row);
  const length = Math.min(row, ranks - first);
  for (const stride of STRIDES) {
    if (stride * 2 > length && stride > 1) continue;
    yield [first + ((rank - first + stride) % length), 24 / stride];
    yield [first + ((rank - first + length - stride) % length), 24 / stride];
  }
  const rows = Math.ceil(ranks / row);
  const place = rank - first;
  const transposed = (place % rows) * row + (Math.floor(rank / row) % row);
  if (transposed < ranks) yield [transposed, 2];
  if (place % 4 === 0) yield [(rank + row) % ranks, 3];
}

const NO_REGIONS = { version: 0, count: 0, with_collectives: false, regions: [], between: [] };

export function makeRegions(kind, { ranks, nodeOf, untilS, hash }) {
  if (kind === "yet" || ranks === 0 || untilS <= 0) return { regions: NO_REGIONS, pairs: { src: new Uint8Array(0), dst: new Uint8Array(0), messages: new Uint8Array(0), bytes: new Uint8Array(0), exact: new Uint8Array(0), latency: new Uint8Array(0), left_out: 0 } };
  const row = kind === "one" ? ranks : rowOf(ranks);
  const many = Math.ceil(ranks / row);
  const slow = kind === "slow" || kind === "many" ? Math.floor(many / 3) : -1;
  const unknown = (region) => kind === "unknown" || (many > 6 && region !== slow && region % 7 === 5);
  const latencyOf = (region, chance) => (unknown(region) ? null : (region === slow ? 3.6 : 0.55 + 0.8 * hash(region, 4, 4)) * (0.8 + 0.4 * chance));
  const rows = new Map();
  for (let src = 0; src < ranks; src++) {
    for (const [dst, weight] of partners(src, ranks, kind === "one" ? Math.min(ranks, rowOf(ranks)) : row)) {
      if (dst === src) continue;
      const key = src * ranks + dst;
      const messages = (rows.get(key)?.messages ?? 0) + Math.max(1, Math.round(weight * untilS * (0.6 + 0.8 * hash(src, dst, 41))));
      const far = nodeOf(src) !== nodeOf(dst) ? 1.25 : 1;
      const from = Math.floor(src / row);
      const latency = latencyOf(from === Math.floor(dst / row) || dst / row >= many ? from : Math.floor(dst / row), hash(src, dst, 42));
      rows.set(key, { src, dst, messages, bytes: messages * (dst % row === (src + 1) % row ? 8192 : 512), latency: latency === null || messages < 2 ? Number.NaN : latency * far });
    }
  }
  const pairs = [...rows.values()];
  const sums = new Map();
  for (const { src, dst, messages, latency } of pairs) {
    const [a, b] = [Math.floor(src / row), Math.floor(dst / row)].sort((one, other) => one - other);
    const sum = sums.get(`${a}/${b}`) ?? { a, b, messages: 0, exact: 0, weighted: 0, delayed: 0, above_expected: 0 };
    sum.messages += messages;
    if (!Number.isNaN(latency)) Object.assign(sum, { exact: sum.exact + messages, weighted: sum.weighted + messages * latency });
    if (latency > 1) sum.delayed += Math.round(messages * Math.min(0.9, latency / 6));
    if (latency > 0.6) sum.above_expected += Math.round(messages * Math.min(0.95, latency / 3));
    sums.set(`${a}/${b}`, sum);
  }
  const known = ({ exact, weighted }) => (exact > 0 ? weighted / exact : null);
  const regions = Array.from({ length: many }, (_, id) => {
    const inside = sums.get(`${id}/${id}`) ?? { messages: 0, exact: 0, weighted: 0, delayed: 0, above_expected: 0 };
    const latency = known(inside);
    return {
      id, ranks: [[id * row, Math.min(ranks, (id + 1) * row) - 1]], latency, exact: latency === null ? 0 : 0.35 + 0.6 * hash(id, 9, 9),
      messages: inside.messages, delayed: inside.delayed, above_expected: inside.above_expected,
    };
  });
  const between = [...sums.values()].filter(({ a, b }) => a !== b).map((sum) => ({ a: sum.a, b: sum.b, latency: known(sum), messages: sum.messages, delayed: sum.delayed, above_expected: sum.above_expected, exact: sum.messages > 0 ? sum.exact / sum.messages : 0 }));
  const column = (name) => pairs.map((pair) => pair[name]);
  const u32 = (list) => new Uint8Array(Uint32Array.from(list).buffer);
  const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);
  const exact = pairs.map(({ messages, latency }) => (Number.isNaN(latency) ? 0 : messages));
  return {
    regions: { version: 1, count: many, with_collectives: false, regions, between },
    pairs: { src: u32(column("src")), dst: u32(column("dst")), messages: f64(column("messages")), bytes: f64(column("bytes")), exact: f64(exact), latency: f64(column("latency")), left_out: 0 },
  };
}
