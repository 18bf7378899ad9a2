// The particle view alone, over made-up calls: to look at, and to measure. Parameters are in the address:
// ranks, rate (calls a second), node (ranks on one), theme, past (seconds before the start), still, empty, history=0.
import "../src/styles/base.css";
import type { Calls, InFlight } from "../src/feed/calls";
import { ParticleView, type ParticleFrame } from "../src/panels/particles";
import { historyOf, MadeUp } from "./made-up";

const asked = new URLSearchParams(location.search);
const number = (name: string, otherwise: number): number => Number(asked.get(name) ?? otherwise);
const ranks = number("ranks", 16);
const perNode = number("node", Math.max(1, Math.min(32, ranks >> 2)));
const theme = asked.get("theme") === "light" ? "light" : "dark";
const empty = asked.has("empty");
document.documentElement.dataset["theme"] = theme;

const DELTA_NS = 1e8;
const FADE_NS = 2e9;
const made = new MadeUp(ranks, number("rate", 20_000), perNode);
const old: Calls[] = [];
let tiles: Calls[] = [];
let coveredNs = 0;
let hidden: ReadonlySet<number> = new Set();

function reach(toNs: number): void {
  if (empty) return;
  let changed = false;
  for (; coveredNs + DELTA_NS <= toNs; coveredNs += DELTA_NS) {
    old.push(made.ended(coveredNs, coveredNs + DELTA_NS));
    changed = true;
  }
  if (changed) tiles = old.filter((tile) => tile.toNs > toNs - FADE_NS);
}

const view = new ParticleView(document.querySelector<HTMLElement>("#host")!, {
  history: async (fromNs, toNs) => historyOf(asked.get("history") === "0" ? [] : old, fromNs, toNs, ranks > 1024 ? 16 : 1),
  setHidden: (next) => (hidden = next),
  hover: () => undefined,
  select: (call) => (document.title = call === null ? "nothing" : call.name),
  runName: () => "made-up.x",
  wholeRunNs: () => coveredNs,
  budgetChanged: () => undefined,
});

const beganMs = performance.now();
const pastNs = number("past", 3) * 1e9;
reach(pastNs);
const costs: number[] = [];
let inFlight: InFlight | null = null;
let inFlightAtNs = -1;
/** Ranks 0..7 hang in a receive since the start; some others are just inside a call. */
function inside(timeNs: number): InFlight | null {
  if (empty) return null;
  const atNs = Math.floor(timeNs / DELTA_NS) * DELTA_NS;
  if (inFlight === null || atNs !== inFlightAtNs) {
    inFlightAtNs = atNs;
    const length = Math.min(ranks, 64);
    const sinceNs = Float64Array.from({ length }, (_, at) => (at < 2 ? pastNs - 1.2e9 : atNs - at * at * 3000));
    inFlight = {
      total: ranks, length, thread: new Uint32Array(length).fill(1), sinceNs,
      rank: Uint32Array.from({ length }, (_, at) => Math.floor((at * ranks) / length)),
      function: Uint32Array.from({ length }, (_, at) => (at < 2 ? 20 : [31, 53, 51][at % 3]!)),
    };
  }
  return inFlight;
}

const nodes = Uint32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / perNode));
function frame(): void {
  const timeNs = pastNs + (asked.has("still") ? 0 : (performance.now() - beganMs) * 1e6);
  reach(timeNs);
  const now: ParticleFrame = {
    timeNs, fadeNs: FADE_NS, live: true, moving: !asked.has("still"), tiles, inFlight: inside(timeNs),
    longestNs: made.longestNs, ranks, nodes, functions: made.functions, hidden, rankRanges: null, theme,
    reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
  };
  const startedMs = performance.now();
  view.draw(now);
  costs.push(performance.now() - startedMs);
  if (costs.length > 600) costs.shift();
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
Object.assign(window, { view, costs, made });
