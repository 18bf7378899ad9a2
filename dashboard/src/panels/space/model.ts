// From the points of a layout and the figures of ranks to what is drawn: place, colour, size, opacity and mark of each
// point. Pure.

import type { RankLayout } from "../../feed/ranks";
import { channelsOf } from "../../palette/colour";
import { amountRamp, latencyRamp, latencyPart, STEPS, stepOf, UNKNOWN_TONE } from "../../palette/ramps";
import type { RankRanges } from "../../state/perspective";
import type { Cloud } from "./camera";
import { type Filter, filtered, partOf, type Scale, scaleOf } from "./scale";

export const SELECTED = 1;
export const UNSELECTED = 2;

export interface Scene extends Cloud {
  pointsPerRank: number;
  ranks: number;
  /** Red, green, blue of 0..255 by point. */
  rgb: Uint8Array;
  /** Of the scene's unit; 0: not drawn. */
  radius: Float32Array;
  /** 0..1. */
  opacity: Float32Array;
  /** 0, SELECTED or UNSELECTED. */
  mark: Uint8Array;
  isOpaque: boolean;
  /** The corners of what the layout spans, in the scene and as the layout has it. */
  box: Box;
  color: Scale | null;
  size: Scale | null;
  height: Scale | null;
  opacityScale: Scale | null;
  /** Values by rank that the colour shows; of several points of a rank the first. */
  values: Float64Array;
  /** Ranks that a filter hides, and points without a place. */
  hidden: number;
  isFlat: boolean;
  /** All points lie in one place. */
  isOnePlace: boolean;
  /** The radius of the largest point. */
  reach: number;
  /** The middle of all. */
  middle: readonly [number, number, number];
}

export interface Box { least: [number, number, number]; most: [number, number, number]; from: [number, number, number]; to: [number, number, number] }

export interface Mapping {
  /** Null: the layout's own. */
  color: Float64Array | null;
  size: Float64Array | null;
  height: Float64Array | null;
  opacity: Float64Array | null;
  isLatency: boolean;
  isClipped: boolean;
  isLog: boolean;
  filter: Filter;
  /** Ranks in the slices; null where nothing is cut. */
  slice: Uint8Array | null;
  ranks: RankRanges | null;
  theme: "light" | "dark";
}

/** How high the most of a height stands, of the scene's longest side. */
const HEIGHT_PART = 0.5;
const SIZE_LEAST = 0.45;
const SIZE_MOST = 1.5;
const OPACITY_LEAST = 0.08;
/** Points that are looked at for how far neighbours are apart, and those that they are held against. */
const SPACING_SAMPLES = 24;
const SPACING_AGAINST = 20_000;
/** Where there is one place only. */
const SPACING_OF_ONE = 0.04;
const RADIUS_OF_SPACING = 0.4;
const RADIUS_MIN = 0.0018;
const RADIUS_MAX = 0.09;
/** Of points whose places are figures, of the root of their number: many lie together, and some far from all others. */
const RADIUS_OF_FIGURES = 0.2;

/** Where the points lie, within 1 of the origin; what has no place is not a number. */
export interface Placed extends Cloud { box: Box; spacing: number; isFlat: boolean; isOnePlace: boolean; finite: number }

