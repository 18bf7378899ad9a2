// Around the points: the floor that they stand on with its axes, rings around what is pointed at and selected, names that do not
// lie over each other, and the line of a lasso.

import type { RankRanges } from "../../state/perspective";
import { prepare } from "../canvas";
import type { Colours } from "../colours";
import { type Label, placeLabels } from "../where/labels";
import { type Lens, NEAR, project } from "./camera";
import type { Scene } from "./model";
import { spreadRanks } from "./names";
import type { Spot } from "./pick";
import type { Flat } from "./raster";

export interface Over {
  scene: Scene;
  flat: Flat;
  lens: Lens;
  colours: Colours;
  pointed: number | null;
  selected: number | null;
  ranks: RankRanges | null;
  lasso: readonly Spot[] | null;
  /** Pairs of ranks with many messages, the heaviest first, and how heavy each is from 0 to 1. */
  links: readonly Link[];
  /** What the axes are. */
  axes: readonly string[];
  /** What a unit of the scene is in the layout's own. */
  unit: number;
}

export interface Link { from: number; to: number; part: number }

/** Usual lengths of the scale bar on the page. */
const BAR_PIXELS = 120;

/** Of so few ranks each has its name; of more, those that are apart. */
const NAMED_MAX = 32;
const SELECTED_NAMED_MAX = 120;
const NAMED_RING_PIXELS = 1.5;
const RING_PIXELS = 3;

export function drawOverlay(canvas: HTMLCanvasElement, over: Over): void {
  const sheet = prepare(canvas);
  if (!sheet) return;
  const { context, width, height } = sheet;
  drawLinks(context, over);
  drawAxisNames(context, over);
  drawRings(context, over);
  const named = labels(context, over);
  if (named.isSpread) ringNamed(context, over, named.labels);
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { text, left, middle, bold } of placeLabels(named.labels, [], width, height)) {
    context.font = context.font.replace(/^(bold |600 )?/, bold ? "600 " : "");
    context.lineWidth = 4;
    context.strokeStyle = over.colours.ground;
    context.strokeText(text, left, middle);
    context.fillStyle = over.colours.text;
    context.fillText(text, left, middle);
  }
  drawBar(context, over, height);
  if (over.lasso) drawLasso(context, over.lasso, over.colours);
}

/** The corners of the floor in the picture; null where one is behind the eye. */
function floorOf({ box: { least, most } }: Scene, lens: Lens) {
  const corner = (x: number, y: number, z: number): [number, number, number] => project(lens, x ? most[0] : least[0], y ? most[1] : least[1], z ? most[2] : least[2]);
  const found = { origin: corner(0, 0, 0), ends: { x: corner(1, 0, 0), y: corner(0, 1, 0), z: corner(0, 0, 1) }, across: corner(1, 1, 0) };
  const all = [found.origin, found.across, found.ends.x, found.ends.y, found.ends.z];
  return all.some(([, , depth]) => depth < 4 * NEAR) ? null : found;
}

/** At the ends of the axes, above the points. */
function drawAxisNames(context: CanvasRenderingContext2D, { scene, lens, colours, axes }: Over): void {
  const found = floorOf(scene, lens);
  if (!found) return;
  const { origin, ends } = found;
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colours.ground;
  context.fillStyle = colours.soft;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const [axis, [x, y]] of [ends.x, ends.y, ends.z].entries()) {
    const length = Math.hypot(x - origin[0], y - origin[1]);
    if (length <= 24) continue;
    const name = axes[axis] ?? "";
    const half = context.measureText(name).width / 2 + 4;
    const middle = Math.min(lens.size.width - half, Math.max(half, x + ((x - origin[0]) / length) * 10));
    const below = y + ((y - origin[1]) / length) * 10;
    context.strokeText(name, middle, below);
    context.fillText(name, middle, below);
  }
  context.textAlign = "left";
}

/** Behind the points: the floor of what they span, and the height above it. */
export function drawFloor(canvas: HTMLCanvasElement, scene: Scene, lens: Lens, colours: Colours): void {
  const context = prepare(canvas)?.context;
  if (!context) return;
  const found = floorOf(scene, lens);
  if (!found) return;
  const { origin, ends, across } = found;
  const around = [origin, ends.x, across, ends.y];
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  around.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.moveTo(origin[0], origin[1]);
  context.lineTo(ends.z[0], ends.z[1]);
  context.stroke();
}

function discOf({ scene, flat, lens }: Over, point: number): { x: number; y: number; radius: number } | null {
  const depth = flat.depth[point] ?? 0;
  const radius = scene.radius[point] ?? 0;
  if (radius === 0 || !(depth > NEAR)) return null;
  return { x: flat.x[point] ?? 0, y: flat.y[point] ?? 0, radius: Math.max(2, (radius * lens.focal) / depth) };
}

