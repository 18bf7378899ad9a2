// The graph in its place on the page: the newest picture, moved at once with the camera while a sharp one is drawn
// beside; what the pointer is over; where in the whole one looks. Knows no questions and no state of the page.

import { hostColour, LINKS } from "../../palette/hosts";
import { prepare } from "../canvas";
import { type Painted, Painter } from "../painter/painter";
import { axisWords } from "./axis";
import { type Camera, fit, fitCell, type Frame, gaps, panned, place, placeAt, settled, zoomed } from "./camera";
import { curveOf, trace, widthOf } from "./edges";
import { BORDER, OUTSIDE_MAX } from "./glyph";
import type { GlyphLook } from "./glyph-paint";
import { FOLDED, followers, HIDDEN, listed, marksOf, neighbours } from "./graph";
import { type Model, type Picture, ring } from "./paint";
import { type GraphKinds, GRAPHS } from "./recipe";

export interface Shown {
  model: Model;
  folded: ReadonlySet<number>;
  /** -1: none. */
  selected: number;
  isFlipped: boolean;
  look: GlyphLook & { accent: string; line: string; raised: string };
}

/** Of a view's width and height, drawn on each side beyond it. */
const MARGIN = 0.2;
const MINIMAP = { width: 148, height: 84, inset: 8 };
const POINTED_LEAST_PIXELS = 7;

export class GraphView {
  camera: Camera = { layer: 0, row: 0, cell: 0 };
  private readonly canvas = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly painter = new Painter<GraphKinds>(GRAPHS, () => new Worker(new URL("./painter-worker.ts", import.meta.url), { type: "module" }), {
    painted: (painted) => {
      this.painted = painted;
      this.invalidate();
    },
  });
  private painted: Painted<GraphKinds> | null = null;
  private shown: Shown | null = null;
  private marks: Uint8Array = new Uint8Array(0);
  private badges: Picture["badges"] = [];
  private pointed = -1;
  private isDirty = true;
  private isStale = true;
  private isFitted = true;
  private size = { width: 0, height: 0 };
  private minimap: HTMLCanvasElement | null = null;

  constructor(readonly element: HTMLElement, private readonly wantsFrame: () => void) {
    this.overlay.className = "over";
    for (const canvas of [this.canvas, this.overlay]) canvas.setAttribute("aria-hidden", "true");
    element.append(this.canvas, this.overlay);
  }

  get frame(): Frame {
    const graph = this.shown?.model.graph;
    return { ...this.size, layers: graph?.layers ?? 0, rows: graph?.rows ?? 0, isFlipped: this.shown?.isFlipped ?? false };
  }

  show(shown: Shown): void {
    const before = this.shown;
    this.shown = shown;
    const isNew = before?.model !== shown.model;
    if (isNew) {
      this.painted = null;
      this.pointed = -1;
      this.painter.show(shown.model.graph.dag);
    }
    if (isNew || before.folded !== shown.folded || before.selected !== shown.selected) {
      const { graph } = shown.model;
      this.marks = marksOf(graph, shown.folded, shown.selected);
      this.badges = [...shown.folded].map((node) => [node, followers(graph, node)] as const).filter(([, count]) => count > 0);
    }
    if (isNew || before.isFlipped !== shown.isFlipped) {
      this.painted = null;
      this.fit();
    }
    if (isNew || before.folded !== shown.folded || before.isFlipped !== shown.isFlipped || before.look.theme !== shown.look.theme) this.minimap = null;
    this.change();
  }

  resize(): void {
    this.size = { width: this.element.clientWidth, height: this.element.clientHeight };
    this.camera = this.isFitted ? fit(this.frame) : settled(this.camera, this.frame);
    this.minimap = null;
    this.change();
  }

  fit(): void {
    this.move(fit(this.frame));
  }

  pan(right: number, down: number): void {
    this.move(panned(this.camera, this.frame, right, down));
  }

  zoom(factor: number, x = this.size.width / 2, y = this.size.height / 2): void {
    this.move(zoomed(this.camera, this.frame, factor, x, y));
  }

