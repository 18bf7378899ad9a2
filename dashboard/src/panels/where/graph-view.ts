// Draws the graph's canvas when something about it changed, and turns gestures and keys into what they mean.

import { effect } from "@preact/signals";
import type { Frames } from "../../frames";
import { CAUSE_COLOURS } from "../../palette/causes";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { sameTarget, type Target } from "../../words/regions";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { setMarks } from "../share/marks";
import { watchSize } from "../size";
import { blamedIn } from "./blamed";
import { type Camera, fitted, type Matrix, matrixOf, panned, type Point, type Size, turned, zoomed } from "./camera";
import type { Desk } from "./desk";
import { drawGraph, type GraphPicture } from "./graph-draw";
import { listenGraph } from "./graph-pointer";
import { ranksInside, targetAt } from "./hit";
import type { Memory } from "./memory";
import { type Look, paintLinks } from "./paint-links";

/** Room for names around all. */
const MARGIN = 26;
const PAN_PIXELS = 48;
const TURN = Math.PI / 24;
const ZOOM = 1.25;

export class GraphView {
  private readonly stops: (() => void)[] = [];
  private dirty = true;
  private size: Size = { width: 0, height: 0 };
  private lasso: Point[] | null = null;
  private asked = "";
  private ringed: GraphPicture["ringed"] = null;

  constructor(
    private readonly store: Store,
    private readonly frames: Frames,
    private readonly canvas: HTMLCanvasElement,
    private readonly desk: Desk,
    private readonly memory: Memory,
  ) {
    this.stops.push(effect(() => {
      void [desk.scene.value, desk.pictures.value, memory.mode.value, memory.pointed.value, theme.value];
      void [store.selection.value, store.perspective.value.ranks];
      const blamed = blamedIn(store);
      this.ringed = blamed && { ranks: blamed.ranks, colour: CAUSE_COLOURS[blamed.cause][theme.value] };
      this.changed();
    }));
    this.stops.push(frames.add(() => this.draw()));
    this.stops.push(watchSize(canvas, () => this.changed()));
    this.stops.push(listenGraph(canvas, this, memory));
  }

  dispose(): void {
    for (const stop of this.stops) stop();
  }

  changed(): void {
    this.dirty = true;
    this.frames.request();
  }

  get camera(): Camera {
    return this.memory.camera ?? fitted(this.desk.scene.peek()?.placement.discs ?? [], 0, this.size, MARGIN);
  }

  private look(camera: Camera | null): void {
    this.memory.camera = camera;
    this.changed();
  }

  private matrix(): Matrix {
    return matrixOf(this.camera, this.size);
  }

  pan(dx: number, dy: number): void {
    this.look(panned(this.camera, dx, dy));
  }

  zoom(factor: number, at: Point = [this.size.width / 2, this.size.height / 2]): void {
    this.look(zoomed(this.camera, factor, at, this.size));
  }

  turn(by: number): void {
    const { discs } = this.desk.scene.peek()?.placement ?? { discs: [] };
    // What was all in sight stays so.
    this.look(this.memory.camera ? turned(this.camera, by) : fitted(discs, turned(this.camera, by).angle, this.size, MARGIN));
  }

  fit(): void {
    this.look(null);
  }

