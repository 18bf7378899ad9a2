// The graph as pixels: edges with their heads, groups, names, and the oldest message on top of all.

import type { PendingMessages } from "../../feed/pending";
import type { Theme } from "../../palette/hosts";
import type { Colours } from "../colours";
import { beyond, type Curve, curveOf, LABEL_MAX, type Layout, outward, pointOn, type Size } from "./layout";
import { colourOf, type Measure, widthOf } from "./scale";
import type { Pointed } from "./state";

export interface Scene {
  layout: Layout;
  pending: PendingMessages;
  names: readonly string[];
  /** Of the arcs of the layout. */
  arcNames: readonly string[];
  measure: Measure;
  theme: Theme;
  colours: Colours;
  pointed: Pointed;
  /** The group where the keyboard is; -1: nowhere. */
  cursor: number;
  /** The text beside the oldest. */
  oldestLabel: string;
  size: Size;
}

type Context = CanvasRenderingContext2D;

const FAINT = 0.12;
/** Of more edges those with little step back a little. */
const FEW = 60;
const LITTLE = 0.25;
const ARC_PARTS = 16;
const NAME_AWAY = 10;
const NAME_HIGH = 14;
/** Names this far to a side begin at their place, or end there; others have it in their middle. */
const SIDE = 0.35;
const PAD = 6;

export function paint(context: Context, scene: Scene): void {
  const { edges, oldest } = scene.pending;
  const shown = shownEdges(scene);
  const isBetween = (edge: number): boolean => edges.from[edge] !== edges.to[edge];
  const order = Array.from({ length: edges.length }, (_, edge) => edge).filter((edge) => edge !== oldest && isBetween(edge));
  order.sort((one, other) => (edges[scene.measure][one] ?? 0) - (edges[scene.measure][other] ?? 0));
  const most = Math.max(1, ...order.map((edge) => edges[scene.measure][edge] ?? 0));
  const isCalm = edges.length <= FEW || scene.pointed !== null || scene.cursor >= 0;
  const weight = (edge: number): number => (isCalm ? 1 : LITTLE + (1 - LITTLE) * ((edges[scene.measure][edge] ?? 0) / most));
  for (const edge of order) paintEdge(context, scene, edge, shown(edge) ? weight(edge) : FAINT);
  if (oldest >= 0 && isBetween(oldest)) paintEdge(context, scene, oldest, 1);
  paintGroups(context, scene);
  const taken: Box[] = [];
  paintNames(context, scene, taken);
  paintArcs(context, scene, taken);
  if (oldest >= 0) paintOldestLabel(context, scene, oldest);
}

/** What is pointed at, or where the keyboard is, lets all else step back. */
function shownEdges({ pending: { edges }, pointed, cursor }: Scene): (edge: number) => boolean {
  if (pointed?.kind === "edge") return (edge) => edge === pointed.at;
  const group = pointed ? pointed.at : cursor;
  return group < 0 ? () => true : (edge) => edges.from[edge] === group || edges.to[edge] === group;
}

function paintEdge(context: Context, { layout, pending, measure, theme, colours }: Scene, edge: number, alpha: number): void {
  const { edges, oldest } = pending;
  const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
  const curve = curveOf(layout, from, to);
  const amount = edges[measure][edge] ?? 1;
  // Where groups stand close, edges are no wider than they are.
  const width = Math.min(widthOf(amount, measure), Math.max(1.25, layout.radius));
  context.save();
  context.globalAlpha = alpha;
  context.lineCap = "round";
  if (edge === oldest) {
    // A rim: it is found whatever its colour is.
    stroke(context, curve, width + 5, colours.warn);
    stroke(context, curve, width + 2, colours.ground);
  }
  const colour = colourOf(amount, measure, theme);
  stroke(context, curve, width, colour);
  head(context, curve, 5 + width, edge === oldest ? colours.warn : colour);
  context.restore();
}

