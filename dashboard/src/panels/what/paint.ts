// Draws the graph as a camera sees it: from far away dots and edges, nearer host and slowest message, near enough the
// whole glyph. Goes on in small steps: whoever draws may stop in between. Knows no document.

import { hostColour, LINKS } from "../../palette/hosts";
import { latencyColour } from "../../palette/ramps";
import type { Context } from "../canvas";
import { type Camera, type Frame, place } from "./camera";
import { type Bundles, bundlesOf, curveOf, isInSight, trace, widthOf } from "./edges";
import { BORDER, ellipse, glyphOf, glyphScale, type GlyphScale, OUTSIDE_MAX } from "./glyph";
import { faded, type GlyphLook, paintGlyph } from "./glyph-paint";
import { FOLDED, FUTURE, type Graph, HIDDEN, PAST } from "./graph";

/** A graph and what is drawn of it, made when it is first needed. */
export class Model {
  private madeBundles: Bundles | undefined;
  private madeScale: GlyphScale | undefined;

  constructor(readonly graph: Graph) {}

  get bundles(): Bundles {
    // Null is an answer as well.
    if (this.madeBundles === undefined) this.madeBundles = bundlesOf(this.graph);
    return this.madeBundles;
  }

  get scale(): GlyphScale {
    return (this.madeScale ??= glyphScale(this.graph));
  }
}

export interface Picture {
  camera: Camera;
  frame: Frame;
  /** What is drawn beyond the view on each side, for small moves. */
  margin: number;
  /** By node. */
  marks: Uint8Array;
  selected: number;
  /** How many follow each folded node. */
  badges: readonly (readonly [node: number, followers: number])[];
  look: GlyphLook & { accent: string };
}

/** Glyphs from here on; below it host and slowest message, and below that dots. */
export const GLYPH_FROM_CELL = 30;
export const DOT_BELOW_CELL = 11;
/** Curves in one stroke: where strokes lie upon each other, edges are many. */
const STROKE_CURVES = 24;
const OTHERS = 0.4;

/** Which edges are drawn how, the strongest last. */
const STYLES = ["passing", "others", "plain", "past", "future", "former", "latter"] as const;
type Style = (typeof STYLES)[number];

export function* paint(context: Context, model: Model, picture: Picture): Generator<void> {
  const { graph, bundles } = model;
  const { camera, frame, margin } = picture;
  yield* paintEdges(context, graph, bundles, picture);
  const { nodes } = graph.dag;
  const reach = margin + camera.cell / 2;
  for (let node = 0; node < nodes.length; node++) {
    if (((picture.marks[node] ?? 0) & HIDDEN) !== 0) continue;
    const [x, y] = place(camera, frame, nodes.layer[node] ?? 0, graph.row[node] ?? 0);
    if (x < -reach || y < -reach || x > frame.width + reach || y > frame.height + reach) continue;
    context.globalAlpha = isMeant(picture, node) ? 1 : OTHERS;
    paintNode(context, model, node, x, y, picture);
    if (node % 64 === 63) yield;
  }
  context.globalAlpha = 1;
  for (const [node, followers] of picture.badges) {
    if (((picture.marks[node] ?? 0) & HIDDEN) !== 0) continue;
    const [x, y] = place(camera, frame, nodes.layer[node] ?? 0, graph.row[node] ?? 0);
    paintBadge(context, `+${followers}`, x + Math.max(8, 0.36 * camera.cell), y - Math.max(6, 0.36 * camera.cell), picture.look);
  }
}

function isMeant({ marks, selected }: Picture, node: number): boolean {
  return selected < 0 || node === selected || ((marks[node] ?? 0) & (PAST | FUTURE)) !== 0;
}

function paintNode(context: Context, model: Model, node: number, x: number, y: number, { camera: { cell }, look, selected, marks }: Picture): void {
  const { graph } = model;
  const { nodes } = graph.dag;
  const host = nodes.host[node] ?? 0;
  if (cell >= GLYPH_FROM_CELL) {
    paintGlyph(context, glyphOf(graph, node, model.scale), String(nodes.rank[node] ?? 0), host, x, y, cell, look);
  } else if (cell >= DOT_BELOW_CELL) {
    paintSmall(context, nodes.load[node] ?? 0, host, graph.worst[node] ?? Number.NaN, x, y, cell, look);
  } else {
    const radius = Math.max(0.9, 0.34 * cell);
    context.fillStyle = latencyColour(graph.worst[node] ?? Number.NaN, look.theme);
    if (radius < 1.6) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    else disc(context, x, y, radius);
  }
  const around = Math.max(5, (BORDER + OUTSIDE_MAX + 0.02) * cell);
  if (node === selected) ring(context, x, y, around, look.accent, 2.5);
  else if (((marks[node] ?? 0) & FOLDED) !== 0 && cell < GLYPH_FROM_CELL) ring(context, x, y, around, look.text, 1);
}

