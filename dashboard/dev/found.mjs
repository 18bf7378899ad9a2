// A made-up diagnosis: figures that fit together, for each cause and for each state of knowing.

import { makeSites } from "./why.mjs";

const CAUSES = { placement: "mapping", pattern: "pattern", background: "background", cpu: "cpu", none: "none" };
const STRETCHES = 40;

/** What the parts of waiting are, of all waiting; they sum to 1, some below 0. */
const ROOTS = {
  mapping: { compute: 0.14, no_core: 0, base: 0.07, distance: 0.62, excess: 0.06, operation: 0.08, other: 0.02, unknown: 0.01 },
  pattern: { compute: 0.93, no_core: 0.04, base: -0.03, distance: 0.05, excess: 0.04, operation: 0.02, other: 0.005, unknown: -0.015 },
  background: { compute: 0.16, no_core: 0.01, base: 0.04, distance: 0.1, excess: 0.58, operation: 0.09, other: 0.02, unknown: 0.01 },
  cpu: { compute: 0.9, no_core: 0.71, base: 0.02, distance: 0.03, excess: 0.02, operation: 0.02, other: 0.01, unknown: 0 },
  none: { compute: 0.5, no_core: 0.02, base: 0.2, distance: 0.14, excess: 0.03, operation: 0.1, other: 0.03, unknown: 0 },
};
/** What each cause costs of the ranks' time. */
const SHARES = {
  mapping: { mapping: 0.118, pattern: 0.03, background: 0.011, cpu: 0 },
  pattern: { pattern: 0.264, mapping: 0.061, cpu: 0.012, background: 0.0004 },
  background: { background: 0.187, pattern: 0.124, mapping: 0.02, cpu: 0 },
  cpu: { cpu: 0.147, pattern: 0.05, background: 0.008, mapping: 0 },
  none: { pattern: 0.011, mapping: 0.004, background: 0.002, cpu: 0 },
};
const BUDGET = {
  mapping: { waiting: 0.34, base: 0.09, distance: 0.41, excess: 0.05, operation: 0.08, other: 0.025, unknown: 0.005 },
  pattern: { waiting: 0.705, base: 0.06, distance: 0.11, excess: 0.035, operation: 0.07, other: 0.0195, unknown: 0.0005 },
  background: { waiting: 0.44, base: 0.06, distance: 0.1, excess: 0.28, operation: 0.09, other: 0.02, unknown: 0.01 },
  cpu: { waiting: 0.77, base: 0.07, distance: 0.05, excess: 0.02, operation: 0.07, other: 0.02, unknown: 0 },
  none: { waiting: 0.3, base: 0.31, distance: 0.2, excess: 0.02, operation: 0.13, other: 0.04, unknown: 0 },
};
/** What costs, in the headline and in the details, its name, and what to do. */
const SENTENCES = {
  mapping: ["59 % of the messages go between nodes, 12 % would if 21 ranks were on another node", "The placement of the ranks", "placement", "Place the ranks as `mpiscope remap` advises: 21 ranks move, and 14 492 instead of 68 837 messages go between nodes."],
  pattern: ["ranks 0-2, 5 and 7 more wait for rank 12", "Load imbalance, and waiting for those who have more of it,", "load imbalance", "Take work from rank 12, or look why it has more of it: its part of the input, reading and writing, work that only it does."],
  background: ["messages between nodes are slower than they can be", "Traffic that makes messages between nodes slower than expected", "network contention", "Run again at another time or on other nodes, where nobody else uses the network as much."],
  cpu: ["ranks wait for a CPU", "CPU contention, and waiting for those who have none,", "CPU contention", "Look for other programs on these nodes, and for more ranks than cores."],
};
const WAYS = [
  ["late sender", "MPI_Recv"], ["wait at n-to-n", "MPI_Allreduce"], ["late sender", "MPI_Waitall"], ["wait at barrier", "MPI_Barrier"],
  ["late receiver", "MPI_Send"], ["late broadcast", "MPI_Bcast"], ["early reduce", "MPI_Reduce"],
];

const WHOLE = { state: "whole", missing_share: 0, until_s: null, sentence: "" };

