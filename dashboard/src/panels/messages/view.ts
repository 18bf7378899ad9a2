// The rows in their place on the page: the newest picture, moved and stretched at once as time and rows are, while a sharp
// one is drawn beside; over it what changes without a picture. Asks for what it shows.

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Frames } from "../../frames";
import { same, unchanged } from "../../same";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { panned, wholeRun, zoomed } from "../../state/span";
import type { Selection, Store } from "../../state/store";
import { theme } from "../../state/theme";
import { prepare } from "../canvas";
import { colours, functionColours } from "../colours";
import { type Painted, Painter } from "../painter/painter";
import { watchSize } from "../size";
import { LEFT, RIGHT } from "../timeline/scale";
import type { ArrowFrame } from "./arrows";
import { headMark, markedRanks, rowName } from "./marks";
import { paintFound, paintGrid, paintHeads, paintMarks, paintRing, paintRunning, paintThumb, paintTime, TOP } from "./overlay";
import { paintMeant } from "./paint-arrows";
import { type Ink, type Picture, type PictureSummary } from "./picture";
import { meantMessages, type Pointed, pointedAt, type Scene } from "./pointing";
import type { KnownTraffic } from "./questions";
import { type RowKinds, ROWS, sourceOf } from "./recipe";
import { rowByRank, type Rows, single } from "./fold";
import { brought, fitted, isFitted, type RowCamera, type RowFrame, rowsInSight, scrolled, settled, yOfRow, zoomedRows } from "./rows";
import type { MessagesState } from "./state";
import type { Tracks } from "./tracks";

export interface PointedAt { pointed: Pointed; x: number; y: number }

/** Of a view's width and height, drawn on each side beyond it. */
const MARGIN = 0.25;
/** A picture that is off by less than this is sharp enough. */
const SHARP_PIXELS = 0.5;
/** From one kind of picture to another. */
const FADE_MS = 120;
/** Arrows beside those that are meant. */
const FADED = 0.22;
const NONE = new Uint32Array(0);

export class MessagesView {
  readonly pointed = signal<PointedAt | null>(null);
  /** Figures of the picture that is seen. */
  readonly summary = signal<PictureSummary | null>(null);
  /** While somebody brushes, and while a row is taken elsewhere. */
  brushing: Span | null = null;
  dragged: number | null = null;
  private readonly canvas = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly stops: (() => void)[] = [];
  private readonly colourOf: ReadonlySignal<ReadonlyMap<number, string>>;
  private readonly painter = new Painter<RowKinds>(ROWS, () => new Worker(new URL("./painter-worker.ts", import.meta.url), { type: "module" }), {
    painted: (painted) => this.arrive(painted),
    ready: (tracks) => {
      this.ordered = { known: this.posted, tracks };
      this.invalidate();
    },
  });
  private painted: Painted<RowKinds> | null = null;
  private asked: Picture | null = null;
  private posted: KnownTraffic | null = null;
  private ordered: { known: KnownTraffic | null; tracks: Tracks } | null = null;
  private meant: { key: readonly unknown[]; messages: readonly number[] } = { key: [], messages: [] };
  private rowOf: { of: Rows; rows: Int32Array } = { of: single(NONE), rows: new Int32Array(0) };
  private fading: { copy: HTMLCanvasElement; sinceMs: number } | null = null;
  private followed: Selection | undefined = undefined;
  private isDirty = true;
  private readonly font: string;

  constructor(readonly element: HTMLElement, private readonly store: Store, private readonly state: MessagesState, private readonly frames: Frames) {
    this.overlay.className = "over";
    for (const canvas of [this.canvas, this.overlay]) canvas.setAttribute("aria-hidden", "true");
    element.append(this.canvas, this.overlay);
    this.font = getComputedStyle(element).fontFamily;
    this.colourOf = functionColours(store.run);
    this.stops.push(effect(() => {
      void [store.run.value, store.zoom.value, state.frozen.value, store.perspective.value, store.timeNs.value, store.selection.value, theme.value, this.colourOf.value];
      void [state.rows.value, state.bars.value, state.regionOf.value, state.arrows.value, state.isLatency.value, state.cursor.value];
      this.show(state.figures.value.known);
      this.invalidate();
    }));
    this.stops.push(frames.add(() => this.draw()));
    this.stops.push(watchSize(element, () => this.invalidate()));
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.painter.dispose();
    this.element.replaceChildren();
  }

