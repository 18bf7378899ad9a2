// The particle view: calls as particles that rise while they run, stand at their duration, fade, and become history.
import "./particles.css";
import { colourOf } from "../../palette";
import { clock, count, duration } from "../../words";
import type { ParticleFrame, ParticleServices } from "../view";
import { Canvases } from "./canvases";
import { Controls } from "./controls";
import { DrawnCalls } from "./drawn-calls";
import { saveRun, saveView } from "./exports";
import { MARGIN_PX, plotSize, type GroundShape } from "./ground";
import { HistoryLayer } from "./history-layer";
import { Legend } from "./legend";
import { eachSelected, place, type Moment } from "./moment";
import type { Packed } from "./pack";
import { RIM_PX } from "./picture";
import { Pointer } from "./pointer";
import { everyOne, samplingWords, type Selected, type Selection } from "./sampling";
import { topOf, type Scale } from "./scale";
import { aggregationWords, filterWords, insideWords, NO_TABLES, particleSizePx, type Tables, tablesOf } from "./tables";

export type { CallText, ParticleFrame, ParticleServices } from "../view";
export type { FunctionFact } from "./legend";
export { describe } from "./describe";

/** Texts change so often at most. */
const WORDS_PAUSE_MS = 250;
/** With reduced motion, time moves in steps of this. */
const STILL_MS = 500;
/** The CPU draws at most so often while time runs, to leave the thread to the rest of the page. */
const CPU_PAUSE_MS = 30;
/** Smaller than this nothing can be read. */
const LEAST_SIDE_PX = 80;
const INK: Record<"light" | "dark", readonly [number, number, number]> = { dark: [1, 1, 1], light: [0.07, 0.09, 0.12] };

export class ParticleView {
  readonly words = { sampling: "", renderer: "" };
  readonly #root = document.createElement("div");
  readonly #plot = document.createElement("div");
  readonly #canvases: Canvases;
  readonly #controls: Controls;
  readonly #legend: Legend;
  readonly #pointer: Pointer;
  readonly #calls: DrawnCalls;
  readonly #history: HistoryLayer;
  #frame: ParticleFrame | null = null;
  #sizeCss = { widthPx: 0, heightPx: 0 };
  #tables: Tables = NO_TABLES;
  #drawn: { key: string; selection: Selection | null; inFlight: Packed | null; atMs: number; costMs: number } =
    { key: "", selection: null, inFlight: null, atMs: 0, costMs: 0 };
  #wordsAtMs = 0;
  #clearedNs = Number.NEGATIVE_INFINITY;
  #trouble = "";
  /** Of a frame that the view asked for itself: the shell only draws when its own state changes. */
  #ownFrame = 0;
  #disposed = false;

