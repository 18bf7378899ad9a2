// Draws the graph: discs of regions, the worker's picture of the links, ranks, what is pointed at, names.

import { latencyColour, UNKNOWN_TONE } from "../../palette/ramps";
import { regionLook, type RegionMark } from "../../palette/regions";
import { latencyWords, rangesShort, sizeOf, type Target } from "../../words/regions";
import type { Colours } from "../colours";
import { POINTS } from "./bundle";
import { type Matrix, moved, type Point, toScreen } from "./camera";
import type { Painted } from "./desk";
import { type Label, placeLabels } from "./labels";
import { type Mode, trace } from "./paint-links";
import type { Arranged } from "./studio";

export interface GraphPicture {
  scene: Arranged;
  matrix: Matrix;
  size: { width: number; height: number };
  ratio: number;
  painted: Painted | null;
  mode: Mode;
  theme: "dark" | "light";
  colours: Colours;
  shown: Uint8Array | null;
  pointed: Target | null;
  selected: Target | null;
  lasso: readonly Point[] | null;
  /** Ranks that have a ring of this colour. */
  ringed: { ranks: ReadonlySet<number>; colour: string } | null;
}

const FULL = 2 * Math.PI;
/** Marks beside colours need room to be seen. */
const MARK_RADIUS = 3.2;
const FAINT = 0.25;
/** From this scale on ranks have names. */
const NAMES_SCALE = 24;
/** Regions of this radius in pixels have all their ranks in the name. */
const ROOMY = 30;
/** In small ones only the slowest have their latency in the name. */
const SLOWEST_NAMED = 5;
/** So slow a region is named wherever it is. */
const SLOW = 1.5;

export function drawGraph(context: CanvasRenderingContext2D, picture: GraphPicture): void {
  drawDiscs(context, picture);
  const { painted, matrix, ratio } = picture;
  if (painted) {
    context.save();
    const [a, b, c, d, e, f] = moved(painted.ask.matrix, matrix);
    context.setTransform(a * ratio, b * ratio, c * ratio, d * ratio, e * ratio, f * ratio);
    context.drawImage(painted.bitmap, 0, 0, painted.ask.width, painted.ask.height);
    context.restore();
  }
  drawEmphasis(context, picture);
  drawRanks(context, picture);
  drawNames(context, picture);
  if (picture.lasso) drawLasso(context, picture.lasso, picture.colours);
}

function scaleOf(matrix: Matrix): number {
  return Math.hypot(matrix[0], matrix[1]);
}

export function rankRadius(scale: number): number {
  return Math.min(14, Math.max(1.5, scale * 0.35));
}

const tiles = new Map<string, OffscreenCanvas>();

/** Lines across what is not known, or across the discs of regions that repeat a colour; or dots. */
function hatch(context: CanvasRenderingContext2D, colour: string, mark: RegionMark = "bar"): CanvasPattern | null {
  let tile = tiles.get(colour + mark);
  if (!tile) tiles.set(colour + mark, (tile = tileOf(colour, mark)));
  return context.createPattern(tile, "repeat");
}

function tileOf(colour: string, mark: RegionMark): OffscreenCanvas {
  const tile = new OffscreenCanvas(6, 6);
  const pen = tile.getContext("2d");
  if (!pen) return tile;
  pen.strokeStyle = colour;
  pen.fillStyle = colour;
  if (mark === "dot") {
    pen.fillRect(1, 1, 2, 2);
    return tile;
  }
  pen.beginPath();
  for (const from of [-6, 0, 6]) {
    pen.moveTo(from - 1, 7);
    pen.lineTo(from + 7, -1);
  }
  pen.stroke();
  return tile;
}

function regionColour({ scene, mode, theme }: GraphPicture, index: number): string {
  const region = scene.regions[index];
  if (!region) return UNKNOWN_TONE[theme];
  return mode === "latency" ? latencyColour(region.latency, theme) : regionLook(region.id).colour[theme];
}

function isRegion(target: Target | null, id: number): boolean {
  return target?.kind === "region" ? target.id === id : target?.kind === "between" && (target.a === id || target.b === id);
}