  get edge(): number {
    return edgeNs(this.store.run.peek());
  }

  get span(): Span {
    return this.state.frozen.peek() ?? this.store.zoom.peek() ?? wholeRun(this.edge);
  }

  get width(): number {
    return Math.max(1, this.element.clientWidth - LEFT - RIGHT);
  }

  get rowFrame(): RowFrame {
    return { rows: this.state.rows.peek().heads.length, height: Math.max(1, this.element.clientHeight - TOP) };
  }

  get camera(): RowCamera {
    const { camera } = this.state;
    return camera ? settled(camera, this.rowFrame) : fitted(this.rowFrame);
  }

  get frame(): ArrowFrame {
    const rows = this.state.rows.peek();
    if (this.rowOf.of !== rows) this.rowOf = { of: rows, rows: rowByRank(rows) };
    return { span: this.span, width: this.width, height: this.rowFrame.height, camera: this.camera, rowOf: this.rowOf.rows };
  }

  get scene(): Scene {
    const { store, state, ordered } = this;
    const known = state.figures.peek().known;
    const arrows = state.arrows.peek() === "all" ? this.drawnArrows : Uint32Array.from(this.meantOf(store.selection.peek()));
    const isDrawn = known !== null && ordered?.known === known;
    return {
      frame: this.frame, rows: state.rows.peek(), shares: isDrawn && this.painted?.summary.isShares ? known.shares : null, hidden: store.perspective.peek().hidden,
      calls: known?.calls ?? null, tracks: isDrawn ? ordered.tracks : null, messages: state.arrows.peek() === "none" ? null : known?.messages ?? null,
      arrows: isDrawn && this.isOf(known) ? arrows : NONE, inFlight: store.inFlight(), edgeNs: this.edge,
    };
  }

  nsAt(x: number): number {
    const [from, to] = this.span;
    return from + ((x - LEFT) / this.width) * (to - from);
  }

  pan(right: number, down: number): void {
    if ((this.state.frozen.peek() ?? this.store.zoom.peek()) && right !== 0) this.state.zoomTo(panned(this.span, (-right / this.width) * (this.span[1] - this.span[0]), this.edge));
    if (down !== 0) this.take(scrolled(this.camera, this.rowFrame, -down));
  }

  zoom(factor: number, ns: number): void {
    this.state.zoomTo(zoomed(this.span, factor, ns, Math.max(this.edge, this.span[1])));
  }

  zoomRows(factor: number, y = this.rowFrame.height / 2): void {
    this.take(zoomedRows(this.camera, this.rowFrame, factor, y));
  }

  fitRows(): void {
    this.take(fitted(this.rowFrame));
  }

  get ranksInSight(): number {
    return this.ranksOfRows.length;
  }

  /** The ranks of the rows that are seen. */
  get drawnRanks(): ReadonlySet<number> {
    return new Set(this.ranksOfRows);
  }

  /** A row may have several. */
  private get ranksOfRows(): Uint32Array {
    const [from, to] = rowsInSight(this.camera, this.rowFrame);
    const rows = this.state.rows.peek();
    return rows.ranks.subarray(rows.from[from] ?? 0, rows.from[to] ?? rows.ranks.length);
  }

  /** The messages whose arrows are drawn, by their places. */
  get drawnArrows(): Uint32Array {
    return this.painted?.summary.arrows ?? NONE;
  }

