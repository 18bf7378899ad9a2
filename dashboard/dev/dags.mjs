// Made-up dependency graphs: exchanges between partners in turns, cut into nodes, layers and bars as the real server does.
// The same range gives the same graph. Few ranks make a ring, more a pattern of rows, many a halo in two dimensions.

const u32 = (list) => new Uint8Array(Uint32Array.from(list, (value) => value >>> 0).buffer);
const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);

const SIZES = [64, 512, 8192, 65_536];
/** Bars of a node, at most. */
const BARS = 64;

function shape(ranks) {
  if (ranks <= 16) return { periodNs: 100e6, partners: (rank) => [(rank + 1) % ranks, (rank + ranks - 1) % ranks] };
  if (ranks <= 128) {
    const row = 2 ** Math.ceil(Math.log2(ranks) / 2);
    const inRow = (rank, by) => Math.floor(rank / row) * row + ((rank % row) ^ by);
    const transposed = (rank) => ((rank % row) * row + Math.floor(rank / row)) % ranks;
    return { periodNs: 200e6, partners: (rank) => [...[1, 2, 4].filter((by) => by < row).map((by) => inRow(rank, by)), transposed(rank)].filter((other) => other !== rank && other < ranks) };
  }
  const width = 2 ** Math.ceil(Math.log2(ranks) / 2);
  return { periodNs: 25e6, partners: (rank) => [rank + 1, rank - 1, rank + width, rank - width].map((other) => (other + ranks) % ranks) };
}

/** Messages with all that is known of them, in the order of their sends. */
function messagesOf({ fromNs, toNs, ranks, hostOf, hash }) {
  const { periodNs, partners } = shape(ranks);
  const found = [];
  for (let turn = Math.max(0, Math.floor(fromNs / periodNs) - 1); turn * periodNs < toNs; turn++) {
    for (let src = 0; src < ranks; src++) {
      const many = src % 13 === 3 ? 4 : 1;
      partners(src).forEach((dst, which) => {
        for (let copy = 0; copy < many; copy++) {
          const chance = hash(turn, src, which * 8 + copy);
          const isInter = hostOf(src) !== hostOf(dst);
          const bytes = SIZES[Math.floor(SIZES.length * hash(src % 5, which, copy))];
          const usualNs = (isInter ? 9000 : 1500) + bytes / (isInter ? 5 : 12);
          // One host is behind a slow link every other second.
          const isSlow = isInter && hostOf(dst) === 1 && Math.floor((turn * periodNs) / 1e9) % 2 === 1;
          const latency = (isSlow ? 2.4 + 4 * chance : 0.55 + 0.9 * chance ** 2) * (hash(turn, dst, 91) < 0.04 ? 2.6 : 1);
          const sendNs = Math.round(turn * periodNs + 1e6 + 4e6 * hash(turn, src, 5) + 200e3 * copy + 50e3 * which);
          const tMsgNs = Math.round(usualNs * latency);
          found.push({ src, dst, bytes, sendNs, recvNs: Math.round(turn * periodNs + 0.5 * periodNs + 3e6 * hash(turn, dst, 6) + 1000 * src + tMsgNs), tMsgNs, latency: !isInter && hash(src, dst, 17) < 0.12 ? Number.NaN : latency, isExact: which === 0 || chance > 0.3 });
        }
      });
    }
  }
  return found.sort((one, other) => one.sendNs - other.sendNs || one.src - other.src);
}

/** The events of each rank, cut where a receive follows a send. */
function nodesOf(messages, isMeant, isIn) {
  const events = new Map();
  const add = (rank, event) => {
    if (!isMeant(rank) || !isIn(event.ns)) return;
    if (!events.has(rank)) events.set(rank, []);
    events.get(rank).push(event);
  };
  messages.forEach(({ src, dst, sendNs, recvNs }, at) => {
    add(src, { at, isSent: true, ns: sendNs });
    add(dst, { at, isSent: false, ns: recvNs });
  });
  const nodes = [];
  for (const [rank, mine] of [...events].sort(([one], [other]) => one - other)) {
    let node = null;
    for (const event of mine.sort((one, other) => one.ns - other.ns)) {
      if (!node || (!event.isSent && node.sent > 0)) nodes.push((node = { rank, events: [], sent: 0, received: 0, layer: 0, place: 0 }));
      node.events.push(event);
      node[event.isSent ? "sent" : "received"]++;
    }
  }
  return nodes;
}

function layOut(nodes, edges) {
  const latter = nodes.map(() => []);
  const former = nodes.map(() => []);
  const missing = nodes.map(() => 0);
  for (const { from, to } of edges) {
    latter[from].push(to);
    former[to].push(from);
    missing[to]++;
  }
  const ready = nodes.map((_, at) => at).filter((at) => missing[at] === 0);
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    for (const to of latter[node]) {
      nodes[to].layer = Math.max(nodes[to].layer, nodes[node].layer + 1);
      if (--missing[to] === 0) ready.push(to);
    }
  }
  const layers = [];
  nodes.forEach((node, at) => (layers[node.layer] ??= []).push(at));
  const middle = new Float64Array(nodes.length);
  const settle = (layer) => layer.forEach((node, at) => (middle[node] = (at + 0.5) / layer.length));
  layers.forEach(settle);
  for (let sweep = 0; sweep < 4; sweep++) {
    const lists = sweep % 2 === 0 ? former : latter;
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      const keys = new Map(layer.map((node) => [node, lists[node].length ? lists[node].reduce((sum, other) => sum + middle[other], 0) / lists[node].length : middle[node]]));
      layer.sort((one, other) => keys.get(one) - keys.get(other));
      settle(layer);
    }
  }
  layers.forEach((layer) => layer.forEach((node, at) => (nodes[node].place = at)));
}

