// Made-up courses of latency that fit the made-up regions: one gets slower and stays so, one is slow now and then, the
// others go up and down. Kinds: full, none.

const WINDOW_S = 0.1;
/** The number of windows that are not final. */
const OPEN = 2;
const KEPT_MAX = 64;

const NOTHING = { by: "node", version: 1, window_s: WINDOW_S, final_s: 0, has_normal: true, regions: [], links: [], other_messages: [0, 0] };

export function makeEvolution(kind, { regions, ranks, nodes, nodeOf, untilS, isFinal, hash }) {
  const final = Math.floor(untilS / WINDOW_S) - (isFinal ? 0 : OPEN);
  if (kind === "none" || final < 5 || ranks === 0) return NOTHING;
  const isByNode = regions.regions.length === 0;
  const inside = isByNode ? byNode(ranks, nodes, nodeOf) : regions.regions;
  const open = isFinal ? [] : Array.from({ length: OPEN }, (_, at) => final + at);
  const course = (of, id, other) => courseOf(of, { id, other, final, open, hash });
  return {
    by: isByNode ? "node" : "traffic", version: isByNode ? 1 : 3, window_s: WINDOW_S, final_s: final * WINDOW_S, has_normal: true,
    regions: inside.slice(0, 64).map((each) => course(each, each.id, null)),
    links: (isByNode ? [] : regions.between).slice(0, 32).map((each) => course({ ...each, ranks: [] }, each.a, each.b)),
    other_messages: [0, 12_345],
  };
}

function byNode(ranks, nodes, nodeOf) {
  const all = Array.from({ length: ranks }, (_, rank) => rank);
  return Array.from({ length: nodes }, (_, node) => {
    const own = all.filter((rank) => nodeOf(rank) === node);
    return { id: node, ranks: [[own[0], own.at(-1)]], latency: node === 1 ? 2.4 : 1.02, messages: 40_000, exact: 0.5 };
  });
}

/** L of a window: what gets slower does so from a third of the run to a half. */
function latencyAt(mean, window, final, id, hash) {
  const noise = 0.85 + 0.3 * hash(window, id, 51);
  const part = window / final;
  if (mean > 2) return noise * (part < 1 / 3 ? 1.05 : part < 1 / 2 ? 1.05 + (mean * 1.4 - 1.05) * (part - 1 / 3) * 6 : mean * 1.4);
  return noise * mean * (1 + 0.15 * Math.sin(window / 13 + id)) * (hash(window, id, 52) > 0.97 ? 2.2 : 1);
}

function courseOf({ ranks, messages, latency, exact = 0.6 }, { id, other, final, open, hash }) {
  const perWindow = Math.max(1, Math.round(messages / final));
  const salt = id * 97 + (other ?? 0);
  const window = (number) => {
    const all = Math.round(perWindow * (0.7 + 0.6 * hash(number, salt, 53)));
    // Some windows have messages, and the time of none is known.
    const known = latency === null || hash(number, salt, 54) > 0.98 ? 0 : Math.ceil(all * exact);
    const slow = known > 0 ? latencyAt(latency, number, final, salt, hash) : 0;
    return { number, messages: all, exact: known, latency: slow, delayed: Math.round(known * Math.min(0.97, Math.max(0, (slow - 1.1) / 2.2))), above_expected: Math.round(known * Math.min(0.97, Math.max(0, (slow - 0.5) / 1.1))) };
  };
  const all = Array.from({ length: final }, (_, number) => window(number));
  const cuts = latency > 2 ? [["rest", 0, 1 / 3], ["growth", 1 / 3, 1 / 2], ["steady", 1 / 2, 1]] : salt % 5 === 3 ? [["rest", 0, 0.6], ["growth", 0.6, 0.66], ["rest", 0.66, 1]] : [["rest", 0, 1]];
  const averages = averagesOf(all);
  const segments = cuts.map(([kind, from, to], at) => segmentOf(kind, all.slice(Math.floor(from * final), Math.floor(to * final)), at < cuts.length - 1)).filter(Boolean);
  const kept = segments.flatMap(({ first, count, segment: { kind, is_closed: isClosed } }) => all.slice(first, first + count).filter((_, at) => {
    const every = kind === "rest" && isClosed ? (count - 1) / 2 : Math.max(1, count / KEPT_MAX);
    return at === count - 1 || Math.floor(at / every) !== Math.floor((at - 1) / every);
  }));
  const whole = tally(all);
  return {
    region: id, other, ranks, ...whole, segments: segments.map(({ segment }) => segment), joined: 0,
    bands: bandsOf(all, salt, hash), points: pointsOf(kept, averages), provisional: pointsOf(open.map(window), []),
  };
}

