// Made-up answers about a whole run: what ranks' time was spent on, the critical path, and groups by turns of a loop.

const u32 = (list) => new Uint8Array(Uint32Array.from(list, (value) => value >>> 0).buffer);
const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);

const NONE = 0xffffffff;
const KINDS = 9;
const CELLS_MAX = 1 << 17;
const TURN_NS = 1e9;

const isMeant = (only, rank) => !only || only.some(([first, last]) => rank >= first && rank <= last);

export function makeShares({ fromNs, toNs, edgeNs, only, ranks, ranksPerRow, bins, hash }) {
  const first = only ? Math.min(...only.map(([from]) => from)) : 0;
  const last = only ? Math.min(ranks - 1, Math.max(...only.map(([, to]) => to))) : ranks - 1;
  const perRow = 2 ** Math.floor(Math.log2(Math.max(1, ranksPerRow)));
  const firstRow = Math.floor(first / perRow);
  const rows = Math.ceil((last + 1) / perRow) - firstRow;
  const end = Math.min(toNs, edgeNs);
  const most = Math.max(1, Math.min(bins, Math.floor(CELLS_MAX / rows)));
  let width = 2 ** 20;
  while ((end - fromNs) / width > most - 1) width *= 2;
  const from = Math.floor(fromNs / width) * width;
  const windows = Math.max(0, Math.ceil((end - from) / width));
  const kinds = Array.from({ length: KINDS }, () => new Int32Array(rows * windows));
  // Sums of 256 microseconds: those of many ranks fit.
  const unit = 2 ** 18;
  for (let row = 0; row < rows; row++) {
    for (let window = 0; window < windows; window++) {
      const units = (width * perRow) / unit;
      const waits = 0.2 + 0.2 * hash(window, row, 71);
      const isDisturbed = firstRow + row === 21;
      const parts = isDisturbed ? [0.6, 0.35, 0.03, 0.02, 0, 0, 0, 0, 0] : [0.9 - waits, 0, 0.05, 0.05, 0.3 * waits, 0.6 * waits, 0.05 * waits, 0.05 * waits, 0];
      parts.forEach((part, kind) => (kinds[kind][row * windows + window] = Math.round(part * units)));
    }
  }
  return {
    from_ns: from, width_ns: width, windows, until_ns: Math.round(edgeNs), first_rank: firstRow * perRow, ranks_per_row: perRow, rows, unit_ns: unit,
    kinds: kinds.map((column) => new Uint8Array(column.buffer)),
  };
}

export function makeCritical({ fromNs, toNs, edgeNs, ranks, functions, hash }) {
  const end = Math.min(toNs, Math.round(edgeNs));
  const steps = { rank: [], kind: [], start: [], function: [], other: [] };
  const sums = new Map();
  const step = Math.max(1e6, (end - fromNs) / 3000);
  let rank = Math.min(ranks - 1, 21);
  for (let at = fromNs, number = 0; at < end; number++) {
    const kind = number % 3 === 0 ? 0 : number % 3 === 1 ? 1 : 2;
    const length = Math.min(end - at, Math.max(1, Math.round(step * (kind === 0 ? 2 : 0.4) * (0.5 + hash(number, rank, 72)))));
    const other = kind === 2 ? Math.floor(ranks * hash(number, rank, 73)) : rank;
    const called = functions[number % functions.length] ?? 0;
    for (const [name, value] of [["rank", rank], ["kind", kind], ["start", at], ["function", called], ["other", other]]) steps[name].push(value);
    const sum = sums.get(`${kind}/${called}`) ?? { kind, called, ns: 0, steps: 0 };
    sums.set(`${kind}/${called}`, { ...sum, ns: sum.ns + length, steps: sum.steps + 1 });
    at += length;
    rank = number % 9 === 8 ? Math.floor(ranks * hash(number, 1, 74)) : rank;
  }
  const parts = [...sums.values()].sort((one, another) => another.ns - one.ns);
  return {
    from_ns: Math.round(fromNs), to_ns: end, rank: u32(steps.rank), kind: u32(steps.kind), start_ns: f64(steps.start), function: u32(steps.function), site: u32(steps.rank.map(() => NONE)), other: u32(steps.other), is_joined: false,
    part_kind: u32(parts.map(({ kind }) => kind)), part_function: u32(parts.map(({ called }) => called)), part_site: u32(parts.map(() => NONE)), part_ns: f64(parts.map(({ ns }) => ns)), part_steps: f64(parts.map((part) => part.steps)),
  };
}

export function makeGroups({ fromNs, toNs, edgeNs, only, by, ranks, nodeOf, functions, hash }) {
  const end = Math.max(fromNs + 1, Math.min(toNs, Math.round(edgeNs)));
  const shown = Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => isMeant(only, rank));
  const keys = [...new Set(shown.map((rank) => (by === "rank" ? rank : nodeOf(rank))))].sort((one, other) => one - other);
  const groups = Math.min(12, keys.length);
  const groupOf = new Map(keys.map((key, at) => [key, Math.floor((at * groups) / keys.length)]));
  const members = Array.from({ length: groups }, (_, group) => keys.filter((key) => groupOf.get(key) === group));
  const turns = Math.max(1, Math.floor((end - fromNs) / TURN_NS));
  const columns = Math.min(16, turns);
  const links = [];
  for (let column = 0; column < columns; column++) {
    for (let from = 0; from < groups; from++) {
      for (const to of new Set([from, (from + 1) % groups, (from + groups - 1) % groups])) links.push({ column, from, to, chance: hash(column, from * 16 + to, 75) });
    }
  }
  const edges = Array.from({ length: columns }, (_, at) => fromNs + ((end - fromNs) * at) / columns);
  return {
    edges_ns: f64([...edges, end]), turns: u32(edges.map((_, at) => Math.floor(((at + 1) * turns) / columns) - Math.floor((at * turns) / columns))), loop_turns: turns, loop_function: functions[0] ?? NONE, loop_site: NONE,
    rank: u32(shown), group: u32(shown.map((rank) => groupOf.get(by === "rank" ? rank : nodeOf(rank)))), groups,
    first_key: u32(members.map((all) => all[0])), last_key: u32(members.map((all) => all.at(-1))),
    from: u32(links.map(({ from }) => from)), to: u32(links.map(({ to }) => to)), column: u32(links.map(({ column }) => column)),
    messages: f64(links.map(({ chance }) => Math.round(900 * chance))), bytes: f64(links.map(({ chance }) => Math.round(9e6 * chance))), waited_ns: f64(links.map(({ chance }) => Math.round(4e8 * chance ** 3))),
    worst: f64(links.map(({ chance }) => 0.5 + 6 * chance)), worst_src: u32(links.map(() => 0)), worst_dst: u32(links.map(() => 1)), worst_send_ns: f64(links.map(() => fromNs)), worst_recv_ns: f64(links.map(() => fromNs + 1)), outside: 0,
  };
}
