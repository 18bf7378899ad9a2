// What somebody may mean who types a few letters: ranks, functions, single calls, call sites, nodes, regions, times,
// views.
// Pure; what is done about it is the panel's.

import type { Sites } from "../feed/call-sites";
import { nodeName, nodeOrder } from "../words/hosts";
import { clock, counted, duration } from "../words";
import { rangesShort, ranksWords } from "../words/regions";
import { parseTime } from "../words/time";
import { isAmong, type RankRanges } from "./perspective";
import { ranges } from "./ranks";
import { edgeNs, type RunState } from "./run";
import type { WantedCall } from "./wanted-call";

export type Hit =
  | { kind: "rank"; rank: number }
  | { kind: "ranks"; ranks: RankRanges }
  | { kind: "function"; id: number; name: string }
  | { kind: "node"; node: number; ranks: RankRanges }
  | { kind: "region"; id: number; ranks: RankRanges }
  | { kind: "site"; id: number; place: string }
  | { kind: "call"; wanted: WantedCall }
  | { kind: "message"; ranks: RankRanges | null }
  | { kind: "time"; ns: number }
  | { kind: "view"; id: string };

export interface Result {
  hit: Hit;
  /** What it is, and what kind of thing. */
  title: string;
  kind: string;
}

export interface Searched {
  run: RunState;
  sites: Sites;
  views: readonly { id: string; label: string }[];
}

const EACH_MAX = 8;
const RANGES_SAID = 3;

/** The best first; of each kind only a few. */
export function search(query: string, { run, sites, views }: Searched): Result[] {
  const words = query.trim().toLowerCase();
  if (words === "") return [];
  return [
    ...rankResults(words, run),
    ...timeResults(words, run),
    ...messageResults(words, run),
    ...callResults(words, run),
    ...matching(words, views, ({ label }) => label).map(({ id, label }): Result => ({ hit: { kind: "view", id }, title: label, kind: "view" })),
    ...matching(words, [...run.functions.values()].sort((one, other) => other.calls - one.calls), ({ name }) => name)
      .map(({ id, name, calls }): Result => ({ hit: { kind: "function", id, name }, title: name, kind: `function, ${counted(calls, "call", "calls")}` })),
    ...nodeResults(words, run),
    ...regionResults(words, run),
    ...matching(words, [...sites], ([, place]) => place).map(([id, place]): Result => ({ hit: { kind: "site", id, place }, title: place, kind: "call site" })),
  ];
}

/** Names that begin so, then those with a word that does, then those with the letters anywhere. */
function matching<Row>(words: string, rows: readonly Row[], nameOf: (row: Row) => string): Row[] {
  const place = (row: Row): number => {
    const name = nameOf(row).toLowerCase();
    if (name.startsWith(words)) return 0;
    const at = name.indexOf(words);
    return at < 0 ? 3 : /[^a-z0-9]/.test(name[at - 1] ?? "") ? 1 : 2;
  };
  const found = rows.map((row) => [place(row), row] as const).filter(([at]) => at < 3);
  return found.sort(([one], [other]) => one - other).slice(0, EACH_MAX).map(([, row]) => row);
}

/** "7", "rank 7", "ranks 0-15, 40". */
function rankResults(words: string, run: RunState): Result[] {
  const last = run.ranks.length - 1;
  const wanted = ranges(words.replace(/^ranks?\s*/, ""));
  if (!wanted || last < 0) return [];
  const inside = wanted.filter(([first]) => first <= last).map(([first, to]): readonly [number, number] => [first, Math.min(to, last)]);
  const [range] = inside;
  if (!range) return [];
  if (inside.length === 1 && range[0] === range[1]) {
    return [{ hit: { kind: "rank", rank: range[0] }, title: `Rank ${range[0]}`, kind: `on ${nodeName(run, run.ranks.node[range[0]] ?? 0)}` }];
  }
  const many = inside.reduce((sum, [first, to]) => sum + to - first + 1, 0);
  return [{ hit: { kind: "ranks", ranks: inside }, title: `Ranks ${rangesShort(inside)}`, kind: counted(many, "rank", "ranks") }];
}

const CALL_WORDS = /^\/?(longest|slowest|latest|last)(?:\s+(?!(?:of|on|ranks?)\b)(\S+))?(?:\s+(?:(?:of|on)\s+)?ranks?\s+(.+))?$/;