function balance(nodes) {
  const ofRank = new Map();
  for (const { rank, sent, received } of nodes) ofRank.set(rank, (ofRank.get(rank) ?? 0) + sent + received);
  const mean = [...ofRank.values()].reduce((sum, n) => sum + n, 0) / Math.max(1, ofRank.size);
  const deviation = [...ofRank.values()].reduce((sum, n) => sum + Math.abs(n - mean), 0) / Math.max(1, ofRank.size);
  const rows = [...ofRank].map(([rank, messages]) => ({ rank, messages, load: deviation > 1e-9 * mean ? Math.abs(messages - mean) / deviation : 0 }));
  return { rows, mean, deviation };
}

/** How many nodes follow each. */
function followers(count, edges) {
  const latter = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) latter[from].push(to);
  // Too much work for many nodes; the page counts for itself.
  if (count > 1000) return latter.map((list) => list.length);
  return latter.map((list) => {
    const found = new Set();
    const stack = [...list];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (found.has(node)) continue;
      found.add(node);
      stack.push(...latter[node]);
    }
    return found.size;
  });
}

export function makeDag({ fromNs, toNs, edgeNs, only, most, ranks, hostOf, hash }) {
  const isMeant = (rank) => !only || only.some(([first, last]) => rank >= first && rank <= last);
  const all = messagesOf({ fromNs, toNs: Math.min(toNs, edgeNs), ranks, hostOf, hash });
  let untilNs = toNs;
  const isIn = (ns) => ns >= fromNs && ns < Math.min(untilNs, edgeNs);
  const touches = (message) => (isMeant(message.src) && isIn(message.sendNs)) || (isMeant(message.dst) && isIn(message.recvNs));
  const before = all.filter(touches).length;
  let nodes = nodesOf(all, isMeant, isIn);
  if (nodes.length > most) {
    untilNs = Math.round(nodes.map(({ events }) => events[0].ns).sort((one, other) => one - other)[most]);
    nodes = nodesOf(all, isMeant, isIn);
  }
  const ends = new Map();
  nodes.forEach(({ events }, node) => events.forEach(({ at, isSent }) => ends.set(at, { ...ends.get(at), [isSent ? "from" : "to"]: node })));
  const joined = new Map();
  for (const { from, to } of ends.values()) if (from !== undefined && to !== undefined) joined.set(from * nodes.length + to, (joined.get(from * nodes.length + to) ?? 0) + 1);
  const edges = [...joined].map(([key, count]) => ({ from: Math.floor(key / nodes.length), to: key % nodes.length, count }));
  layOut(nodes, edges);
  edges.sort((one, other) => one.from - other.from || one.to - other.to);
  const { rows: ofRanks, mean, deviation } = balance(nodes);
  const after = followers(nodes.length, edges);
  const bars = nodes.flatMap(({ events }, node) => [...events]
    .sort((one, other) => all[other.at].tMsgNs - all[one.at].tMsgNs).slice(0, BARS).sort((one, other) => one.ns - other.ns)
    .map(({ at, isSent }) => ({ ...all[at], node, isSent, other: isSent ? all[at].dst : all[at].src })));
  const sides = nodes.reduce((sum, { events }) => sum + events.length, 0);
  const u = (rows, value) => u32(rows.map(value));
  const f = (rows, value) => f64(rows.map(value));
  return {
    from_ns: fromNs, to_ns: toNs, until_ns: untilNs, layers: nodes.reduce((most, { layer }) => Math.max(most, layer + 1), 0),
    messages: ends.size, left_out: before - ends.size, open: [...ends.values()].filter(({ from, to }) => from === undefined || to === undefined).length,
    contradicted: 0, bars_left_out: sides - bars.length, has_criteria: true, notes: [], isolated: u32([]),
    nodes: {
      rank: u(nodes, (n) => n.rank), host: u(nodes, (n) => hostOf(n.rank)), layer: u(nodes, (n) => n.layer), place: u(nodes, (n) => n.place),
      begin_ns: f(nodes, (n) => n.events[0].ns), end_ns: f(nodes, (n) => n.events.at(-1).ns), received: u(nodes, (n) => n.received), sent: u(nodes, (n) => n.sent),
      following: u32(after),
    },
    edges: { from: u(edges, (e) => e.from), to: u(edges, (e) => e.to), messages: u(edges, (e) => e.count), bytes: f(edges, (e) => e.count * 8192) },
    ranks: { rank: u(ofRanks, (r) => r.rank), messages: f(ofRanks, (r) => r.messages), load: f(ofRanks, (r) => r.load), flatness: f(ofRanks, (r) => 1 - 1 / (1 + r.load / 3)), mean, deviation },
    bars: {
      node: u(bars, (b) => b.node), is_sent: u(bars, (b) => (b.isSent ? 1 : 0)), other: u(bars, (b) => b.other), bytes: f(bars, (b) => b.bytes), t_msg_ns: f(bars, (b) => b.tMsgNs),
      latency: f(bars, (b) => b.latency), is_exact: u(bars, (b) => (b.isExact ? 1 : 0)), send_ns: f(bars, (b) => b.sendNs), recv_ns: f(bars, (b) => b.recvNs),
    },
  };
}