  /** Brings a node into the view, if it is not there. */
  bring(node: number): void {
    const [x, y] = this.placeOf(node);
    if (this.isFitted) return;
    const margin = Math.min(60, this.size.width / 4, this.size.height / 4);
    const over = (at: number, length: number): number => (at < margin ? margin - at : at > length - margin ? length - margin - at : 0);
    const [right, down] = [over(x, this.size.width), over(y, this.size.height)];
    if (right !== 0 || down !== 0) this.pan(right, down);
  }

  isHidden(node: number): boolean {
    return ((this.marks[node] ?? 0) & HIDDEN) !== 0;
  }

  isFolded(node: number): boolean {
    return ((this.marks[node] ?? 0) & FOLDED) !== 0;
  }

  placeOf(node: number): [x: number, y: number] {
    const graph = this.shown?.model.graph;
    return place(this.camera, this.frame, graph?.dag.nodes.layer[node] ?? 0, graph?.row[node] ?? 0);
  }

  /** The node at a place in pixels; -1 where there is none. */
  nodeAt(x: number, y: number): number {
    const graph = this.shown?.model.graph;
    if (!graph) return -1;
    const at = placeAt(this.camera, this.frame, x, y);
    const layer = Math.round(at.layer);
    if (layer < 0 || layer >= graph.layers) return -1;
    const members = listed(graph.inLayer, layer);
    const node = members[Math.round(at.row + (members.length - 1) / 2)] ?? -1;
    if (node < 0 || this.isHidden(node)) return -1;
    const [nodeX, nodeY] = this.placeOf(node);
    return Math.hypot(nodeX - x, nodeY - y) <= Math.max(POINTED_LEAST_PIXELS, (BORDER + OUTSIDE_MAX) * this.camera.cell) ? node : -1;
  }

  point(node: number): void {
    if (node === this.pointed) return;
    this.pointed = node;
    this.invalidate();
  }

  draw(): void {
    const { shown } = this;
    if (!this.isDirty || !shown || this.size.width === 0) return;
    this.isDirty = false;
    const picture: Picture = {
      camera: this.camera, frame: this.frame, margin: Math.round(MARGIN * Math.max(this.size.width, this.size.height)),
      marks: this.marks, selected: shown.selected, badges: this.badges, look: shown.look,
    };
    if (this.isStale) {
      this.isStale = false;
      this.painter.request(picture, devicePixelRatio || 1);
    }
    this.blit();
    this.drawOverlay(shown);
  }

  dispose(): void {
    this.painter.dispose();
    this.element.replaceChildren();
  }

  private move(camera: Camera): void {
    this.camera = camera;
    this.isFitted = camera.cell <= fitCell(this.frame);
    this.change();
  }

  /** Another picture is wanted. */
  private change(): void {
    this.isStale = true;
    this.invalidate();
  }

  private invalidate(): void {
    this.isDirty = true;
    this.wantsFrame();
  }

  /** The newest picture where it belongs for the camera of now: a moment later a sharp one takes its place. */
  private blit(): void {
    const prepared = prepare(this.canvas);
    const [image] = this.painted?.sheets ?? [];
    if (!prepared || !this.painted || !image) return;
    const { camera, frame, margin } = this.painted.picture;
    const [then, now] = [gaps(camera, frame), gaps(this.camera, this.frame)];
    const [along, across] = [now.along / then.along, now.across / then.across];
    // What was in its middle, then and now.
    const [thenX, thenY] = place(camera, frame, camera.layer, camera.row);
    const [x, y] = place(this.camera, this.frame, camera.layer, camera.row);
    const [right, down] = frame.isFlipped ? [across, along] : [along, across];
    const [width, height] = [(frame.width + 2 * margin) * right, (frame.height + 2 * margin) * down];
    prepared.context.drawImage(image, x - (thenX + margin) * right, y - (thenY + margin) * down, width, height);
  }

  private drawOverlay(shown: Shown): void {
    const prepared = prepare(this.overlay);
    if (!prepared) return;
    const { context } = prepared;
    this.drawAxis(context, shown);
    const node = this.pointed;
    if (node >= 0 && !this.isHidden(node)) this.drawPointed(context, shown, node);
    if (!this.isFitted) this.drawMinimap(context, shown);
  }