const empty = () => ({
  budget: {
    waiting_s: 0, base_s: 0, distance_s: 0, excess_s: 0, operation_s: 0, other_s: 0, unknown_s: 0, total_s: 0, distance_saved_s: 0, excess_inside_s: 0, cpu_wait_s: 0,
    waiting_by: { compute: 0, base: 0, distance: 0, excess: 0, operation: 0, other: 0, unknown: 0, no_core: 0 },
  },
  efficiency: { parallel: 0, load_balance: 0, communication: 0, transfer: 0, serialization: 0 },
  waits: [], gathered: [], sites: [], sources: [], advised: null, is_distance_unknown: false, attribution: [], disturbances: [], quiet: [],
  verdict: { cause: "none", avoidable_s: 0, avoidable_wall_s: 0, is_at_least: false, share: 0, confidence: 0, causes: [], remarks: [], lost_share: 0, basis: WHOLE },
});

/** The message's part; null before the first diagnosis. */
export function makeFound(verdict, { ranks, untilS, isFinal, hash }) {
  if (verdict === "yet" || untilS < 1) return null;
  if (verdict === "unsettled") return { headline: "", blamed: [], details: [], waiting_note: "", actions: [], from_s: 0, until_s: 0, left_out_calls: 0, is_final: false, judgement: empty() };
  const cause = CAUSES[verdict];
  const fromS = verdict === "background" ? Math.min(12.3, untilS / 2) : 0;
  const ranksS = ranks * (untilS - fromS);
  const share = cause === "none" ? 0 : SHARES[cause][cause];
  const inMpiS = ranksS * (cause === "none" ? 0.21 : 0.43);
  const budget = budgetOf(cause, inMpiS);
  const waits = waitsOf(cause, ranks, budget.waiting_s, [fromS, untilS], hash);
  const confidence = { mapping: 0.95, pattern: 0.92, background: 0.46, cpu: 0.76, none: 0.95 }[cause];
  return {
    headline: headline(cause, share, confidence), blamed: cause === "cpu" || cause === "pattern" ? [waits[0].awaited] : [], details: details(cause, confidence, waits, share * ranksS, ranks), waiting_note: "", actions: cause === "none" ? [] : SENTENCES[cause].slice(3), from_s: fromS, until_s: untilS,
    left_out_calls: verdict === "background" ? 184_220_931 : 0, is_final: isFinal,
    judgement: {
      budget, waits, gathered: gatheredOf(waits), sources: sourcesOf(cause, ranks, share * ranksS, [fromS, untilS], hash), advised: null, is_distance_unknown: false, sites: makeSites({ budget, waits }, hash), efficiency: efficiencyOf(cause), attribution: stretches(cause, [fromS, untilS], ranks, waits.length, hash),
      quiet: cause === "background" ? [{ from_s: fromS, to_s: untilS / 2, is_quiet: true, slower: 1 }, { from_s: untilS / 2, to_s: untilS, is_quiet: false, slower: 2.4 }] : [],
      disturbances: cause === "none" ? [] : [{ cause, from_s: cause === "background" ? untilS / 2 : fromS + (untilS - fromS) / 3, to_s: untilS }],
      verdict: {
        cause, avoidable_s: share * ranksS, avoidable_wall_s: share * (untilS - fromS), is_at_least: cause === "background", share, confidence,
        causes: Object.entries(SHARES[cause]).map(([name, part]) => [name, part * ranksS]), remarks: [], lost_share: 0, basis: WHOLE,
      },
    },
  };
}

const time = (s) => (s < 1 ? `${(s * 1000).toPrecision(3)} ms` : `${s < 999.5 ? s.toPrecision(3) : Math.round(s)} s`);

const percent = (part) => `${Math.round(100 * part)} %`;

function headline(cause, share, confidence) {
  if (cause === "none") return "No avoidable time above 2 % of the ranks' time.";
  const [what, , name] = SENTENCES[cause];
  const next = Object.entries(SHARES[cause]).find(([other, part]) => other !== cause && part >= 0.02);
  const then = next ? ` Next: ${percent(next[1])} from ${SENTENCES[next[0]][2]}.` : "";
  return `${cause === "background" ? "At least " : ""}${percent(share)} of the ranks' time is avoidable, 2.02 s of 14.9 s: ${what}, since 0:00:12.400 (${name}, confidence ${percent(confidence)}).${then}`;
}

