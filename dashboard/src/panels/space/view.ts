// The points in their place on the page: drawn by a graphics processor or without, with rings, names and a lasso above;
// gestures and keys turned into what they mean. Knows no questions.

import { effect } from "@preact/signals";
import type { Frames } from "../../frames";
import { RANGES_MAX, rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { reducedMotion, theme } from "../../state/theme";
import { colours } from "../colours";
import { watchSize } from "../size";
import { between, type Camera, type Cloud, fitted, lensOf, type Lens, panned, projectAll, type Size, turned, zoomed } from "./camera";
import type { Gpu } from "./gpu";
import { firstSide, type Scene } from "./model";
import { drawFloor, drawOverlay, type Link } from "./overlay";
import { inside, nearest, type Spot } from "./pick";
import { listenPointer } from "./pointer";
import { drawPoints, type Flat, type Sheet, sheetOf, type Tones } from "./raster";
import { selectedRank, type SpaceState } from "./state";

/** Room for names around all, where there is room. */
const MARGIN = 36;
const MARGIN_PART = 0.09;
const TURN = Math.PI / 24;
const PAN_PIXELS = 40;
const ZOOM = 1.25;
const FLIGHT_MS = 160;

/** Points are round by what the shader leaves out, which smoothing of edges would not see. */
const CONTEXT: WebGLContextAttributes = { antialias: false, alpha: true, premultipliedAlpha: true, failIfMajorPerformanceCaveat: false, preserveDrawingBuffer: true };

export class SpaceView {
  /** What the picture cannot show; empty where it shows all. */
  note = "";
  private readonly flatCanvas = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly floor = document.createElement("canvas");
  private gpuCanvas: HTMLCanvasElement | null = null;
  private gpu: Gpu | null = null;
  private sheet: Sheet | null = null;
  private readonly stops: (() => void)[] = [];
  private scene: Scene | null = null;
  private flat: Flat = { x: new Float32Array(0), y: new Float32Array(0), depth: new Float32Array(0) };
  private lens: Lens | null = null;
  private size: Size = { width: 0, height: 0 };
  private isDirty = true;
  private flight: { from: Camera; to: Camera; isFit: boolean; sinceMs: number } | null = null;
  private lasso: Spot[] | null = null;
  private links: readonly Link[] = [];
  private isShown: () => void = () => undefined;
  /** Once a picture is on the page. */
  private readonly firstPicture = new Promise<void>((resolve) => (this.isShown = () => void setTimeout(resolve)));
  private sighted: { scene: Scene; cloud: Cloud } | null = null;

  constructor(private readonly store: Store, private readonly frames: Frames, readonly element: HTMLElement, private readonly state: SpaceState, private readonly showNote: (note: string) => void) {
    this.overlay.className = "over";
    for (const canvas of [this.floor, this.flatCanvas, this.overlay]) canvas.setAttribute("aria-hidden", "true");
    element.append(this.floor, this.flatCanvas, this.overlay);
    this.stops.push(effect(() => {
      void [state.view.value, state.looks.value, state.axes.value, state.pointed.value, theme.value, store.selection.value, store.perspective.value.ranks];
      this.invalidate();
    }));
    this.stops.push(frames.add((nowMs) => this.draw(nowMs)));
    this.stops.push(watchSize(element, () => this.invalidate()));
    this.stops.push(listenPointer(element, this, state));
    void this.startGpu();
  }

  /**
   * Three.js comes in its own file, as this view does. A context can take a while too, so the first picture does not wait
   * for either: the CPU draws it.
   */
  private async startGpu(): Promise<void> {
    try {
      const [{ Gpu }] = await Promise.all([import("./gpu"), this.firstPicture]);
      if (this.stops.length === 0) return;
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      const context = canvas.getContext("webgl2", CONTEXT);
      if (!context) {
        this.showNote("Without WebGL2: drawn by the CPU.");
        return;
      }
      this.gpu = new Gpu(canvas, context, () => this.stopGpu("The graphics processor was lost: drawn by the CPU."));
      this.gpuCanvas = canvas;
      this.flatCanvas.hidden = true;
      this.flatCanvas.before(canvas);
      this.invalidate();
    } catch (error) {
      this.stopGpu(`${error instanceof Error ? error.message : String(error)} Drawn by the CPU.`);
    }
  }

  private stopGpu(note: string): void {
    this.gpu?.dispose();
    this.gpu = null;
    this.gpuCanvas?.remove();
    this.flatCanvas.hidden = false;
    this.showNote(note);
    this.invalidate();
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.stops.length = 0;
    this.gpu?.dispose();
    this.element.replaceChildren();
  }

  show(scene: Scene | null): void {
    if (scene === this.scene) return;
    this.scene = scene;
    if (scene && this.flat.x.length !== scene.length) {
      this.flat = { x: new Float32Array(scene.length), y: new Float32Array(scene.length), depth: new Float32Array(scene.length) };
    }
    this.invalidate();
  }

  join(links: readonly Link[]): void {
    if (links === this.links) return;
    this.links = links;
    this.invalidate();
  }

  private invalidate(): void {
    this.isDirty = true;
    this.frames.request();
  }

  get camera(): Camera {
    return this.state.camera ?? this.fittedCamera();
  }

  private fittedCamera(): Camera {
    const { scene } = this;
    if (!scene) return { yaw: 0, pitch: 0, distance: 3, x: 0, y: 0, z: 0 };
    const { yaw, pitch } = firstSide(scene);
    return fitted(this.inSight(scene), yaw, pitch, this.size, this.margin, scene.reach);
  }

  private inSight(scene: Scene): Cloud {
    if (this.sighted?.scene !== scene) this.sighted = { scene, cloud: drawn(scene) };
    return this.sighted.cloud;
  }

  private get margin(): number {
    return Math.min(MARGIN, this.size.height * MARGIN_PART);
  }

  private look(camera: Camera): void {
    this.flight = null;
    this.state.look(camera);
  }

  turn(right: number, up: number): void {
    this.look(turned(this.camera, -right, up));
  }

  pan(dx: number, dy: number): void {
    this.look(panned(this.camera, this.size, dx, dy));
  }

  zoom(factor: number, x = this.size.width / 2, y = this.size.height / 2): void {
    this.look(zoomed(this.camera, this.size, factor, x, y));
  }

  /** All in sight, from the side that is looked from; a second time, from the first side. */
  fit(): void {
    const { camera, scene } = this;
    if (!scene) return;
    const closer = fitted(this.inSight(scene), camera.yaw, camera.pitch, this.size, this.margin, scene.reach);
    const isFitted = Math.abs(closer.distance - camera.distance) < 0.02 && Math.hypot(closer.x - camera.x, closer.y - camera.y, closer.z - camera.z) < 0.02;
    this.fly(isFitted ? this.fittedCamera() : closer, isFitted);
  }

  private fly(to: Camera, isFit: boolean): void {
    if (reducedMotion.peek()) {
      this.state.look(isFit ? null : to);
      return;
    }
    this.flight = { from: this.camera, to, isFit, sinceMs: performance.now() };
    this.invalidate();
  }

  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const pan = event.shiftKey;
    const arrow = (x: number, y: number) => (): void => (pan ? this.pan(-x * PAN_PIXELS, -y * PAN_PIXELS) : this.turn(x * TURN, -y * TURN));
    const acts: Record<string, () => void> = {
      ArrowLeft: arrow(-1, 0), ArrowRight: arrow(1, 0), ArrowUp: arrow(0, -1), ArrowDown: arrow(0, 1),
      a: () => this.pan(PAN_PIXELS, 0), d: () => this.pan(-PAN_PIXELS, 0), w: () => this.pan(0, PAN_PIXELS), s: () => this.pan(0, -PAN_PIXELS),
      "+": () => this.zoom(ZOOM), "=": () => this.zoom(ZOOM), "-": () => this.zoom(1 / ZOOM), f: () => this.fit(),
      n: () => this.step(1), b: () => this.step(-1), Enter: () => this.select(this.state.pointed.peek()),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    act?.();
    return act !== undefined;
  }

  /** From rank to rank, those that a filter hides left out. */
  private step(by: 1 | -1): void {
    const { scene } = this;
    if (!scene || scene.ranks === 0) return;
    const selection = this.store.selection.peek();
    let rank = selection?.kind === "rank" ? selection.rank : by > 0 ? -1 : scene.ranks;
    for (let tried = 0; tried < scene.ranks; tried++) {
      rank = (rank + by + scene.ranks) % scene.ranks;
      if ((scene.radius[rank * scene.pointsPerRank] ?? 0) > 0) break;
    }
    this.store.selection.value = { kind: "rank", rank };
  }

  rankAt(x: number, y: number): number | null {
    const { scene, lens } = this;
    if (!scene || !lens) return null;
    const point = nearest(scene, this.flat, lens, x, y);
    return point < 0 ? null : Math.floor(point / scene.pointsPerRank);
  }

  point(rank: number | null): void {
    this.state.pointed.value = rank;
    this.element.classList.toggle("pointed", rank !== null);
  }

  select(rank: number | null): void {
    const selection = this.store.selection.peek();
    this.store.selection.value = rank === null || (selection?.kind === "rank" && selection.rank === rank) ? null : { kind: "rank", rank };
  }

  draws(line: Spot[] | null): void {
    this.lasso = line;
    this.invalidate();
  }

  /** An empty lasso lets all ranks show again. */
  enclose(line: readonly Spot[]): void {
    const { scene } = this;
    if (!scene) return;
    const found = rangesOf(inside(scene, this.flat, line));
    if (found.length > RANGES_MAX) {
      this.showNote(`That is ${found.length} stretches of ranks; at most ${RANGES_MAX} can be selected.`);
      return;
    }
    this.showNote("");
    this.store.select({ ranks: found.length > 0 ? found : null });
  }

  private draw(nowMs: number): void {
    if (!this.isDirty) return;
    this.isDirty = false;
    this.size = { width: this.element.clientWidth, height: this.element.clientHeight };
    const { scene, size } = this;
    if (!scene || size.width === 0 || size.height === 0) return;
    const lens = lensOf(this.moved(nowMs), size);
    this.lens = lens;
    projectAll(lens, scene, this.flat);
    const tones: Tones = { ground: channels(colours.peek().ground), ring: channels(colours.peek().text) };
    const ratio = devicePixelRatio || 1;
    if (this.gpu) {
      this.gpu.show(scene);
      this.gpu.draw(lens, this.flat, tones, ratio);
    } else this.drawFlat(scene, lens, tones, ratio);
    drawFloor(this.floor, scene, lens, colours.peek());
    drawOverlay(this.overlay, { scene, flat: this.flat, lens, colours: colours.peek(), pointed: this.state.pointed.peek(), selected: selectedRank(this.store), ranks: this.store.perspective.peek().ranks, lasso: this.lasso, links: this.links, axes: this.state.axes.peek(), unit: unitOf(scene) });
    this.isShown();
  }

  /** Where the camera is while it flies. */
  private moved(nowMs: number): Camera {
    const { flight } = this;
    if (!flight) return this.camera;
    const part = Math.min(1, (nowMs - flight.sinceMs) / FLIGHT_MS);
    if (part >= 1) {
      this.flight = null;
      this.state.look(flight.isFit ? null : flight.to);
      return flight.to;
    }
    this.invalidate();
    return between(flight.from, flight.to, Math.max(0, part) ** 2 * (3 - 2 * Math.max(0, part)));
  }

  private drawFlat(scene: Scene, lens: Lens, tones: Tones, ratio: number): void {
    const [width, height] = [Math.round(lens.size.width * ratio), Math.round(lens.size.height * ratio)];
    if (this.sheet?.width !== width || this.sheet.height !== height) this.sheet = sheetOf(width, height);
    const { flatCanvas, sheet } = this;
    if (flatCanvas.width !== width) flatCanvas.width = width;
    if (flatCanvas.height !== height) flatCanvas.height = height;
    drawPoints(sheet, scene, this.flat, lens, ratio, tones);
    const bytes = new Uint8ClampedArray(sheet.pixels.buffer as ArrayBuffer);
    flatCanvas.getContext("2d")?.putImageData(new ImageData(bytes, width, height), 0, 0);
  }
}

/** The corners of the floor, and the end of the axis upwards, as ends of the three axes. */
const CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]] as const;