function drawDiscs(context: CanvasRenderingContext2D, picture: GraphPicture): void {
  const { scene, matrix, mode, theme, colours, pointed, selected } = picture;
  const scale = scaleOf(matrix);
  scene.placement.discs.forEach((disc, index) => {
    const [x, y] = toScreen(matrix, disc.x, disc.y);
    const colour = regionColour(picture, index);
    const unknown = mode === "latency" && scene.regions[index]?.latency === null;
    context.beginPath();
    context.arc(x, y, disc.radius * scale, 0, FULL);
    context.globalAlpha = mode === "latency" ? 0.3 : 0.12;
    context.fillStyle = colour;
    if (!unknown) context.fill();
    const lines = unknown ? hatch(context, UNKNOWN_TONE[theme]) : null;
    if (lines) {
      context.globalAlpha = 0.55;
      context.fillStyle = lines;
      context.fill();
    }
    const { mark } = regionLook(disc.id);
    const second = mode === "regions" && (mark === "bar" || mark === "dot") ? hatch(context, colour, mark) : null;
    if (second) {
      context.globalAlpha = 0.4;
      context.fillStyle = second;
      context.fill();
    }
    const chosen = isRegion(selected, disc.id);
    context.globalAlpha = chosen || isRegion(pointed, disc.id) ? 1 : 0.55;
    context.strokeStyle = chosen ? colours.text : colour;
    context.lineWidth = chosen || isRegion(pointed, disc.id) ? 2 : 1;
    context.stroke();
    if (mode === "latency" || mark !== "ring") return;
    context.beginPath();
    context.arc(x, y, Math.max(1, disc.radius * scale + 3), 0, FULL);
    context.stroke();
  });
  context.globalAlpha = 1;
}

/** The links of what is pointed at, over all others. */
function drawEmphasis(context: CanvasRenderingContext2D, picture: GraphPicture): void {
  const { scene, matrix, colours } = picture;
  for (const target of [picture.selected, picture.pointed]) {
    if (!target) continue;
    context.strokeStyle = colours.text;
    context.lineWidth = 1.2;
    context.globalAlpha = 0.85;
    if (target.kind === "between") {
      const [a, b] = [target.a, target.b].map((id) => scene.regions.findIndex((region) => region.id === id));
      const trunk = scene.curves.trunks.find((each) => (each.a === a && each.b === b) || (each.a === b && each.b === a));
      context.lineWidth = 2.5;
      if (trunk) trace(context, trunk.points, 0, matrix);
      if (trunk) context.stroke();
    }
    if (target.kind === "rank" || target.kind === "pair") {
      for (let at = 0; at < scene.links.length; at++) {
        const [a, b] = [scene.links.a[at] ?? 0, scene.links.b[at] ?? 0];
        const mine = target.kind === "rank" ? a === target.rank || b === target.rank : (a === target.src && b === target.dst) || (a === target.dst && b === target.src);
        if (!mine) continue;
        trace(context, scene.curves.links, at * POINTS * 2, matrix);
        context.stroke();
      }
    }
  }
  context.globalAlpha = 1;
}

/** Ranks of one look in one go. */
function drawRanks(context: CanvasRenderingContext2D, picture: GraphPicture): void {
  const { scene, matrix, mode, theme, size, shown, colours } = picture;
  const { x, y, regionOf } = scene.placement;
  const radius = rankRadius(scaleOf(matrix));
  const looks = new Map<string, { colour: string; mark: RegionMark; faint: boolean; at: number[] }>();
  for (let rank = 0; rank < x.length; rank++) {
    const index = regionOf[rank] ?? -1;
    const region = scene.regions[index];
    if (!region) continue;
    const [px, py] = toScreen(matrix, x[rank] ?? 0, y[rank] ?? 0);
    if (px < -radius || py < -radius || px > size.width + radius || py > size.height + radius) continue;
    const { mark } = regionLook(region.id);
    const colour = mode === "latency" ? latencyColour(scene.rankLatency[rank] ?? null, theme) : regionColour(picture, index);
    const faint = shown !== null && shown[rank] !== 1;
    const key = `${colour}${faint}${mark}`;
    let look = looks.get(key);
    if (!look) looks.set(key, (look = { colour, mark: mode === "latency" ? "full" : mark, faint, at: [] }));
    look.at.push(px, py);
  }
  for (const { colour, mark, faint, at } of looks.values()) {
    context.globalAlpha = faint ? FAINT : 1;
    context.fillStyle = colour;
    fillDots(context, at, radius);
    if (mark === "full" || radius < MARK_RADIUS) continue;
    context.fillStyle = colours.ground;
    if (mark === "ring") fillDots(context, at, radius * 0.6);
    if (mark === "dot") fillDots(context, at, radius * 0.34);
    if (mark === "bar") for (let point = 0; point < at.length; point += 2) context.fillRect((at[point] ?? 0) - radius, (at[point + 1] ?? 0) - radius * 0.22, 2 * radius, radius * 0.44);
  }
  context.globalAlpha = 1;
  ringRanks(context, picture, radius);
}

function fillDots(context: CanvasRenderingContext2D, at: readonly number[], radius: number): void {
  context.beginPath();
  for (let point = 0; point < at.length; point += 2) {
    const [x, y] = [at[point] ?? 0, at[point + 1] ?? 0];
    // Small ones are squares to the eye anyway, and much faster.
    if (radius < 2.2) context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    else {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, FULL);
    }
  }
  context.fill();
}