  constructor(
    readonly host: HTMLElement,
    readonly services: ParticleServices,
  ) {
    this.#root.className = "particles";
    this.#plot.className = "particles-plot";
    this.#plot.tabIndex = 0;
    this.#plot.setAttribute("role", "application");
    this.#plot.setAttribute("aria-roledescription", "particle view");
    this.#controls = new Controls({
      changed: () => this.#wake(),
      clearHistory: () => this.#clearHistory(),
      clearFading: () => this.#clearFading(),
      pngOfView: () => void this.#save(() => this.#saveView()),
      pngOfRun: () => void this.#save(() => this.#saveRun()),
    });
    this.#legend = new Legend((hidden) => services.setHidden(hidden));
    this.#pointer = new Pointer(this.#plot, services);
    this.#canvases = new Canvases(() => this.#rendererChanged());
    this.#calls = new DrawnCalls(this.#canvases.limits, (points) => services.budgetChanged(points));
    this.#history = new HistoryLayer((fromNs, toNs) => services.history(fromNs, toNs), () => this.#wake(), (trouble) => (this.#trouble = trouble));
    this.words.renderer = this.#canvases.words;
    this.#plot.append(...this.#canvases.elements, this.#controls.status, ...this.#pointer.elements);
    this.#root.append(this.#controls.element, this.#plot, this.#legend.element);
    host.append(this.#root);
    this.resize();
  }

  #rendererChanged(): void {
    if (this.#disposed) return;
    this.words.renderer = this.#canvases.words;
    this.#drawn.key = "";
    this.#calls.limit(this.#canvases.limits, this.#frame);
    this.#wake();
  }

  #wake(): void {
    if (this.#ownFrame !== 0 || this.#disposed) return;
    this.#ownFrame = requestAnimationFrame(() => {
      this.#ownFrame = 0;
      if (this.#frame !== null) this.draw(this.#frame);
    });
  }

  /** Where things are in the plot, and the plot in the view, for what is drawn over it. */
  get ground(): { ground: GroundShape; left: number; top: number } | null {
    return this.#frame && { ground: this.#groundShape(this.#frame), left: this.#plot.offsetLeft, top: this.#plot.offsetTop };
  }

  resize(): void {
    this.#sizeCss = { widthPx: this.#plot.clientWidth, heightPx: this.#plot.clientHeight };
  }

  draw(frame: ParticleFrame): void {
    const nowMs = performance.now();
    this.#frame = frame;
    this.resize();
    if (this.#sizeCss.widthPx < LEAST_SIDE_PX || this.#sizeCss.heightPx < LEAST_SIDE_PX) return;
    this.#legend.update(frame, nowMs);
    this.#tables = tablesOf(frame, this.#tables);
    const callsChanged = this.#calls.take(frame, nowMs);
    const ground = this.#groundShape(frame);
    const historyWaits = this.#history.work(frame, ground, this.#tables, nowMs);
    const drawingWaits = this.#marks(frame, ground, callsChanged, nowMs);
    const wordsWait = this.#say(frame, ground, nowMs);
    if (callsChanged || historyWaits || drawingWaits || wordsWait) this.#wake();
  }

  #scale(frame: ParticleFrame): Scale {
    let longestNs = frame.longestNs;
    const inFlight = frame.inFlight;
    for (let at = 0; inFlight !== null && at < inFlight.length; at++) {
      longestNs = Math.max(longestNs, frame.timeNs - inFlight.sinceNs[at]!);
    }
    return { unitNs: this.#controls.settings.unitNs, topNs: topOf(longestNs) };
  }

  #groundShape(frame: ParticleFrame): GroundShape {
    return { ...this.#sizeCss, scale: this.#scale(frame), ranks: frame.ranks, nodes: frame.nodes, theme: frame.theme };
  }

  /** Draws when the picture would be another one. True when it would but has to wait. */
  #marks(frame: ParticleFrame, ground: GroundShape, callsChanged: boolean, nowMs: number): boolean {
    const { leastOpacity, sizeFactor, unitNs } = this.#controls.settings;
    const { widthPx, heightPx } = this.#sizeCss;
    // What the user did is shown at once; time and new calls may wait.
    const userKey = `${widthPx} ${heightPx} ${devicePixelRatio} ${leastOpacity} ${sizeFactor} ${unitNs} ${this.#tables.key} ${this.#clearedNs};`;
    const key = `${userKey} ${frame.timeNs} ${frame.fadeNs} ${ground.scale.topNs} ${this.#history.raster.version}`;
    const drawn = this.#drawn;
    const sinceMs = nowMs - drawn.atMs;
    const { busy, tookMs } = this.#canvases.finished(nowMs);
    if (tookMs !== null && frame.moving) this.#measured(frame, tookMs);
    const { selection, inFlight } = this.#calls;
    if (key === drawn.key && drawn.selection === selection && drawn.inFlight === inFlight) return false;
    const user = !drawn.key.startsWith(userKey);
    const pauseMs = frame.reducedMotion ? STILL_MS : this.#canvases.onGpu ? 0 : Math.max(CPU_PAUSE_MS, 2 * drawn.costMs);
    if (busy || (!user && sinceMs < pauseMs)) return true;
    const { groups } = this.#calls;
    const costMs = this.#canvases.draw(
      ground, (across, up, ratio) => this.#momentOf(frame, ground.scale, across, up, ratio),
      groups, this.#history.raster, leastOpacity, nowMs,
    );
    this.#drawn = { key, selection, inFlight, atMs: nowMs, costMs: costMs ?? 0 };
    if (costMs !== null && frame.moving) this.#measured(frame, costMs);
    this.#follow(frame, ground, groups, callsChanged);
    return false;
  }

  #follow(frame: ParticleFrame, ground: GroundShape, groups: readonly Selected[], callsChanged: boolean): void {
    const factOf = (id: number): { name: string; family: string } =>
      frame.functions.get(id) ?? { name: `function ${id}`, family: "" };
    const scene = {
      moment: this.#cssMoment(frame, ground), groups, sources: this.#calls.sources, left: MARGIN_PX.left, top: MARGIN_PX.top,
      nameOf: (id: number) => factOf(id).name,
      colourOf: (id: number) => colourOf(factOf(id).name, factOf(id).family)[frame.theme],
    };
    this.#pointer.follow(scene, callsChanged);
  }

  #measured(frame: ParticleFrame, costMs: number): void {
    if (!this.#calls.measured(frame, costMs) && this.#canvases.onGpu && this.#calls.isHopeless) this.#canvases.tooSlow();
  }

  #cssMoment(frame: ParticleFrame, ground: GroundShape): Moment {
    const plot = plotSize(ground);
    return this.#momentOf(frame, ground.scale, plot.widthPx, plot.heightPx, 1);
  }

  #momentOf(frame: ParticleFrame, scale: Scale, widthPx: number, heightPx: number, pixelRatio: number): Moment {
    const ranks = Math.max(1, frame.ranks);
    return {
      timeNs: frame.timeNs, fadeNs: frame.fadeNs, scale, ranks, widthPx, heightPx,
      rimPx: Math.round(RIM_PX * pixelRatio),
      sizePx: particleSizePx(widthPx / pixelRatio / ranks) * this.#controls.settings.sizeFactor * pixelRatio,
      clearedNs: frame.timeNs >= this.#clearedNs ? this.#clearedNs : Number.NEGATIVE_INFINITY,
      colours: this.#tables.colours, ranksShown: this.#tables.ranksShown, ink: INK[frame.theme],
    };
  }

  /** Says what is seen. True when the words are older than the picture. */
  #say(frame: ParticleFrame, ground: GroundShape, nowMs: number): boolean {
    if (nowMs - this.#wordsAtMs < WORDS_PAUSE_MS) return this.#drawn.atMs > this.#wordsAtMs;
    this.#wordsAtMs = nowMs;
    const moment = this.#cssMoment(frame, ground);
    const { selection, inFlight } = this.#calls;
    const visible = visibleCalls(moment, selection.selected);
    const listed = frame.inFlight?.length ?? 0;
    const running = inFlight === null ? 0 : visibleCalls(moment, [everyOne(inFlight)]);
    const filtered = filterWords(frame);
    this.words.sampling = samplingWords(selection, visible);
    const parts = [
      this.words.sampling,
      filtered === "" ? insideWords(frame.inFlight?.total ?? 0, listed, frame.live) : insideWords(running, running, true),
      filtered,
      aggregationWords(frame.ranks, plotSize(ground).widthPx, this.#history.raster.cells.ranksPerRow),
      this.#history.fromNs > 0 ? `history since ${clock(this.#history.fromNs, 1)}` : "",
      this.#trouble,
      this.#canvases.onGpu ? "drawn by WebGL2" : "drawn by the CPU",
    ];
    const words = parts.filter(Boolean).join(" \u00b7 ");
    this.#controls.say(words, `${words}\nDrawn by: ${this.words.renderer}`);
    const range = `${duration(0)} to ${duration(ground.scale.topNs)}, ${count(frame.ranks)} ranks`;
    const label = `${count(visible + running)} calls drawn at run time ${clock(frame.timeNs)}, ${range}. Arrow keys go from call to call, Enter pins one, Escape lets go.`;
    this.#plot.setAttribute("aria-label", label);
    return false;
  }

  #clearHistory(): void {
    if (this.#frame === null) return;
    this.#history.clear(this.#frame.timeNs - this.#frame.fadeNs);
    this.#controls.historyCleared(this.#history.fromNs > 0);
    this.#wordsAtMs = 0;
    this.#wake();
  }

  #clearFading(): void {
    this.#clearedNs = this.#frame?.timeNs ?? Number.NEGATIVE_INFINITY;
    this.#wordsAtMs = 0;
    this.#wake();
  }

  async #save(make: () => Promise<void>): Promise<void> {
    this.#controls.busy(true);
    try {
      await make();
      this.#trouble = "";
    } catch (error) {
      this.#trouble = `No picture: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      this.#controls.busy(false);
      this.#wordsAtMs = 0;
      this.#wake();
    }
  }

  async #saveView(): Promise<void> {
    const frame = this.#frame;
    if (frame === null) return;
    const ground = this.#groundShape(frame);
    const moment = this.#cssMoment(frame, ground);
    const { selection, groups } = this.#calls;
    const sampling = samplingWords(selection, visibleCalls(moment, selection.selected));
    const { leastOpacity } = this.#controls.settings;
    const image = this.#history.raster.image();
    const history = image && { ...image, density: image.density.slice() };
    const shown = { frame, ground, moment, groups, history, leastOpacity, sampling };
    await saveView(shown, this.services.runName());
  }

  async #saveRun(): Promise<void> {
    const frame = this.#frame;
    if (frame === null) return;
    const scale = { unitNs: this.#controls.settings.unitNs, topNs: topOf(frame.longestNs) };
    await saveRun(frame, scale, this.#tables, this.#controls.settings.leastOpacity, this.services);
  }

  dispose(): void {
    this.#disposed = true;
    cancelAnimationFrame(this.#ownFrame);
    this.#pointer.dispose();
    this.#canvases.dispose();
    this.#root.remove();
  }
}

/** How many of the selected calls are to be seen at a moment. */
function visibleCalls(moment: Moment, groups: readonly Selected[]): number {
  const placed = { xPx: 0, yPx: 0, strength: 0, running: false, function: 0 };
  let visible = 0;
  for (const group of groups) {
    eachSelected(group, (position) => {
      if (place(moment, group, position, placed)) visible++;
    });
  }
  return visible;
}