/** The border in the colour of the slowest message, the ellipse in that of the host. */
function paintSmall(context: Context, load: number, host: number, worst: number, x: number, y: number, cell: number, look: GlyphLook): void {
  ring(context, x, y, 0.36 * cell, latencyColour(worst, look.theme), 0.14 * cell);
  const { radiusX, radiusY } = ellipse(load);
  context.fillStyle = hostColour(host, look.theme);
  context.beginPath();
  context.ellipse(x, y, 1.25 * radiusX * cell, Math.max(1, 1.25 * radiusY * cell), 0, 0, 2 * Math.PI);
  context.fill();
}

function disc(context: Context, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

export function ring(context: Context, x: number, y: number, radius: number, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

function paintBadge(context: Context, text: string, x: number, y: number, look: GlyphLook): void {
  context.font = `600 11px ${look.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const width = context.measureText(text).width + 10;
  context.fillStyle = look.text;
  context.beginPath();
  context.roundRect(x - width / 2, y - 8, width, 16, 8);
  context.fill();
  context.fillStyle = look.ground;
  context.fillText(text, x, y + 0.5);
}

/** Whether a node is in the view itself. */
function isSeen({ nodes }: Graph["dag"], row: Float32Array, node: number, { camera, frame }: Picture): boolean {
  const [x, y] = place(camera, frame, nodes.layer[node] ?? 0, row[node] ?? 0);
  return x >= 0 && y >= 0 && x <= frame.width && y <= frame.height;
}

function styleOf({ dag, row }: Graph, picture: Picture, from: number, to: number): Style {
  const { marks, selected } = picture;
  if (selected >= 0 && to === selected) return "former";
  if (selected >= 0 && from === selected) return "latter";
  // Near by, what only passes between others would hide what one looks at.
  if (picture.camera.cell >= DOT_BELOW_CELL && !isSeen(dag, row, from, picture) && !isSeen(dag, row, to, picture)) return "passing";
  if (selected < 0) return "plain";
  const both = (mark: number): boolean => ((marks[from] ?? 0) & (marks[to] ?? 0) & mark) !== 0;
  return both(PAST) ? "past" : both(FUTURE) ? "future" : "others";
}

/** By style: the colour, and how much wider than others. */
function inkOf(style: Style, { look, camera }: Picture, edges: number): { colour: string; wider: number } {
  const { former, latter } = LINKS[look.theme];
  // Where there are very many each is faint, and what they have in common is seen.
  const crowd = camera.cell >= DOT_BELOW_CELL ? 0.75 : Math.min(0.6, Math.max(0.16, 900 / Math.max(1, edges)));
  switch (style) {
    case "passing": return { colour: faded(look.edge, 0.07), wider: 1 };
    case "others": return { colour: faded(look.edge, crowd * 0.4), wider: 1 };
    case "plain": return { colour: faded(look.edge, crowd), wider: 1 };
    case "past": return { colour: faded(former, 0.45), wider: 1 };
    case "future": return { colour: faded(latter, 0.45), wider: 1 };
    case "former": return { colour: former, wider: 1.6 };
    case "latter": return { colour: latter, wider: 1.6 };
  }
}

function* paintEdges(context: Context, graph: Graph, bundles: Bundles, picture: Picture): Generator<void> {
  const { edges } = graph.dag;
  const { marks, camera, frame, margin } = picture;
  // By style and width; the width in quarters of a pixel.
  const strokes = new Map<Style, Map<number, number[]>>(STYLES.map((style) => [style, new Map<number, number[]>()]));
  for (let edge = 0; edge < edges.length; edge++) {
    const [from, to] = [edges.from[edge] ?? 0, edges.to[edge] ?? 0];
    if ((((marks[from] ?? 0) | (marks[to] ?? 0)) & HIDDEN) !== 0) continue;
    const ofStyle = strokes.get(styleOf(graph, picture, from, to));
    const width = Math.round(4 * widthOf(edges.messages[edge] ?? 1, camera.cell));
    const same = ofStyle?.get(width);
    if (same) same.push(edge);
    else ofStyle?.set(width, [edge]);
  }
  const curve = new Float64Array(8);
  context.lineCap = "butt";
  for (const [style, byWidth] of strokes) {
    const { colour, wider } = inkOf(style, picture, edges.length);
    for (const [width, members] of byWidth) {
      let inStroke = 0;
      context.strokeStyle = colour;
      context.lineWidth = (wider * width) / 4;
      context.beginPath();
      for (const edge of members) {
        curveOf(graph, bundles, edge, camera, frame, curve);
        if (!isInSight(curve, frame, margin)) continue;
        trace(context, curve);
        if (++inStroke < STROKE_CURVES) continue;
        context.stroke();
        yield;
        context.strokeStyle = colour;
        context.lineWidth = (wider * width) / 4;
        context.beginPath();
        inStroke = 0;
      }
      context.stroke();
    }
  }
}
