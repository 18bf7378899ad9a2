import { describe, expect, it } from "vitest";
import type { History } from "../../feed/calls";
import { joined, type Pattern, PATTERN_KINDS, type PatternKind, patternsIn } from "./detect";

/** Numbers that are the same in each run. */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function historyOf(durations: readonly (readonly number[])[], part: Partial<History> = {}): History {
  const cells = new Map<string, number>();
  durations.forEach((all, rank) => all.forEach((ns) => {
    const key = `${rank}/${Math.floor(16 * Math.log2(1 + ns))}`;
    cells.set(key, (cells.get(key) ?? 0) + 1);
  }));
  const rows = [...cells].map(([key, count]) => [...key.split("/").map(Number), count]);
  const column = (at: number): Uint32Array => Uint32Array.from(rows, (row) => row[at] ?? 0);
  return {
    fromNs: 0, toNs: 1e9, binsPerOctave: 16, ranksPerRow: 1, length: rows.length, row: column(0), function: new Uint32Array(rows.length).fill(7), bin: column(1),
    count: Float64Array.from(rows, (row) => row[2] ?? 0), total: rows.length, ...part,
  };
}

type Made = PatternKind | "none";

/** One stretch with a pattern. `kind` of noise, sizes and slopes are drawn from ranges; none of the detector's numbers appear here. */
function simulated(kind: Made, chance: () => number): { durations: number[][]; ranks: number[] } {
  const between = (from: number, to: number): number => from + (to - from) * chance();
  const gauss = (): number => Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
  const heavy = (): number => (chance() < 0.9 ? gauss() : 4 * gauss());
  const isHeavy = chance() < 0.5;
  const ranks = Math.round(2 ** between(3.2, 8));
  const calls = Math.round(between(5, 60));
  const base = 2 ** between(9, 24);
  const noise = between(0.02, 0.25);
  const rise = between(1.8, 6);
  const sign = chance() < 0.5 ? 1 : -1;
  const odd = new Set<number>();
  if (kind === "disparate") while (odd.size < Math.max(1, Math.floor(ranks * between(0, 0.18)))) odd.add(Math.floor(chance() * ranks));
  const far = between(1.6, 6);
  const wide = between(0.9, 2.5);
  // Something between the kinds: neither even nor clearly different.
  const vague = between(0.5, 0.8);
  const middle = (rank: number): number => {
    if (kind === "slanted") return (sign * rise * rank) / (ranks - 1);
    if (kind === "logarithmic") return (sign * rise * Math.log2(1 + rank)) / Math.log2(ranks);
    if (kind === "disparate") return odd.has(rank) ? far : 0;
    return kind === "none" ? vague * (rank % 2) : 0;
  };
  const durations = Array.from({ length: ranks }, (_, rank) => Array.from({ length: calls }, () => {
    const spread = kind === "noisy" ? wide * gauss() : noise * (isHeavy ? heavy() : gauss());
    return base * 2 ** (middle(rank) + spread);
  }));
  return { durations, ranks: kind === "disparate" ? [...odd].sort((one, other) => one - other) : [...durations.keys()] };
}

describe("patterns", () => {
  it("are found in simulated stretches: precision and recall by kind", { timeout: 120_000 }, () => {
    const each = 60;
    const counts = Object.fromEntries(PATTERN_KINDS.map((kind) => [kind, { right: 0, wrong: 0, missed: 0, ranks: 0 }])) as Record<PatternKind, { right: number; wrong: number; missed: number; ranks: number }>;
    // Seeds that no number was chosen by.
    const chance = chances(20_261_124);
    for (const kind of [...PATTERN_KINDS, "none"] as const) {
      for (let turn = 0; turn < each; turn++) {
        const { durations, ranks } = simulated(kind, chance);
        const found = patternsIn(historyOf(durations))[0];
        if (kind !== "none" && found?.kind === kind) {
          counts[kind].right++;
          if (JSON.stringify(found.ranks) === JSON.stringify(ranks)) counts[kind].ranks++;
        } else {
          if (kind !== "none") counts[kind].missed++;
          if (found) counts[found.kind].wrong++;
        }
      }
    }
    const figures = PATTERN_KINDS.map((kind) => {
      const { right, wrong, missed, ranks } = counts[kind];
      return { kind, precision: right / Math.max(1, right + wrong), recall: right / (right + missed), ranks: ranks / Math.max(1, right) };
    });
    for (const { kind, precision, recall, ranks } of figures) {
      expect(precision, `precision of ${kind}`).toBeGreaterThan(0.9);
      expect(recall, `recall of ${kind}`).toBeGreaterThan(0.9);
      expect(ranks, `ranks of ${kind}`).toBeGreaterThan(0.9);
    }
  });

  it("need several ranks and calls", () => {
    expect(patternsIn(historyOf([[5, 5, 5], [5, 5, 5]]))).toEqual([]);
    expect(patternsIn(historyOf(Array.from({ length: 20 }, () => [100])))).toEqual([]);
  });

  it("of ranks that share a row are of all of them", () => {
    const history = historyOf(Array.from({ length: 8 }, () => [100, 100, 100, 100]));
    const found = patternsIn({ ...history, ranksPerRow: 4, row: history.row.map((row) => 4 * row) });
    expect([found[0]?.kind, found[0]?.ranks.length, found[0]?.ranks.at(-1)]).toEqual(["horizontal", 32, 31]);
  });

  it("that follow each other are one, unless others ranks differ", () => {
    const made = (kind: PatternKind, fromNs: number, ranks: readonly number[]): Pattern => ({ kind, function: 1, ranks, fromNs, toNs: fromNs + 10, strength: 0.5, line: [] });
    const found = joined([[made("disparate", 0, [3])], [made("disparate", 10, [3])], [made("disparate", 20, [9])], [], [made("horizontal", 40, [0, 1])]]);
    expect(found.map(({ kind, ranks, fromNs, toNs }) => [kind, ranks.length, fromNs, toNs])).toEqual([["disparate", 1, 0, 20], ["disparate", 1, 20, 30], ["horizontal", 2, 40, 50]]);
  });
});