  bring(rank: number): void {
    const row = this.frame.rowOf[rank] ?? -1;
    if (row >= 0) this.take(brought(this.camera, this.rowFrame, row));
  }

  /** What is at a place in pixels of the element. */
  at(x: number, y: number): Pointed | null {
    return y < TOP ? null : pointedAt(this.scene, x - LEFT, y - TOP);
  }

  point(pointed: Pointed | null, x = 0, y = 0): void {
    const before = this.pointed.peek();
    if (!pointed && !before) return;
    if (!same(pointed, before?.pointed ?? null)) this.invalidate();
    this.pointed.value = pointed && { pointed: unchanged(before?.pointed ?? pointed, pointed), x, y };
  }

  invalidate(): void {
    this.isDirty = true;
    this.frames.request();
  }

  private take(camera: RowCamera): void {
    this.state.camera = isFitted(camera, this.rowFrame) ? null : camera;
    this.invalidate();
  }

  private show(known: KnownTraffic | null): void {
    if (!known || known === this.posted) return;
    this.posted = known;
    this.asked = null;
    this.pointed.value = null;
    this.painter.show(sourceOf(known.calls, known.messages, known.shares));
  }

  private arrive(painted: Painted<RowKinds>): void {
    const before = this.painted?.summary;
    if (before && (before.isTime !== painted.summary.isTime || before.isShares !== painted.summary.isShares)) this.keepForFading();
    this.painted = painted;
    this.summary.value = painted.summary;
    this.invalidate();
  }