  key(event: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(PAN_PIXELS, 0), ArrowRight: () => this.pan(-PAN_PIXELS, 0),
      ArrowUp: () => this.pan(0, PAN_PIXELS), ArrowDown: () => this.pan(0, -PAN_PIXELS),
      a: () => this.pan(PAN_PIXELS, 0), d: () => this.pan(-PAN_PIXELS, 0), w: () => this.pan(0, PAN_PIXELS), s: () => this.pan(0, -PAN_PIXELS),
      "+": () => this.zoom(ZOOM), "=": () => this.zoom(ZOOM), "-": () => this.zoom(1 / ZOOM), 0: () => this.fit(), f: () => this.fit(),
      r: () => this.turn(TURN), R: () => this.turn(-TURN),
    };
    const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : acts[event.key];
    act?.();
    return act !== undefined;
  }

  at(x: number, y: number): Target | null {
    const scene = this.desk.scene.peek();
    return scene && targetAt(scene, this.matrix(), x, y);
  }

  select(target: Target | null): void {
    this.store.selection.value = sameTarget(target, targetOf(this.store)) ? null : target;
  }

  /** A rank, or a region with its ranks, goes where the pointer goes. */
  drag(target: Target, dx: number, dy: number): void {
    const scene = this.desk.scene.peek();
    if (!scene || (target.kind !== "rank" && target.kind !== "region")) return;
    const { camera } = this;
    this.memory.camera ??= camera;
    const to = panned(camera, -dx, -dy);
    const [wx, wy] = [to.x - camera.x, to.y - camera.y];
    const { placement } = scene;
    const index = target.kind === "region" ? placement.discs.findIndex(({ id }) => id === target.id) : -1;
    const ranks = target.kind === "rank" ? [target.rank] : [...placement.regionOf.keys()].filter((rank) => placement.regionOf[rank] === index);
    this.desk.move({ ranks, dx: wx, dy: wy, region: target.kind === "region" ? target.id : null });
  }

  draws(line: Point[] | null): void {
    this.lasso = line;
    this.changed();
  }

  /** An empty lasso lets all ranks show again. */
  choose(line: readonly Point[]): void {
    const scene = this.desk.scene.peek();
    if (!scene) return;
    const ranges = rangesOf(ranksInside(scene, this.matrix(), line));
    this.store.select({ ranks: ranges.length > 0 ? ranges : null });
  }

  private draw(): void {
    if (!this.dirty) return;
    const scene = this.desk.scene.peek();
    const sheet = prepare(this.canvas);
    if (!sheet) return;
    this.dirty = false;
    this.size = { width: sheet.width, height: sheet.height };
    if (!scene) return;
    const matrix = this.matrix();
    const shown = shownRanks(this.store, scene.placement.x.length);
    const look: Look = { theme: theme.peek(), mode: this.memory.mode.peek(), line: colours.peek().edge, shown };
    this.ask(matrix, sheet.ratio, look);
    const { painted } = this.desk;
    if (painted) {
      const { ask } = painted;
      setMarks(painted.bitmap, {
        width: ask.width, height: ask.height,
        paint: (context) => {
          paintLinks(context, scene, ask.matrix, ask, ask.look);
          return true;
        },
      });
    }
    drawGraph(sheet.context, {
      scene, matrix, size: this.size, ratio: sheet.ratio, mode: look.mode, theme: look.theme, shown,
      // A picture of another theme would flash.
      painted: painted?.ask.look.theme === look.theme ? painted : null,
      colours: colours.peek(), pointed: this.memory.pointed.peek(), selected: targetOf(this.store), lasso: this.lasso, ringed: this.ringed,
    });
  }

  /** A picture of the links for this view, unless it is there or asked for. */
  private ask(matrix: Matrix, ratio: number, look: Look): void {
    const { width, height } = this.size;
    const key = JSON.stringify([matrix, ratio, width, height, look.theme, look.mode, this.store.perspective.peek().ranks]);
    const scene = this.desk.scene.peek();
    if (key === this.asked && scene === this.askedFor) return;
    this.asked = key;
    this.askedFor = scene;
    this.desk.paint({ matrix, width, height, ratio, look });
  }

  private askedFor: unknown = null;
}

/** What is selected, where the graph can show it. */
export function targetOf(store: Store): Target | null {
  const selection = store.selection.peek();
  switch (selection?.kind) {
    case "rank":
    case "region":
    case "between":
    case "pair":
      return selection;
    case "message":
      return { kind: "pair", src: selection.message.src, dst: selection.message.dst };
    default:
      return null;
  }
}

export function shownRanks(store: Store, ranks: number): Uint8Array | null {
  const chosen = store.perspective.peek().ranks;
  if (!chosen) return null;
  const shown = new Uint8Array(ranks);
  for (const [first, last] of chosen) shown.fill(1, first, last + 1);
  return shown;
}