function ringRanks(context: CanvasRenderingContext2D, { scene, matrix, colours, pointed, selected, ringed }: GraphPicture, radius: number): void {
  context.lineWidth = 2;
  const ring = (ranks: Iterable<number>, colour: string, reach: number): void => {
    context.strokeStyle = colour;
    context.beginPath();
    for (const rank of ranks) {
      const [x, y] = toScreen(matrix, scene.placement.x[rank] ?? Number.NaN, scene.placement.y[rank] ?? Number.NaN);
      if (Number.isNaN(x)) continue;
      context.moveTo(x + reach, y);
      context.arc(x, y, reach, 0, FULL);
    }
    context.stroke();
  };
  if (ringed) ring(ringed.ranks, ringed.colour, radius + 2);
  for (const target of [selected, pointed]) {
    const ranks = target?.kind === "rank" ? [target.rank] : target?.kind === "pair" ? [target.src, target.dst] : [];
    ring(ranks, colours.text, radius + (ringed ? 5 : 3));
  }
}

function drawNames(context: CanvasRenderingContext2D, picture: GraphPicture): void {
  const { scene, matrix, mode, size, colours, pointed } = picture;
  const scale = scaleOf(matrix);
  const labels: Label[] = [];
  const obstacles = scene.placement.discs.map((disc) => {
    const [x, y] = toScreen(matrix, disc.x, disc.y);
    return { x, y, radius: disc.radius * scale, bold: true };
  });
  const plainFont = context.font;
  const boldFont = `600 ${plainFont}`;
  const add = (text: string, x: number, y: number, reach: number, bold: boolean, must = false): void => {
    labels.push({ text, x, y, reach, width: widthOf(context, text, bold ? boldFont : plainFont), bold, must });
  };
  const order = scene.placement.discs.map((disc, index) => ({ disc, index })).sort((one, other) => {
    const [a, b] = [isRegion(pointed, one.disc.id), isRegion(pointed, other.disc.id)];
    if (a !== b) return a ? -1 : 1;
    // With latency shown, the slow ones are what one looks for.
    const slow = mode === "latency" ? (scene.regions[other.index]?.latency ?? 0) - (scene.regions[one.index]?.latency ?? 0) : 0;
    return slow || other.disc.radius - one.disc.radius || one.disc.id - other.disc.id;
  });
  order.forEach(({ disc, index }, place) => {
    const region = scene.regions[index];
    if (!region) return;
    const [x, y] = toScreen(matrix, disc.x, disc.y);
    const reach = disc.radius * scale;
    // Where there is little room the first rank names its region.
    const roomy = reach > ROOMY || isRegion(pointed, disc.id);
    const name = roomy ? rangesShort(region.ranks) : String(region.ranks[0]?.[0] ?? "");
    const hasLatency = mode === "latency" && (roomy || place < SLOWEST_NAMED);
    add(hasLatency ? `${name}  L ${region.latency === null ? "?" : latencyWords(region.latency)}` : name, x, y, reach, true, isRegion(pointed, disc.id) || (mode === "latency" && place < 3 && (region.latency ?? 0) >= SLOW));
  });
  if (scale >= NAMES_SCALE) {
    for (let rank = 0; rank < scene.placement.x.length; rank++) {
      if (Number.isNaN(scene.placement.x[rank] ?? Number.NaN)) continue;
      // A region of one rank has its name already.
      const region = scene.regions[scene.placement.regionOf[rank] ?? -1];
      if (region && sizeOf(region.ranks) === 1) continue;
      const [x, y] = toScreen(matrix, scene.placement.x[rank] ?? 0, scene.placement.y[rank] ?? 0);
      if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
      add(String(rank), x, y, rankRadius(scale) - 2, false);
      obstacles.push({ x, y, radius: rankRadius(scale), bold: false });
    }
  }
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.strokeStyle = colours.ground;
  context.lineWidth = 4;
  context.fillStyle = colours.text;
  for (const { text, left, middle, bold } of placeLabels(labels, obstacles, size.width, size.height)) {
    context.font = bold ? boldFont : plainFont;
    context.strokeText(text, left, middle);
    context.fillText(text, left, middle);
  }
}

/** Measuring is slow, and the same names come with every frame. */
const widths = new Map<string, number>();
const WIDTHS_MAX = 10_000;

function widthOf(context: CanvasRenderingContext2D, text: string, font: string): number {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > WIDTHS_MAX) widths.clear();
    context.font = font;
    widths.set(key, (width = context.measureText(text).width));
  }
  return width;
}

function drawLasso(context: CanvasRenderingContext2D, line: readonly Point[], colours: Colours): void {
  context.beginPath();
  line.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.fillStyle = colours.accent;
  context.globalAlpha = 0.15;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.stroke();
  context.setLineDash([]);
}