/** The whole series in at most 256 slots of one, two, four ... windows, as the daemon makes them. */
function bandsOf(all, salt, hash) {
  const each = 2 ** Math.max(0, Math.ceil(Math.log2(all.length / 256)));
  const slots = Array.from({ length: Math.ceil(all.length / each) }, (_, at) => all.slice(at * each, (at + 1) * each)).map((windows, at) => ({ at, ...tally(windows) })).filter(({ exact }) => exact > 0);
  const column = (of) => slots.map(of);
  const spread = ({ at }) => 0.2 + 0.25 * hash(at, salt, 55);
  return {
    width_s: each * WINDOW_S, time_s: column(({ at }) => at * each * WINDOW_S), latency: column(({ latency }) => latency), exact: column(({ exact }) => exact),
    p10: column((slot) => slot.latency * (1 - spread(slot))), p50: column(({ latency }) => 0.94 * latency), p90: column((slot) => slot.latency * (1 + 2 * spread(slot))),
  };
}

function tally(windows) {
  const sum = (of) => windows.reduce((total, each) => total + of(each), 0);
  const exact = sum((each) => each.exact);
  return { messages: sum((each) => each.messages), exact, delayed: sum((each) => each.delayed), above_expected: sum((each) => each.above_expected), latency: exact > 0 ? sum((each) => each.exact * each.latency) / exact : null };
}

function averagesOf(windows) {
  let [exact, weighted] = [0, 0];
  return windows.map((each) => {
    exact += each.exact;
    weighted += each.exact * each.latency;
    return exact > 0 ? weighted / exact : 0;
  });
}

function segmentOf(kind, windows, isClosed) {
  if (windows.length === 0) return null;
  const [first, last] = [windows[0], windows.at(-1)];
  const edge = (part) => tally(part).latency ?? 1;
  const few = Math.max(1, Math.floor(windows.length / 10));
  return {
    first: first.number, count: windows.length, segment: {
      kind, from_s: first.number * WINDOW_S, to_s: (last.number + 1) * WINDOW_S, is_closed: isClosed, windows: windows.filter(({ exact }) => exact > 0).length,
      ...tally(windows), rise: kind === "growth" ? edge(windows.slice(-few)) / edge(windows.slice(0, few)) - 1 : 0,
    },
  };
}

function pointsOf(windows, averages) {
  const column = (name) => windows.map((each) => each[name]);
  return {
    time_s: windows.map(({ number }) => number * WINDOW_S), latency: column("latency"), average: windows.map(({ number }) => averages[number] ?? 0),
    messages: column("messages"), exact: column("exact"), delayed: column("delayed"), above_expected: column("above_expected"), version: windows.map(() => 3),
  };
}

/** In the slow region a call hangs for a while, again and again. */
export function makePending(nowNs, { regions }) {
  const slow = regions.find(({ latency }) => latency > 2);
  const inCallNs = nowNs % 9e9;
  return slow ? { region: [slow.id], calls: [3], since_ns: [nowNs - inCallNs], total_ns: [inCallNs * 2.2] } : { region: [], calls: [], since_ns: [], total_ns: [] };
}