function details(cause, confidence, waits, avoidableS, ranks) {
  if (cause === "none") return [];
  const sure = confidence >= 0.8 ? "is quite sure" : confidence >= 0.5 ? "is likely" : "is a guess";
  const [, what, name] = SENTENCES[cause];
  const found = [`${what} costs ${time(avoidableS)} of the ranks' time; without it the run would take about ${time(avoidableS / ranks)} less.`];
  const [longest] = waits;
  if (cause === "pattern" && longest) found.push(`Of all waiting the longest: rank ${longest.waiter} for rank ${longest.awaited} in ${longest.function}, ${time(longest.seconds)} (${longest.state}).`);
  found.push(`That the cause is ${name} ${sure} (confidence ${percent(confidence)}).`);
  if (cause === "background") found.push("But what messages take in a quiet network is not known: they took about the same all the time, and a network which was slow from the beginning to the end would look the same; `mpiscope calibrate` measures it, where nothing else runs.", "But another cause costs nearly as much.");
  return found;
}

function budgetOf(cause, totalS) {
  const parts = Object.fromEntries(Object.entries(BUDGET[cause]).map(([name, part]) => [`${name}_s`, part * totalS]));
  const by = Object.fromEntries(Object.entries(ROOTS[cause]).map(([name, part]) => [name, part * parts.waiting_s]));
  return { ...parts, total_s: totalS, waiting_by: by, distance_saved_s: cause === "mapping" ? 0.7 * parts.distance_s : 0, excess_inside_s: 0.1 * parts.excess_s, cpu_wait_s: 0 };
}

function efficiencyOf(cause) {
  const [loadBalance, serialization, transfer] = { mapping: [0.94, 0.93, 0.72], pattern: [0.68, 0.91, 0.95], background: [0.9, 0.86, 0.77], cpu: [0.71, 0.93, 0.94], none: [0.97, 0.96, 0.93] }[cause];
  return { parallel: loadBalance * serialization * transfer, load_balance: loadBalance, communication: serialization * transfer, transfer, serialization };
}

function waitsOf(cause, ranks, waitingS, [fromS, untilS], hash) {
  if (ranks < 2 || cause === "none") return [];
  const many = Math.min(50, ranks * 2);
  const weights = Array.from({ length: many }, (_, at) => 1 / (at + 2));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight, at) => {
    const [state, name] = WAYS[Math.floor(WAYS.length * hash(at, 3, 3) ** 1.6)];
    const awaited = at % 3 === 0 ? Math.floor(ranks * 0.8) : Math.floor(ranks * hash(at, 5, 5));
    const times = 1 + Math.floor(40 * untilS * hash(at, 6, 6));
    const seconds = (0.6 * waitingS * weight) / sum;
    const longest = Math.min(seconds, (seconds / times) * (2 + 9 * hash(at, 7, 7)));
    return {
      state, function: name, site: at % 4, place: `main.c:${42 + 7 * (at % 4)} solve()`, waiter: (awaited + 1 + at) % ranks === awaited ? (awaited + 1) % ranks : (awaited + 1 + at) % ranks, awaited, times, seconds,
      longest_s: longest, longest_at_s: fromS + (untilS - fromS) * 0.97 * hash(at, 8, 8),
    };
  });
}

/** By kind, function and place. */
function gatheredOf(waits) {
  const all = new Map();
  for (const wait of waits) {
    const key = `${wait.state}/${wait.function}/${wait.site}`;
    const of = all.get(key) ?? { state: wait.state, function: wait.function, site: wait.site, place: wait.place, waiters: 0, awaited: 0, most_awaited: wait.awaited, most_awaited_s: wait.seconds, times: 0, seconds: 0 };
    all.set(key, { ...of, waiters: of.waiters + 1, awaited: of.awaited + 1, times: of.times + wait.times, seconds: of.seconds + wait.seconds });
  }
  return [...all.values()].sort((one, other) => other.seconds - one.seconds).slice(0, 20);
}