function stroke(context: Context, [from, over, to]: Curve, width: number, colour: string): void {
  context.beginPath();
  context.moveTo(from[0], from[1]);
  context.quadraticCurveTo(over[0], over[1], to[0], to[1]);
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

function head(context: Context, [, over, to]: Curve, size: number, colour: string): void {
  const angle = Math.atan2(to[1] - over[1], to[0] - over[0]);
  context.beginPath();
  context.moveTo(to[0] + 2 * Math.cos(angle), to[1] + 2 * Math.sin(angle));
  for (const side of [-1, 1]) context.lineTo(to[0] - size * Math.cos(angle + side * 0.45), to[1] - size * Math.sin(angle + side * 0.45));
  context.closePath();
  context.fillStyle = colour;
  context.fill();
}

function paintGroups(context: Context, { layout, pending: { groups, edges, oldest }, measure, theme, colours, pointed, cursor }: Scene): void {
  const { x, y, radius } = layout;
  const within = new Map<number, number>();
  for (let edge = 0; edge < edges.length; edge++) if (edges.from[edge] === edges.to[edge]) within.set(edges.from[edge] ?? 0, edge);
  for (let at = 0; at < groups.length; at++) {
    const isBusy = (groups.sent[at] ?? 0) + (groups.received[at] ?? 0) > 0;
    const isMarked = at === cursor || (pointed?.kind === "group" && pointed.at === at);
    const inner = within.get(at);
    const disc = (reach: number, fill: string): void => {
      context.beginPath();
      context.arc(x[at] ?? 0, y[at] ?? 0, reach, 0, 2 * Math.PI);
      context.fillStyle = fill;
      context.fill();
    };
    if (inner !== undefined && inner === oldest) disc(radius + 4, colours.warn);
    disc(radius, inner !== undefined ? colourOf(edges[measure][inner] ?? 1, measure, theme) : isBusy ? colours.soft : colours.ground);
    context.lineWidth = isMarked ? 2.5 : 1.25;
    context.strokeStyle = isMarked ? colours.accent : isBusy ? colours.text : colours.edge;
    context.stroke();
  }
}

interface Box { left: number; right: number; y: number }

/** Writes a name beside its place, unless it would lie over another. */
function write(context: Context, name: string, x: number, y: number, side: number, taken: Box[]): void {
  const width = context.measureText(name).width;
  const left = side < -SIDE ? x - width : side > SIDE ? x : x - width / 2;
  if (taken.some((other) => Math.abs(other.y - y) < NAME_HIGH && left < other.right && left + width > other.left)) return;
  taken.push({ left: left - 4, right: left + width + 4, y });
  context.fillText(name, left, y);
}

function paintNames(context: Context, { layout, names, colours, pointed, cursor }: Scene, taken: Box[]): void {
  const { x, y, radius } = layout;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const marked = pointed?.kind === "group" ? pointed.at : cursor;
  const first = marked >= 0 && marked < names.length ? [marked] : [];
  for (const at of [...first, ...names.keys()]) {
    if (at === marked && taken.length > 0) continue;
    const [ox, oy] = outward(layout, at);
    context.fillStyle = at === marked ? colours.text : colours.soft;
    write(context, cut(context, names[at] ?? ""), (x[at] ?? 0) + ox * (radius + 5), (y[at] ?? 0) + oy * (radius + 9), ox, taken);
  }
}

function cut(context: Context, name: string): string {
  if (context.measureText(name).width <= LABEL_MAX) return name;
  let length = name.length;
  while (length > 1 && context.measureText(`${name.slice(0, length)}\u2026`).width > LABEL_MAX) length--;
  return `${name.slice(0, length)}\u2026`;
}

/** The nodes or regions of ranks that are shown one by one: a line along them, and a name where it fits. */
function paintArcs(context: Context, { layout, arcNames, colours }: Scene, taken: Box[]): void {
  context.lineWidth = 1.5;
  context.fillStyle = colours.text;
  context.strokeStyle = colours.edge;
  layout.arcs.forEach(({ first, last }, index) => {
    const [from, to] = [layout.angle[first] ?? 0, layout.angle[last] ?? 0];
    context.beginPath();
    for (let part = 0; part <= ARC_PARTS; part++) context.lineTo(...beyond(layout, from + ((to - from) * part) / ARC_PARTS, 0));
    context.stroke();
    const middle = (from + to) / 2;
    write(context, arcNames[index] ?? "", ...beyond(layout, middle, NAME_AWAY), Math.cos(middle), taken);
  });
}

function paintOldestLabel(context: Context, { layout, pending: { edges }, oldestLabel, colours, size }: Scene, oldest: number): void {
  const [from, to] = [edges.from[oldest] ?? 0, edges.to[oldest] ?? 0];
  const [px, py] = from === to ? [layout.x[from] ?? 0, layout.y[from] ?? 0] : pointOn(curveOf(layout, from, to), 0.5);
  const width = context.measureText(oldestLabel).width + 2 * PAD;
  const left = Math.min(Math.max(4, px - width / 2), size.width - width - 4);
  // Towards the middle, where no names are; where the oval is smaller than the label, below it.
  const beside = py < layout.centre[1] ? py + 14 : py - 34;
  const top = width > 2 * layout.rx - 24 ? size.height - 24 : Math.min(Math.max(4, beside), size.height - 24);
  context.beginPath();
  context.roundRect(left, top, width, 20, 4);
  context.fillStyle = colours.ground;
  context.fill();
  context.lineWidth = 1.25;
  context.strokeStyle = colours.warn;
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.text;
  context.fillText(oldestLabel, left + PAD, top + 10.5);
}
