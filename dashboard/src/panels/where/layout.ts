// Where regions and ranks are in the graph: regions first, by what they exchange, then the ranks inside each. What was
// placed stays when new regions come. A rank takes 1 by 1. Pure, and the same for the same input.

import type { Region } from "../../feed/regions";
import { type Links, membersOf, regionOfRanks } from "./links";
import { graphOf, places } from "./pivots";
import { type Bodies, spread, type Spring, sunflower } from "./spread";

export interface Disc { id: number; x: number; y: number; radius: number }

export interface Placement {
  /** By rank; not a number for ranks in no region. */
  x: Float32Array;
  y: Float32Array;
  /** The place of a rank's region in the list; -1 for none. */
  regionOf: Int32Array;
  discs: readonly Disc[];
}

/** The stage is wider than high. */
const PULL = [0.01, 0.03] as const;
/** How much wider than high the first places are. */
const WIDER = 1.7;
const ROUNDS = 160;
/** Where more than this share of a region is linked, it has no shape to show. */
const DENSE = 0.5;
/** When fewer of the ranks than this are in the region they were in, all is placed anew. */
const SAME_LEAST = 0.3;

export function radiusOf(ranks: number): number {
  return 0.74 * Math.sqrt(ranks) + 0.7;
}

export function layout(regions: readonly Region[], links: Links, before: Placement | null): Placement {
  const members = regions.map(membersOf);
  const regionOf = regionOfRanks(regions);
  const old = before && isSimilar(regions, regionOf, before) ? before : null;
  const discs = placeDiscs(regions, members, regionOf, links, old);
  const x = new Float32Array(regionOf.length).fill(Number.NaN);
  const y = new Float32Array(regionOf.length).fill(Number.NaN);
  const slots = new Uint32Array(regionOf.length);
  for (const ranks of members) ranks.forEach((rank, slot) => (slots[rank] = slot));
  const inside = insideLinks(links, regionOf, slots, regions.length);
  regions.forEach((region, index) => {
    const ranks = members[index] ?? [];
    const disc = discs[index]!;
    const was = old?.discs.find(({ id }) => id === region.id);
    const bodies: Bodies = { x: new Float32Array(ranks.length), y: new Float32Array(ranks.length), radius: new Float32Array(ranks.length).fill(0.46), fixed: new Uint8Array(ranks.length) };
    if (old && was) keep(bodies, ranks, region.id, was, old, disc.radius);
    else place(bodies, inside[index] ?? { a: [], b: [] }, disc.radius);
    spread(bodies, { gap: 0.08, rounds: 60, springs: [], pull: [0, 0], within: disc.radius - 0.3 });
    if (!was) face(bodies, ranks, disc, discs, regionOf, links, index);
    ranks.forEach((rank, slot) => {
      x[rank] = disc.x + (bodies.x[slot] ?? 0);
      y[rank] = disc.y + (bodies.y[slot] ?? 0);
    });
  });
  return { x, y, regionOf, discs };
}

function isSimilar(regions: readonly Region[], regionOf: Int32Array, before: Placement): boolean {
  let same = 0;
  for (let rank = 0; rank < regionOf.length; rank++) {
    const was = before.discs[before.regionOf[rank] ?? -1]?.id;
    if (was !== undefined && was === regions[regionOf[rank] ?? -1]?.id) same++;
  }
  return same >= SAME_LEAST * regionOf.length;
}

function placeDiscs(regions: readonly Region[], members: readonly number[][], regionOf: Int32Array, links: Links, before: Placement | null): Disc[] {
  const many = regions.length;
  const radius = Float32Array.from(members, (ranks) => radiusOf(ranks.length));
  const mean = radius.reduce((sum, each) => sum + each, 0) / Math.max(1, many);
  const bodies: Bodies = { x: new Float32Array(many), y: new Float32Array(many), radius, fixed: new Uint8Array(many) };
  const gap = 0.6 * mean + 0.8;
  const springs = springsOf(links, regionOf, many);
  if (before) {
    regions.forEach((region, index) => {
      const was = before.discs.find(({ id }) => id === region.id);
      const [x, y] = was ? [was.x, was.y] : middle(members[index] ?? [], before);
      bodies.x[index] = x;
      bodies.y[index] = y;
      // One that did not grow stays where it is.
      bodies.fixed[index] = was && was.radius >= (radius[index] ?? 0) - 1e-3 ? 1 : 0;
    });
    spread(bodies, { gap: gap * 0.5, rounds: ROUNDS, springs: [], pull: [0, 0], within: Infinity });
  } else {
    const dense = springs.length > DENSE * ((many * (many - 1)) / 2);
    if (many > 2 && springs.length > 0 && !dense) {
      const found = places(graphOf(many, springs.map(({ a }) => a), springs.map(({ b }) => b)));
      const size = (2 * mean + gap) * 0.45 * Math.sqrt(many);
      bodies.x.set(found.x.map((value) => value * size * WIDER));
      bodies.y.set(found.y.map((value) => value * size));
    }
    for (let index = 0; index < many; index++) {
      const [x, y] = sunflower(index, 2 * mean + gap);
      const share = bodies.x.some((value) => value !== 0) ? 0.02 : 1;
      bodies.x[index] = (bodies.x[index] ?? 0) + x * share * WIDER;
      bodies.y[index] = (bodies.y[index] ?? 0) + y * share;
    }
    spread(bodies, { gap, rounds: ROUNDS, springs, pull: many > 1 ? PULL : [0, 0], within: Infinity });
  }
  return regions.map((region, index) => ({ id: region.id, x: bodies.x[index] ?? 0, y: bodies.y[index] ?? 0, radius: radius[index] ?? 1 }));
}