/** "longest", "longest recv rank 3", "latest barrier ranks 0-7". */
function callResults(words: string, run: RunState): Result[] {
  const [match, which, letters, rankWords] = CALL_WORDS.exec(words) ?? [];
  const only = rankWords === undefined ? null : ranges(rankWords);
  if (match === undefined || (rankWords !== undefined && !only)) return [];
  const isLatest = which === "latest" || which === "last";
  const rows = [...run.functions.values()].filter(({ calls }) => calls > 0).sort((one, other) => (isLatest ? other.calls - one.calls : other.maxNs - one.maxNs));
  const begin = isLatest ? "Latest" : "Longest";
  const end = only ? ` of ${ranksWords(only, RANGES_SAID)}` : "";
  const result = (id: number | null, name: string, maxNs: number): Result => (
    { hit: { kind: "call", wanted: { isLatest, function: id, ranks: only } }, title: `${begin} ${name}${end}`, kind: isLatest || only || maxNs === 0 ? "call" : `call, ${duration(maxNs)}` }
  );
  const named = letters === undefined ? rows.slice(0, EACH_MAX) : matching(letters, rows, ({ name }) => name);
  const any = letters === undefined && rows.length > 0 ? [result(null, "call", isLatest ? 0 : rows[0]?.maxNs ?? 0)] : [];
  return [...any, ...named.map(({ id, name, maxNs }) => result(id, name, maxNs))];
}

const MESSAGE_WORDS = /^\/?(slowest|longest)(?:\s+(me\w*|msg))?(?:\s+(?:(?:of|among)\s+)?ranks?\s+(.+))?$/;

/** "slowest message", "slowest message ranks 0-7". */
function messageResults(words: string, run: RunState): Result[] {
  const [match, which, name, rankWords] = MESSAGE_WORDS.exec(words) ?? [];
  const only = rankWords === undefined ? null : ranges(rankWords);
  const isAlone = only !== null && only.length === 1 && only[0]?.[0] === only[0]?.[1];
  // Among one rank there are no messages. Without the word, the longest and those of ranks are calls.
  const isNamed = name === "msg" || (name !== undefined && "messages".startsWith(name));
  const isMeant = isNamed || (name === undefined && which === "slowest" && rankWords === undefined);
  if (match === undefined || !isMeant || run.totals.messages === 0 || (rankWords !== undefined && (!only || isAlone))) return [];
  return [{ hit: { kind: "message", ranks: only }, title: `Slowest message${only ? ` among ${ranksWords(only, RANGES_SAID)}` : ""}`, kind: "message" }];
}

/** "0:01:10", "70 s"; a plain number is a rank first. */
function timeResults(words: string, run: RunState): Result[] {
  const ns = parseTime(words);
  if (ns === null || ns > edgeNs(run)) return [];
  return [{ hit: { kind: "time", ns }, title: clock(ns, 6), kind: "time of the run" }];
}

function nodeResults(words: string, run: RunState): Result[] {
  const ranksOf = new Map<number, [number, number][]>();
  for (let rank = 0; rank < run.ranks.length; rank++) {
    if (run.ranks.heard[rank] !== 1) continue;
    const node = run.ranks.node[rank] ?? 0;
    const before = ranksOf.get(node) ?? [];
    ranksOf.set(node, before);
    const range = before.at(-1);
    if (range && range[1] === rank - 1) range[1] = rank;
    else before.push([rank, rank]);
  }
  return matching(words, [...nodeOrder(run).keys()], (node) => nodeName(run, node)).map((node) => {
    const ranks = ranksOf.get(node) ?? [];
    return { hit: { kind: "node", node, ranks }, title: nodeName(run, node), kind: ranks.length > 0 ? `node with ranks ${rangesShort(ranks)}` : "node" };
  });
}

/** Regions have no names: "region" lists them, the slowest first. */
function regionResults(words: string, run: RunState): Result[] {
  if (!run.regions || !"region".startsWith(words.split(/\s/)[0] ?? "") || words.length < 2) return [];
  const wanted = /\d+/.exec(words)?.[0];
  const rank = wanted === undefined ? null : Number(wanted);
  return [...run.regions.regions]
    .filter(({ ranks }) => rank === null || isAmong(ranks, rank))
    .sort((one, other) => (other.latency ?? -1) - (one.latency ?? -1))
    .slice(0, EACH_MAX)
    .map(({ id, ranks, latency }) => ({
      hit: { kind: "region", id, ranks }, title: `Region of ranks ${rangesShort(ranks)}`, kind: latency === null ? "region" : `region, L ${latency.toFixed(2)}`,
    }));
}