/** Work that moves where there are many ranks, and one rank waiting for a CPU. */
function sourcesOf(cause, ranks, costS, [fromS, untilS], hash) {
  if (ranks < 2 || (cause !== "pattern" && cause !== "cpu")) return [];
  const most = Math.min(8, ranks);
  const weights = Array.from({ length: most }, (_, at) => (cause === "cpu" ? 0.04 ** at : 1 / (at + 2)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const ranked = weights.map((weight, at) => ({ rank: (Math.floor(ranks * 0.8) + 5 * at) % ranks, seconds: (0.3 * costS * weight) / sum, computed_s: 0.6 * (untilS - fromS) * (1 + 0.3 / (at + 1)) }));
  const eighth = (untilS - fromS) / 8;
  const times = cause === "pattern" && ranks > 64
    ? Array.from({ length: 8 }, (_, at) => ({ from_s: fromS + at * eighth, to_s: fromS + (at + 1) * eighth, ranks: [0, 1, 2].map((of) => Math.floor(ranks * hash(at, of, 31))) }))
    : [];
  return [{ cause, total_s: 0.31 * costS, few: cause === "cpu" ? [ranked[0].rank] : [], few_s: 0, few_nodes: 0, ranks: ranked, computed_s: 0.6 * (untilS - fromS), times }];
}

/** The cause comes and goes; something else costs most now and then, and nothing in between. */
function stretches(cause, [fromS, untilS], ranks, waits, hash) {
  const many = Math.min(STRETCHES, Math.max(1, Math.floor(untilS - fromS)));
  const length = (untilS - fromS) / many;
  return Array.from({ length: many }, (_, at) => {
    const chance = hash(at, 11, 11);
    const mine = cause === "none" || chance < 0.15 ? "none" : chance < 0.27 ? Object.keys(SHARES[cause])[1] : cause;
    const wave = 0.6 + 0.4 * Math.sin(at / 3) + 0.3 * hash(at, 12, 12);
    const share = mine === "none" ? 0 : Math.max(0.021, SHARES[cause][mine] * wave * 1.1);
    return {
      from_s: fromS + at * length, to_s: fromS + (at + 1) * length, region: null, cause: mine, avoidable_s: share * length * ranks,
      confidence: 0.5 + 0.45 * hash(at, 13, 13), evidence: mine === "none" ? [] : [0, 1, 2].filter((place) => place < waits),
    };
  });
}

/** What the total is the sum of. */
const SUMMED = ["waiting_s", "base_s", "distance_s", "excess_s", "operation_s", "other_s", "unknown_s"];
/** Windows in which the made-up run is diagnosed. */
const WINDOW_S = 0.25;

/**
 * What is known of a range: windows, which sum to the whole run; of one that is cut a part counts. Waiting comes and
 * goes otherwise than the rest.
 * A text says why nothing is.
 */
export function makeRangeBudget(found, { fromNs, toNs, only, ranks, hash }) {
  if (!found || found.headline === "") return "where time went is not known yet";
  const { from_s: fromS, until_s: untilS, judgement: { budget, verdict } } = found;
  const many = Math.ceil((untilS - fromS) / WINDOW_S);
  const beginS = Math.min(untilS, Math.max(fromS, fromNs / 1e9));
  const endS = Math.min(untilS, Math.max(beginS, toNs / 1e9));
  const startS = (window) => Math.min(fromS + window * WINDOW_S, untilS);
  const inside = (window) => Math.max(0, Math.min(endS, startS(window + 1)) - Math.max(beginS, startS(window))) / (startS(window + 1) - startS(window));
  const chosen = only ? only.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, ranks - 1) - from + 1), 0) / ranks : 1;
  const weight = (window, salt) => 1 + 0.8 * Math.sin(window / 9 + salt) + hash(window, salt, 21);
  const share = (salt) => {
    let [part, all] = [0, 0];
    for (let window = 0; window < many; window++) {
      all += weight(window, salt);
      part += inside(window) * weight(window, salt);
    }
    return (chosen * part) / all;
  };
  const [waiting, rest] = [share(1), share(2)];
  const scaled = (parts, by) => Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value * by(name)]));
  const { waiting_by: roots, ...plain } = budget;
  const parts = scaled(plain, (name) => (name === "waiting_s" ? waiting : rest));
  const costs = verdict.causes.map(([name, seconds]) => [name, seconds * (name === "pattern" || name === "cpu" ? waiting : rest)]);
  return {
    from_ns: Math.round(beginS * 1e9), to_ns: Math.round(endS * 1e9), window_ns: WINDOW_S * 1e9, verdict: null, causes: costs.sort(([, one], [, other]) => other - one),
    parts: { ...parts, total_s: SUMMED.reduce((sum, name) => sum + parts[name], 0), waiting_by: scaled(roots, () => waiting) },
  };
}