export function placed(layout: RankLayout): Placed {
  const axes = [layout.x, layout.y, layout.z] as const;
  const from: [number, number, number] = [Infinity, Infinity, Infinity];
  const to: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  let finite = 0;
  const isPlaced = new Uint8Array(layout.length);
  for (let point = 0; point < layout.length; point++) {
    if (!(Number.isFinite(layout.x[point]) && Number.isFinite(layout.y[point]) && Number.isFinite(layout.z[point]))) continue;
    isPlaced[point] = 1;
    finite++;
  }
  for (const [axis, values] of axes.entries()) {
    let [least, most] = [Infinity, -Infinity];
    for (let point = 0; point < layout.length; point++) {
      const value = values[point] ?? NaN;
      if (!isPlaced[point]) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    [from[axis], to[axis]] = [least, most];
  }
  if (finite === 0) [from, to].forEach((end) => end.fill(0));
  const longest = Math.max(...[0, 1, 2].map((axis) => (to[axis] ?? 0) - (from[axis] ?? 0)));
  const scale = longest > 0 ? 1.6 / longest : 1;
  const middle = [0, 1, 2].map((axis) => ((from[axis] ?? 0) + (to[axis] ?? 0)) / 2);
  const column = (axis: 0 | 1 | 2): Float32Array => {
    const found = new Float32Array(layout.length);
    const [values, centre] = [axes[axis], middle[axis] ?? 0];
    for (let point = 0; point < layout.length; point++) found[point] = isPlaced[point] ? ((values[point] ?? 0) - centre) * scale : NaN;
    return found;
  };
  const cloud = { length: layout.length, x: column(0), y: column(1), z: column(2) };
  const corner = (end: [number, number, number]): [number, number, number] => [0, 1, 2].map((axis) => ((end[axis] ?? 0) - (middle[axis] ?? 0)) * scale) as [number, number, number];
  const box = { least: corner(from), most: corner(to), from, to };
  const isFlat = to[2] - from[2] <= 1e-9 * longest && to[1] > from[1];
  return { ...cloud, box, spacing: spacingOf(cloud, finite), isFlat, isOnePlace: finite > 1 && longest === 0, finite };
}

/** How far a point usually is from the nearest other one. */
function spacingOf(cloud: Cloud, finite: number): number {
  if (finite < 2) return SPACING_OF_ONE;
  const found: number[] = [];
  const every = Math.max(1, Math.floor(cloud.length / SPACING_SAMPLES));
  // A stretch of neighbours in number, which layouts place near each other, and some of all others.
  const step = Math.max(1, Math.ceil(cloud.length / SPACING_AGAINST));
  for (let one = 0; one < cloud.length; one += every) {
    let nearest = nearestOf(cloud, one, 0, cloud.length, step);
    if (step > 1) nearest = Math.min(nearest, nearestOf(cloud, one, Math.max(0, one - 64), Math.min(cloud.length, one + 64), 1));
    if (nearest < Infinity) found.push(Math.sqrt(nearest));
  }
  found.sort((one, other) => one - other);
  // Of the closer ones: where distances differ, few points lie over each other.
  return found[Math.floor(found.length / 4)] ?? SPACING_OF_ONE;
}

/** The least squared distance of a point from some others. Points in one place say nothing of how far others are. */
function nearestOf({ x, y, z }: Cloud, one: number, from: number, to: number, step: number): number {
  const [atX, atY, atZ] = [x[one] ?? 0, y[one] ?? 0, z[one] ?? 0];
  let nearest = Infinity;
  for (let other = from; other < to; other += step) {
    const [dx, dy, dz] = [(x[other] ?? 0) - atX, (y[other] ?? 0) - atY, (z[other] ?? 0) - atZ];
    const squared = dx * dx + dy * dy + dz * dz;
    if (squared > 1e-12 && squared < nearest) nearest = squared;
  }
  return nearest;
}

export function sceneOf(layout: RankLayout, at: Placed, mapping: Mapping): Scene {
  const { pointsPerRank } = layout;
  const ranks = pointsPerRank > 0 ? layout.length / pointsPerRank : 0;
  const ofLayout = mapping.color === null;
  const colors = mapping.color ?? layout.color;
  const values = ofLayout ? Float64Array.from({ length: ranks }, (_, rank) => layout.color[rank * pointsPerRank] ?? NaN) : colors;
  const color = scaleOf(values, mapping.isClipped, mapping.isLog);
  const [size, height, opacityScale] = [mapping.size, mapping.height, mapping.opacity].map((of) => of && scaleOf(of, mapping.isClipped, mapping.isLog)) as [Scale | null, Scale | null, Scale | null];
  const shown = filtered(values, mapping.filter, color);
  const chosen = mapping.ranks && marks(mapping.ranks, ranks);
  const least = layout.events.includes(true) && !at.isOnePlace ? RADIUS_OF_FIGURES / Math.sqrt(Math.max(1, at.finite)) : RADIUS_MIN;
  const base = Math.min(RADIUS_MAX, Math.max(RADIUS_MIN, least, at.spacing * RADIUS_OF_SPACING));
  const ramp = (mapping.isLatency ? latencyRamp : amountRamp)(mapping.theme).map((hex) => channelsOf(hex).map((channel) => Math.round(channel * 255)));
  const unknown = channelsOf(UNKNOWN_TONE[mapping.theme]).map((channel) => Math.round(channel * 255));
  const scene: Scene = {
    length: layout.length, x: at.x, y: at.y, z: height ? new Float32Array(at.z) : at.z, pointsPerRank, ranks,
    rgb: new Uint8Array(3 * layout.length), radius: new Float32Array(layout.length), opacity: new Float32Array(layout.length).fill(1), mark: new Uint8Array(layout.length),
    isOpaque: mapping.opacity === null, box: at.box, color, size, height, opacityScale, values, hidden: 0, isFlat: at.isFlat && !height, isOnePlace: at.isOnePlace && !height, reach: base * (size ? SIZE_MOST : 1),
    middle: [0, 1, 2].map((axis) => ((at.box.least[axis] ?? 0) + (at.box.most[axis] ?? 0)) / 2) as [number, number, number],
  };
  for (let rank = 0; rank < ranks; rank++) {
    const isShown = shown[rank] === 1 && (mapping.slice === null || mapping.slice[rank] === 1);
    if (!isShown) scene.hidden++;
    const grown = part(size, mapping.size, rank, SIZE_LEAST, SIZE_MOST, 1);
    const raised = part(height, mapping.height, rank, 0, 1.6 * HEIGHT_PART, 0);
    const clear = part(opacityScale, mapping.opacity, rank, OPACITY_LEAST, 1, 1);
    const mark = chosen ? (chosen[rank] ? SELECTED : UNSELECTED) : 0;
    for (let each = 0; each < pointsPerRank; each++) {
      const point = rank * pointsPerRank + each;
      const value = (ofLayout ? layout.color[point] : values[rank]) ?? NaN;
      const tone = toneOf(value, color, mapping.isLatency, ramp, unknown);
      for (let channel = 0; channel < 3; channel++) scene.rgb[3 * point + channel] = tone[channel] ?? 0;
      scene.radius[point] = isShown && !Number.isNaN(at.x[point]) ? base * grown : 0;
      scene.opacity[point] = clear;
      scene.mark[point] = mark;
      if (height) scene.z[point] = (at.z[point] ?? 0) + raised;
    }
  }
  return scene;
}

/** What is not known stays as without a metric. */
function part(scale: Scale | null, values: Float64Array | null, rank: number, least: number, most: number, otherwise: number): number {
  if (!scale || !values) return otherwise;
  const found = partOf(scale, values[rank] ?? NaN);
  return Number.isNaN(found) ? least : least + (most - least) * found;
}

function toneOf(value: number, scale: Scale | null, isLatency: boolean, ramp: readonly number[][], unknown: readonly number[]): readonly number[] {
  if (!scale || !Number.isFinite(value)) return unknown;
  const found = isLatency ? latencyPart(value) : partOf(scale, value);
  return ramp[Math.min(STEPS, stepOf(found))] ?? unknown;
}

export function marks(ranges: RankRanges, ranks: number): Uint8Array {
  const found = new Uint8Array(ranks);
  for (const [first, last] of ranges) found.fill(1, first, last + 1);
  return found;
}

/** From which side a layout is seen first: a plane from above. */
export function firstSide({ isFlat, box }: { isFlat: boolean; box: Box }): { yaw: number; pitch: number } {
  if (isFlat) return { yaw: -Math.PI / 2, pitch: Math.PI / 2 };
  // A line is seen from the side.
  if (box.to[1] <= box.from[1] && box.to[2] <= box.from[2]) return { yaw: -Math.PI / 2, pitch: 0.3 };
  return { yaw: -Math.PI / 3, pitch: 0.45 };
}
