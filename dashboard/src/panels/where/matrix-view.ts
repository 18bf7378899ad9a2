// Draws the matrix's canvas when something about it changed, and turns gestures and keys into what they mean.

import { effect, signal } from "@preact/signals";
import type { Frames } from "../../frames";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { watchSize } from "../size";
import type { Desk } from "./desk";
import { shownRanks, targetOf } from "./graph-view";
import { type CellWindow, type Order, ranksOfCell } from "./matrix";
import { drawMatrix, type Frame, frameOf } from "./matrix-draw";
import { listenMatrix } from "./matrix-pointer";
import type { Memory } from "./memory";

/** A part of the matrix, in places of the order. */
export interface Sight { x: number; y: number; span: number }
/** Places in the order; the last is inside. */
export interface Cell { fromRow: number; toRow: number; fromColumn: number; toColumn: number }

const SPAN_LEAST = 6;
const ZOOM = 1.25;
const PAN = 0.1;

export class MatrixView {
  /** Under the pointer. */
  readonly pointed = signal<Cell | null>(null);
  private readonly stops: (() => void)[] = [];
  private dirty = true;
  private asked: unknown[] = [];
  private frame: Frame = { left: 0, top: 0, side: 1 };
  private sight: Sight | null = null;
  private dragged: Cell | null = null;
  private orderNumber = 0;

  constructor(
    private readonly store: Store,
    private readonly frames: Frames,
    private readonly canvas: HTMLCanvasElement,
    private readonly desk: Desk,
    private readonly memory: Memory,
    private order: Order,
    private nameOf: (key: number) => string,
  ) {
    this.stops.push(effect(() => {
      void [desk.scene.value, desk.pictures.value, memory.measure.value, memory.pointed.value, theme.value, this.pointed.value];
      void [store.selection.value, store.perspective.value.ranks];
      this.changed();
    }));
    this.stops.push(frames.add(() => this.draw()));
    this.stops.push(watchSize(canvas, () => this.changed()));
    this.stops.push(listenMatrix(canvas, this));
  }

  dispose(): void {
    for (const stop of this.stops) stop();
  }

  setOrder(order: Order, nameOf: (key: number) => string): void {
    if (order === this.order) return;
    // Of another size all is in sight again.
    if (order.ranks.length !== this.order.ranks.length) this.sight = null;
    this.order = order;
    this.orderNumber++;
    this.nameOf = nameOf;
    this.changed();
  }

  private changed(): void {
    this.dirty = true;
    this.frames.request();
  }

  private get ranks(): number {
    return this.order.ranks.length;
  }

  private get window(): Sight {
    return this.sight ?? { x: 0, y: 0, span: Math.max(1, this.ranks) };
  }

  /** How many ranks a cell has each way. */
  get ranksOfCell(): number {
    return ranksOfCell(this.window.span, this.frame.side);
  }

  private look(x: number, y: number, span: number): void {
    const wide = Math.min(this.ranks, Math.max(Math.min(SPAN_LEAST, this.ranks), span));
    const inside = (from: number): number => Math.min(this.ranks - wide, Math.max(0, from));
    this.sight = wide >= this.ranks ? null : { x: inside(x), y: inside(y), span: wide };
    this.changed();
  }

  zoom(factor: number, at?: readonly [x: number, y: number]): void {
    const { x, y, span } = this.window;
    const { left, top, side } = this.frame;
    const part = (value: number): number => Math.min(1, Math.max(0, value / side));
    const [px, py] = at ? [part(at[0] - left), part(at[1] - top)] : [0.5, 0.5];
    const next = Math.min(this.ranks, Math.max(Math.min(SPAN_LEAST, this.ranks), span / factor));
    this.look(x + (span - next) * px, y + (span - next) * py, next);
  }

  pan(dx: number, dy: number): void {
    const { x, y, span } = this.window;
    this.look(x - (dx / this.frame.side) * span, y - (dy / this.frame.side) * span, span);
  }

  fit(): void {
    this.look(0, 0, Infinity);
  }