  private drawAxis(context: CanvasRenderingContext2D, { model: { graph }, isFlipped, look }: Shown): void {
    context.font = `11px ${look.font}`;
    context.textAlign = isFlipped ? "left" : "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = look.ground;
    context.fillStyle = look.soft;
    for (const { text, x, y } of axisWords(graph, this.camera, this.frame)) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
  }

  /** Its links, and the nodes at their other ends. */
  private drawPointed(context: CanvasRenderingContext2D, { model: { graph, bundles }, look }: Shown, node: number): void {
    const links = LINKS[look.theme];
    const curve = new Float64Array(8);
    const around = Math.max(5, (BORDER + OUTSIDE_MAX) * this.camera.cell);
    for (const [lists, direction, colour] of [[graph.former, "past", links.former], [graph.latter, "future", links.latter]] as const) {
      context.strokeStyle = colour;
      neighbours(graph, node, direction).forEach((other, at) => {
        if (this.isHidden(other)) return;
        const edge = listed(lists, node)[at] ?? 0;
        curveOf(graph, bundles, edge, this.camera, this.frame, curve);
        context.lineWidth = Math.max(1.25, 1.6 * widthOf(graph.dag.edges.messages[edge] ?? 1, this.camera.cell));
        context.beginPath();
        trace(context, curve);
        context.stroke();
        const [x, y] = this.placeOf(other);
        ring(context, x, y, around, colour, 1.5);
      });
    }
    const [x, y] = this.placeOf(node);
    ring(context, x, y, around, look.text, 1.5);
  }

  private drawMinimap(context: CanvasRenderingContext2D, shown: Shown): void {
    const { width, height, inset } = MINIMAP;
    if (this.size.width < 3 * width || this.size.height < 2.5 * height) return;
    this.minimap ??= this.makeMinimap(shown);
    const [left, top] = [this.size.width - width - inset, this.size.height - height - inset];
    context.drawImage(this.minimap, left, top, width, height);
    const { graph } = shown.model;
    const [from, to] = [placeAt(this.camera, this.frame, 0, 0), placeAt(this.camera, this.frame, this.size.width, this.size.height)];
    const at = ({ layer, row }: { layer: number; row: number }): [number, number] => minimapPlace(graph.layers, graph.rows, shown.isFlipped, layer, row);
    const clamp = ([x, y]: [number, number]): [number, number] => [Math.min(width, Math.max(0, x)), Math.min(height, Math.max(0, y))];
    const [one, other] = [clamp(at(from)), clamp(at(to))];
    context.strokeStyle = shown.look.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + one[0], top + one[1], Math.max(3, other[0] - one[0]), Math.max(3, other[1] - one[1]));
  }

  private makeMinimap({ model: { graph }, isFlipped, look }: Shown): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    const ratio = devicePixelRatio || 1;
    canvas.width = MINIMAP.width * ratio;
    canvas.height = MINIMAP.height * ratio;
    const context = canvas.getContext("2d");
    if (!context) return canvas;
    context.scale(ratio, ratio);
    context.fillStyle = look.ground;
    context.fillRect(0, 0, MINIMAP.width, MINIMAP.height);
    const { nodes } = graph.dag;
    for (let node = 0; node < nodes.length; node++) {
      if (this.isHidden(node)) continue;
      const [x, y] = minimapPlace(graph.layers, graph.rows, isFlipped, nodes.layer[node] ?? 0, graph.row[node] ?? 0);
      context.fillStyle = hostColour(nodes.host[node] ?? 0, look.theme);
      context.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
    }
    context.strokeStyle = look.line;
    context.strokeRect(0.5, 0.5, MINIMAP.width - 1, MINIMAP.height - 1);
    return canvas;
  }
}

function minimapPlace(layers: number, rows: number, isFlipped: boolean, layer: number, row: number): [x: number, y: number] {
  const [along, across] = [(layer + 0.5) / layers, (row + rows / 2) / rows];
  return isFlipped ? [across * MINIMAP.width, along * MINIMAP.height] : [along * MINIMAP.width, across * MINIMAP.height];
}