function drawRings(context: CanvasRenderingContext2D, over: Over): void {
  for (const [rank, colour] of [[over.pointed, over.colours.text], [over.selected, over.colours.accent]] as const) {
    if (rank === null) continue;
    for (let each = 0; each < over.scene.pointsPerRank; each++) {
      const disc = discOf(over, rank * over.scene.pointsPerRank + each);
      if (!disc) continue;
      context.beginPath();
      context.arc(disc.x, disc.y, disc.radius + RING_PIXELS, 0, 2 * Math.PI);
      context.lineWidth = 4;
      context.strokeStyle = over.colours.ground;
      context.stroke();
      context.lineWidth = 2;
      context.strokeStyle = colour;
      context.stroke();
    }
  }
}

/** The lightest first: the heaviest lie above them. */
function drawLinks(context: CanvasRenderingContext2D, over: Over): void {
  const { scene, colours } = over;
  context.strokeStyle = colours.accent;
  for (let at = over.links.length - 1; at >= 0; at--) {
    const link = over.links[at];
    if (!link) continue;
    const [from, to] = [link.from, link.to].map((rank) => discOf(over, rank * scene.pointsPerRank));
    if (!from || !to) continue;
    context.globalAlpha = 0.08 + 0.37 * link.part;
    context.lineWidth = 0.75 + 1.25 * link.part;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** How long something is on the page that is so long in the layout, where the camera looks at. */
function drawBar(context: CanvasRenderingContext2D, { lens, unit, colours, scene }: Over, height: number): void {
  const depth = -lens.back.reduce((sum, axis, at) => sum + axis * ((scene.middle[at] ?? 0) - (lens.eye[at] ?? 0)), 0);
  const pixels = lens.focal / Math.max(NEAR, depth) / unit;
  if (!(pixels > 0) || !Number.isFinite(pixels)) return;
  const rough = BAR_PIXELS / pixels;
  const power = 10 ** Math.floor(Math.log10(rough));
  const length = [5, 2, 1].map((each) => each * power).find((each) => each <= rough) ?? power;
  const [left, bottom, width] = [16, height - 14, length * pixels];
  context.strokeStyle = colours.soft;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left + 0.5, bottom - 4.5);
  context.lineTo(left + 0.5, bottom + 0.5);
  context.lineTo(left + width + 0.5, bottom + 0.5);
  context.lineTo(left + width + 0.5, bottom - 4.5);
  context.stroke();
  context.font = context.font.replace(/^(bold |600 )?/, "");
  context.fillStyle = colours.soft;
  context.textBaseline = "middle";
  context.fillText(String(Number(length.toPrecision(2))), left + width + 8, bottom - 2);
}

/** Among many points the one that a name belongs to is seen by its ring. */
function ringNamed(context: CanvasRenderingContext2D, { colours, lens }: Over, named: readonly Label[]): void {
  context.strokeStyle = colours.text;
  context.lineWidth = 1;
  for (const { x, y, reach, bold } of named) {
    if (bold || x > lens.size.width || y > lens.size.height) continue;
    context.beginPath();
    context.arc(x, y, reach + NAMED_RING_PIXELS, 0, 2 * Math.PI);
    context.stroke();
  }
}

function labels(context: CanvasRenderingContext2D, over: Over): { labels: Label[]; isSpread: boolean } {
  const { scene } = over;
  const wanted = new Set<number>();
  for (const rank of [over.pointed, over.selected]) if (rank !== null && rank < scene.ranks) wanted.add(rank);
  const chosen = over.ranks?.reduce((sum, [first, last]) => sum + last - first + 1, 0) ?? scene.ranks;
  const ranges = over.ranks ?? [[0, scene.ranks - 1] as const];
  const isSpread = chosen > (over.ranks ? SELECTED_NAMED_MAX : NAMED_MAX);
  if (isSpread) for (const rank of spreadRanks(scene, over.flat, over.lens, ranges)) wanted.add(rank);
  else for (const [first, last] of ranges) for (let rank = first; rank <= Math.min(last, scene.ranks - 1); rank++) wanted.add(rank);
  const found: Label[] = [];
  for (const rank of wanted) {
    const disc = discOf(over, rank * scene.pointsPerRank);
    if (!disc) continue;
    const bold = rank === over.pointed || rank === over.selected;
    const text = bold ? `rank ${rank}` : String(rank);
    found.push({ text, x: disc.x, y: disc.y, reach: Math.min(disc.radius, 40), width: context.measureText(text).width * (bold ? 1.08 : 1), bold, must: bold });
  }
  return { labels: found, isSpread };
}

function drawLasso(context: CanvasRenderingContext2D, line: readonly Spot[], colours: Colours): void {
  context.beginPath();
  line.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.globalAlpha = 0.15;
  context.fillStyle = colours.accent;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = colours.accent;
  context.stroke();
}