/** Regions that exchange much are drawn together. */
function springsOf(links: Links, regionOf: Int32Array, many: number): Spring[] {
  const sums = new Map<number, number>();
  for (let at = 0; at < links.length; at++) {
    const a = regionOf[links.a[at] ?? 0] ?? -1;
    const b = regionOf[links.b[at] ?? 0] ?? -1;
    if (a < 0 || b < 0 || a === b) continue;
    const key = Math.min(a, b) * many + Math.max(a, b);
    sums.set(key, (sums.get(key) ?? 0) + (links.messages[at] ?? 0));
  }
  const most = Math.max(1, ...sums.values());
  return [...sums].sort(([one], [other]) => one - other)
    .map(([key, messages]) => ({ a: Math.floor(key / many), b: key % many, strength: 0.12 * Math.sqrt(messages / most) }));
}

/** Where the ranks of a new region were. */
function middle(ranks: readonly number[], before: Placement): [number, number] {
  let [x, y, many] = [0, 0, 0];
  for (const rank of ranks) {
    if (Number.isNaN(before.x[rank] ?? Number.NaN)) continue;
    x += before.x[rank] ?? 0;
    y += before.y[rank] ?? 0;
    many++;
  }
  return many > 0 ? [x / many, y / many] : [0, 0];
}

interface Inside { a: number[]; b: number[] }

function insideLinks(links: Links, regionOf: Int32Array, slots: Uint32Array, many: number): Inside[] {
  const found = Array.from({ length: many }, (): Inside => ({ a: [], b: [] }));
  for (let at = 0; at < links.length; at++) {
    const [a, b] = [links.a[at] ?? 0, links.b[at] ?? 0];
    const region = regionOf[a] ?? -1;
    const into = region >= 0 && region === regionOf[b] ? found[region] : undefined;
    into?.a.push(slots[a] ?? 0);
    into?.b.push(slots[b] ?? 0);
  }
  return found;
}

/** Ranks that are new in a region begin at its middle and are pushed to a free place. */
function keep(bodies: Bodies, ranks: readonly number[], id: number, was: Disc, before: Placement, radius: number): void {
  ranks.forEach((rank, slot) => {
    const stays = before.discs[before.regionOf[rank] ?? -1]?.id === id;
    const [x, y] = stays ? [(before.x[rank] ?? 0) - was.x, (before.y[rank] ?? 0) - was.y] : sunflower(slot, 1);
    bodies.x[slot] = x;
    bodies.y[slot] = y;
    // Whoever was dragged out of the disc stays out.
    bodies.fixed[slot] = stays && (Math.hypot(x, y) <= radius || was.radius <= radius) ? 1 : 0;
  });
}

function place(bodies: Bodies, { a, b }: Inside, radius: number): void {
  const many = bodies.x.length;
  const shaped = many > 3 && a.length > 0 && a.length <= DENSE * ((many * (many - 1)) / 2);
  const found = shaped ? places(graphOf(many, a, b)) : null;
  let farthest = 1e-9;
  for (let at = 0; at < many; at++) farthest = Math.max(farthest, Math.hypot(found?.x[at] ?? 0, found?.y[at] ?? 0));
  for (let at = 0; at < many; at++) {
    const [x, y] = sunflower(at, shaped ? 0.05 : 1.08);
    bodies.x[at] = x + ((found?.x[at] ?? 0) / farthest) * (radius - 0.8);
    bodies.y[at] = y + ((found?.y[at] ?? 0) / farthest) * (radius - 0.8);
  }
}

/** Turns a region to bring ranks to the side of those they talk to outside. */
function face(
  bodies: Bodies, ranks: readonly number[], disc: Disc, discs: readonly Disc[], regionOf: Int32Array, links: Links, index: number,
): void {
  const slots = new Map(ranks.map((rank, slot) => [rank, slot]));
  // The best turn as it is, and mirrored.
  const sums = { along: [0, 0], across: [0, 0] };
  for (let at = 0; at < links.length; at++) {
    for (const [mine, other] of [[links.a[at] ?? 0, links.b[at] ?? 0], [links.b[at] ?? 0, links.a[at] ?? 0]] as const) {
      const away = discs[regionOf[other] ?? -1];
      if (regionOf[mine] !== index || !away || away === disc) continue;
      const slot = slots.get(mine) ?? 0;
      const distance = Math.hypot(away.x - disc.x, away.y - disc.y) || 1;
      const [ux, uy] = [(away.x - disc.x) / distance, (away.y - disc.y) / distance];
      [1, -1].forEach((mirror, which) => {
        const [ox, oy] = [bodies.x[slot] ?? 0, mirror * (bodies.y[slot] ?? 0)];
        sums.along[which] = (sums.along[which] ?? 0) + ox * ux + oy * uy;
        sums.across[which] = (sums.across[which] ?? 0) + ox * uy - oy * ux;
      });
    }
  }
  const gain = [0, 1].map((which) => Math.hypot(sums.along[which] ?? 0, sums.across[which] ?? 0));
  const which = (gain[1] ?? 0) > (gain[0] ?? 0) * 1.001 ? 1 : 0;
  if (!((gain[which] ?? 0) > 1e-6)) return;
  const angle = Math.atan2(sums.across[which] ?? 0, sums.along[which] ?? 0);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let at = 0; at < bodies.x.length; at++) {
    const [ox, oy] = [bodies.x[at] ?? 0, (which === 1 ? -1 : 1) * (bodies.y[at] ?? 0)];
    bodies.x[at] = ox * cos - oy * sin;
    bodies.y[at] = ox * sin + oy * cos;
  }
}