  /** What is seen now fades into a picture of another kind. */
  private keepForFading(): void {
    const { width, height } = this.canvas;
    if (width === 0 || height === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [width, height];
    copy.getContext("2d")?.drawImage(this.canvas, 0, 0);
    this.fading = { copy, sinceMs: performance.now() };
  }

  /** Whether the picture that is seen is of what is known. */
  private isOf(known: KnownTraffic): boolean {
    return this.posted === known && this.painted !== null;
  }

  private draw(): void {
    if (!this.isDirty || this.element.clientWidth === 0) return;
    this.isDirty = false;
    this.follow();
    this.request();
    const { frame } = this;
    const meant = this.state.arrows.peek() === "none" ? [] : this.meantOf(this.store.selection.peek());
    this.blit(frame, meant.length > 0);
    this.drawOverlay(frame, meant);
  }

  private picture(): Picture {
    const { store, state, frame: { span, width, height, camera } } = this;
    const { text, ground, line } = colours.peek();
    const mode = theme.peek();
    const inks = [...store.run.peek().functions.values()].map(({ id, name }): Ink => ({ function: id, name, colour: this.colourOf.peek().get(id) ?? "#808080" }));
    return {
      span, width, height, camera, rows: state.rows.peek(), inks, hidden: [...store.perspective.peek().hidden], hasArrows: state.arrows.peek() === "all", hasShares: state.bars.peek() === "causes",
      margin: { x: Math.round(MARGIN * width), y: isFitted(camera, this.rowFrame) ? 0 : Math.round(MARGIN * height) },
      look: { theme: mode, text, ground, line, isLatency: state.isLatency.peek(), font: this.font },
    };
  }

  /** Another picture where the one that was asked for is not what is seen any more. */
  private request(): void {
    const wanted = this.picture();
    if (this.asked && isSharp(this.asked, wanted)) return;
    this.asked = wanted;
    this.painter.request(wanted, devicePixelRatio || 1);
    const { span, camera, rows } = wanted;
    const [first, end] = rowsInSight(camera, this.rowFrame);
    this.state.see({
      span, order: rows.ranks, rows: [rows.from[first] ?? 0, rows.from[end] ?? 0], ranksPerRow: this.ranksPerRow(camera.rowPixels), only: this.state.only.peek(), hasArrows: this.state.arrows.peek() !== "none",
      grows: !over(this.store.run.peek()) && span[1] >= this.edge,
    });
  }

  /** Consecutive ranks that may be added up: rows are by rank, and lower than a line of pixels. */
  private ranksPerRow(rowPixels: number): number {
    const { state } = this;
    return state.sort.peek() === "rank" && !state.isByHand.peek() && state.fold.peek() === "none" && !state.only.peek() ? 1 / (rowPixels * (devicePixelRatio || 1)) : 1;
  }

  /** The newest picture where it belongs now. */
  private blit(frame: ArrowFrame, isFaded: boolean): void {
    const prepared = prepare(this.canvas);
    if (!prepared) return;
    const { context } = prepared;
    context.save();
    context.translate(LEFT, TOP);
    context.beginPath();
    context.rect(0, 0, frame.width, frame.height);
    context.clip();
    paintGrid(context, frame, colours.peek());
    if (this.painted) this.blitPicture(context, frame, this.painted, isFaded);
    context.restore();
    if (this.fading) this.fade(context, prepared.width, prepared.height, this.fading);
  }

  private fade(context: CanvasRenderingContext2D, width: number, height: number, { copy, sinceMs }: { copy: HTMLCanvasElement; sinceMs: number }): void {
    const part = (performance.now() - sinceMs) / FADE_MS;
    if (part >= 1) {
      this.fading = null;
      return;
    }
    context.globalAlpha = 1 - part;
    context.drawImage(copy, 0, 0, width, height);
    context.globalAlpha = 1;
    this.invalidate();
  }

  private blitPicture(context: CanvasRenderingContext2D, frame: ArrowFrame, { picture: { span, width, height, camera, margin }, sheets: [bars, arrows] }: Painted<RowKinds>, isFaded: boolean): void {
    if (!bars || !arrows) return;
    const [along, down] = [((span[1] - span[0]) / width) / ((frame.span[1] - frame.span[0]) / frame.width), frame.camera.rowPixels / camera.rowPixels];
    const x = ((span[0] - frame.span[0]) / (frame.span[1] - frame.span[0])) * frame.width - margin.x * along;
    const y = yOfRow(frame.camera, camera.top) - margin.y * down;
    const [wide, high] = [(width + 2 * margin.x) * along, (height + 2 * margin.y) * down];
    // Of bars that are magnified the edges stay edges.
    context.imageSmoothingEnabled = false;
    context.drawImage(bars, x, y, wide, high);
    context.imageSmoothingEnabled = true;
    context.globalAlpha = isFaded ? FADED : 1;
    context.drawImage(arrows, x, y, wide, high);
  }

  private drawOverlay(frame: ArrowFrame, meant: readonly number[]): void {
    const prepared = prepare(this.overlay);
    if (!prepared) return;
    const { context } = prepared;
    const { store, state } = this;
    const look = colours.peek();
    const rows = state.rows.peek();
    const known = state.figures.peek().known;
    paintTime(context, frame, look);
    paintThumb(context, frame, rows.heads.length, look);
    context.save();
    context.beginPath();
    context.rect(0, TOP, LEFT, frame.height);
    context.clip();
    const pointed = this.pointed.peek()?.pointed;
    const marked = this.marked;
    paintHeads(context, frame, {
      rows, nameOf: (row) => rowName(rows, row), isMarked: (rank) => marked.has(rank), markOf: (rank) => headMark(store.run.peek(), state, rank, theme.peek()),
      focused: state.cursor.peek()?.rank ?? -1, pointed: pointed && "rank" in pointed ? pointed.rank : -1, dragged: this.dragged ?? -1,
    }, look);
    context.restore();
    context.translate(LEFT, TOP);
    context.save();
    context.beginPath();
    context.rect(0, -TOP, frame.width + RIGHT, frame.height + TOP);
    context.clip();
    const inFlight = store.inFlight();
    if (inFlight) paintRunning(context, frame, inFlight, this.edge, store.perspective.peek().hidden, (id) => this.colourOf.peek().get(id) ?? "#808080");
    paintFound(context, frame, rows, (rank) => marked.has(rank), look);
    this.drawMeant(context, frame, meant);
    paintMarks(context, frame, {
      rangeNs: this.brushing ?? store.perspective.peek().rangeNs, cursorNs: store.timeNs.peek(), edgeNs: this.edge, isOver: over(store.run.peek()),
      knownNs: known && [known.scope.rangeNs[0], Math.min(known.scope.rangeNs[1], known.edgeNs)],
    }, look);
    context.restore();
  }

  /** What is pointed at, selected or gone to, with its messages. */
  private drawMeant(context: CanvasRenderingContext2D, frame: ArrowFrame, meant: readonly number[]): void {
    const { calls, tracks, messages } = this.scene;
    const look = colours.peek();
    if (messages) paintMeant(context, messages, meant, frame, { theme: theme.peek(), text: look.text, ground: look.ground, isLatency: this.state.isLatency.peek() });
    const ring = (rank: number, thread: number, startNs: number, endNs: number, colour: string, width: number): void => {
      const row = frame.rowOf[rank] ?? -1;
      const lanes = tracks?.lanes[rank] ?? 1;
      if (row >= 0) paintRing(context, frame, { row, lane: Math.min(lanes - 1, thread), lanes, startNs, endNs }, colour, width);
    };
    const ringOf = (call: number, colour: string, width: number): void => {
      if (!calls || !tracks || call < 0) return;
      const [rank, start] = [calls.rank[call] ?? 0, calls.startNs[call] ?? 0];
      ring(rank, tracks.lane[tracks.items.indexOf(call, tracks.from[rank] ?? 0)] ?? 0, start, start + (calls.durationNs[call] ?? 0), colour, width);
    };
    const selection = this.store.selection.peek();
    if (selection?.kind === "call") ring(selection.call.rank, selection.call.thread, selection.call.startNs, selection.call.endNs ?? this.edge, look.accent, 2);
    ringOf(this.state.cursor.peek()?.call ?? -1, look.accent, 2);
    const pointed = this.pointed.peek()?.pointed;
    if (pointed?.kind === "call") ringOf(pointed.call, look.text, 1.5);
  }

  /** Ranks that are selected or were searched for. */
  private get marked(): ReadonlySet<number> {
    return markedRanks(this.store.selection.peek(), this.store.run.peek());
  }

  /** What was selected elsewhere comes into sight. */
  private follow(): void {
    const selection = this.store.selection.value;
    if (selection === this.followed) return;
    this.followed = selection;
    const [first] = markedRanks(selection, this.store.run.peek());
    if (first !== undefined && this.element.clientHeight > 0) this.bring(first);
  }

  private meantOf(selection: Selection): readonly number[] {
    const known = this.state.figures.peek().known;
    const pointed = this.pointed.peek()?.pointed ?? null;
    const key = [known, selection, pointed];
    if (key.some((each, at) => each !== this.meant.key[at])) {
      this.meant = { key, messages: meantMessages({ calls: known?.calls ?? null, messages: known?.messages ?? null }, pointed, selection) };
    }
    return this.meant.messages;
  }
}

/** Whether a picture of the one looks like a picture of the other. */
function isSharp(one: Picture, other: Picture): boolean {
  const perPixel = (other.span[1] - other.span[0]) / other.width;
  const isNear = (a: number, b: number, most: number): boolean => Math.abs(a - b) <= most;
  return one.width === other.width && one.height === other.height && one.rows === other.rows && one.hasArrows === other.hasArrows && one.hasShares === other.hasShares
    && one.span.every((ns, at) => isNear(ns, other.span[at] ?? 0, SHARP_PIXELS * perPixel))
    && isNear(one.camera.rowPixels, other.camera.rowPixels, 1e-9) && isNear(one.camera.top, other.camera.top, SHARP_PIXELS / other.camera.rowPixels)
    && same([one.look, one.hidden, one.inks], [other.look, other.hidden, other.inks]);
}