  key(event: KeyboardEvent): boolean {
    const by = this.frame.side * PAN;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(by, 0), ArrowRight: () => this.pan(-by, 0), ArrowUp: () => this.pan(0, by), ArrowDown: () => this.pan(0, -by),
      a: () => this.pan(by, 0), d: () => this.pan(-by, 0), w: () => this.pan(0, by), s: () => this.pan(0, -by),
      "+": () => this.zoom(ZOOM), "=": () => this.zoom(ZOOM), "-": () => this.zoom(1 / ZOOM), 0: () => this.fit(), f: () => this.fit(),
    };
    const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : acts[event.key];
    act?.();
    return act !== undefined;
  }

  /** The cell at a place of the canvas; outside the nearest one, if wanted. */
  cellAt(px: number, py: number, nearest = false): Cell | null {
    const { left, top, side } = this.frame;
    const { x, y, span } = this.window;
    if (!nearest && (px < left || py < top || px >= left + side || py >= top + side)) return null;
    const place = (from: number, value: number): number => Math.min(this.ranks - 1, Math.max(0, Math.floor(from + (Math.min(side - 0.01, Math.max(0, value)) / side) * span)));
    const many = this.ranksOfCell;
    const first = (at: number): number => at - (at % many);
    const last = (at: number): number => Math.min(this.ranks - 1, first(at) + many - 1);
    const [column, row] = [place(x, px - left), place(y, py - top)];
    return { fromRow: first(row), toRow: last(row), fromColumn: first(column), toColumn: last(column) };
  }

  ranksOf(from: number, to: number): number[] {
    return [...this.order.ranks.subarray(from, to + 1)];
  }

  /** A rectangle is being drawn. */
  drags(cell: Cell | null): void {
    this.dragged = cell;
    this.changed();
  }

  /** The ranks of its rows and of its columns. */
  choose(cell: Cell): void {
    this.store.select({ ranks: rangesOf([...this.ranksOf(cell.fromRow, cell.toRow), ...this.ranksOf(cell.fromColumn, cell.toColumn)]) });
  }

  /** A cell of two ranks is selected; one of many is looked into. */
  click(px: number, py: number): void {
    const cell = this.cellAt(px, py);
    if (!cell) return;
    if (this.ranksOfCell > 1) {
      this.zoom(4, [px, py]);
      return;
    }
    const [src = 0, dst = 0] = [this.order.ranks[cell.fromRow], this.order.ranks[cell.fromColumn]];
    this.store.selection.value = src === dst ? { kind: "rank", rank: src } : { kind: "pair", src, dst };
  }

  private draw(): void {
    if (!this.dirty) return;
    const sheet = prepare(this.canvas);
    if (!sheet) return;
    this.dirty = false;
    this.frame = frameOf(sheet.width, sheet.height, sheet.ratio);
    const cells = this.cells(sheet.ratio);
    const measure = this.memory.measure.peek();
    this.ask(cells);
    const { paintedCells } = this.desk;
    const ask = paintedCells?.ask;
    const same = ask?.measure === measure && ask.theme === theme.peek() && ask.order === this.orderNumber;
    drawMatrix(sheet.context, {
      frame: this.frame, sight: this.window, order: this.order, nameOf: this.nameOf, painted: same ? paintedCells : null, colours: colours.peek(),
      shown: shownRanks(this.store, this.ranks), pointed: this.pointed.peek(), target: this.memory.pointed.peek() ?? targetOf(this.store),
      regions: this.store.run.peek().regions, dragged: this.dragged, width: sheet.width, height: sheet.height,
    });
  }

  private cells(ratio: number): CellWindow {
    const { x, y, span } = this.window;
    const ranks = ranksOfCell(span, this.frame.side * Math.min(1, ratio));
    const [column, row] = [Math.floor(x / ranks), Math.floor(y / ranks)];
    return { ranks, column, row, columns: Math.ceil((x + span) / ranks) - column, rows: Math.ceil((y + span) / ranks) - row };
  }

  private ask(cells: CellWindow): void {
    const measure = this.memory.measure.peek();
    const scene = this.desk.scene.peek();
    const key = [this.order, measure, theme.peek(), scene, ...Object.values(cells)];
    if (!scene || (key.length === this.asked.length && key.every((value, at) => value === this.asked[at]))) return;
    this.asked = key;
    this.desk.cells({ ranks: this.ranks, places: this.order.places, order: this.orderNumber, measure, cells, theme: theme.peek() });
  }
}