/** What is to be in sight: the points that have a place, and the floor with its axes. */
function drawn(scene: Scene): Cloud {
  const { least, most } = scene.box;
  const length = scene.length + CORNERS.length;
  const cloud = { length, x: new Float32Array(length), y: new Float32Array(length), z: new Float32Array(length) };
  for (const [axis, name] of (["x", "y", "z"] as const).entries()) {
    CORNERS.forEach((corner, at) => (cloud[name][at] = (corner[axis] ? most[axis] : least[axis]) ?? 0));
  }
  let at = CORNERS.length;
  for (let point = 0; point < scene.length; point++) {
    if (Number.isNaN(scene.x[point])) continue;
    [cloud.x[at], cloud.y[at], cloud.z[at]] = [scene.x[point] ?? 0, scene.y[point] ?? 0, scene.z[point] ?? 0];
    at++;
  }
  return { ...cloud, length: at };
}

/** How long in the scene a unit of the layout is. */
function unitOf({ box }: Scene): number {
  const spans = [0, 1, 2].map((axis) => [(box.most[axis] ?? 0) - (box.least[axis] ?? 0), (box.to[axis] ?? 0) - (box.from[axis] ?? 0)] as const);
  const [scene, own] = spans.reduce((longest, span) => (span[0] > longest[0] ? span : longest), [0, 0] as const);
  return scene > 0 ? own / scene : 1;
}

/** Style sheets come with short colours too. */
function channels(colour: string): [number, number, number] {
  const hex = colour.length === 4 ? colour.replace(/[\da-f]/gi, "$&$&") : colour;
  const at = (from: number): number => Number.parseInt(hex.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
}
