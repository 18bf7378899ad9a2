// The particle view: calls as particles that rise while they run, stand at their duration, fade, and become history.
import "./particles.css";
import type { Calls, InFlight } from "../../feed/calls";
import { colourOf } from "../../palette";
import { clock, count, duration } from "../../words";
import type { ParticleFrame, ParticleServices } from "../view";
import { Budget } from "./budget";
import { Canvases } from "./canvases";
import { Controls } from "./controls";
import { saveRun, saveView } from "./exports";
import { MARGIN_PX, plotSize, type GroundShape } from "./ground";
import { HistoryQuestions } from "./history-questions";
import { HistoryRaster } from "./history-raster";
import { Legend } from "./legend";
import { eachSelected, place, type Moment } from "./moment";
import { pack, PACK_CALLS, packInFlight, type Packed } from "./pack";
import { grainsOf, RIM_PX } from "./picture";
import { Pointer } from "./pointer";
import { everyOne, samplingWords, select, type Selected, type Selection, type Tile } from "./sampling";
import { topOf, type Scale } from "./scale";
import { aggregationWords, colourTable, filterWords, insideWords, particleSizePx, rankTable, tablesKey } from "./tables";

export type { CallText, ParticleFrame, ParticleServices } from "../view";
export type { FunctionFact } from "./legend";
export { describe } from "./describe";

/** Work on the history in one frame; the rest waits for the next one. */
const HISTORY_SLICE_MS = 6;
/** Packing of new calls in one frame; the rest waits for the next one. */
const PACK_SLICE_MS = 8;
/** Texts change so often at most. */
const WORDS_PAUSE_MS = 250;
/** With reduced motion, time moves in steps of this. */
const STILL_MS = 500;
/** The CPU draws at most so often while time runs, to leave the thread to the rest of the page. */
const CPU_PAUSE_MS = 30;
const FIRST_BUDGET = 40_000;
/** A picture that stands is drawn once: it may have more particles than one of many a second. */
const STILL_FACTOR = 4;
const MOST_STILL = 100_000;
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
  readonly #raster = new HistoryRaster();
  readonly #questions = new HistoryQuestions();
  #budget: Budget;
  #frame: ParticleFrame | null = null;
  #tiles: readonly Tile[] = [];
  #selection: Selection = { selected: [], drawn: 0, allFromNs: 0, share: 1 };
  #chosenMoving: boolean | null = null;
  #saidPoints = 0;
  #inFlight: { from: InFlight; packed: Packed } | null = null;
  #sizeCss = { widthPx: 0, heightPx: 0 };
  #tablesKey = "";
  #colours: Uint8Array = new Uint8Array(0);
  #ranksShown: Uint8Array | null = null;
  #historyKey = "";
  #drawn: { key: string; selection: unknown; inFlight: unknown; atMs: number; costMs: number } =
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
    this.#budget = new Budget(this.#canvases.limits, FIRST_BUDGET);
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
    if (this.#budget.limits !== this.#canvases.limits) {
      this.#budget = new Budget(this.#canvases.limits, FIRST_BUDGET);
      if (this.#frame !== null) this.#choose(this.#frame);
    }
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
    this.#tables(frame);
    const callsChanged = this.#take(frame, nowMs);
    const ground = this.#groundShape(frame);
    const historyWaits = this.#history(frame, ground, nowMs);
    const drawingWaits = this.#marks(frame, ground, callsChanged, nowMs);
    const wordsWait = this.#say(frame, ground, nowMs);
    if (callsChanged || historyWaits || drawingWaits || wordsWait) this.#wake();
  }

  #tables(frame: ParticleFrame): void {
    const key = tablesKey(frame);
    if (key === this.#tablesKey) return;
    this.#tablesKey = key;
    this.#colours = colourTable(frame);
    this.#ranksShown = rankTable(frame);
  }

  /** Packs what is new, drops what is gone, and chooses what to draw. True when the calls are others than before. */
  #take(frame: ParticleFrame, nowMs: number): boolean {
    let changed = frame.tiles.length !== this.#tiles.length;
    for (const [at, calls] of frame.tiles.entries()) if (this.#tiles[at]?.calls !== calls) changed = true;
    if (changed) {
      const before = new Map(this.#tiles.map((tile) => [tile.calls, tile]));
      this.#tiles = frame.tiles.map((calls) => before.get(calls) ?? { calls, packs: [] });
    }
    for (const { calls, packs } of this.#tiles) {
      while (packs.length * PACK_CALLS < calls.length && performance.now() - nowMs < PACK_SLICE_MS) {
        const first = packs.length * PACK_CALLS;
        packs.push(pack(calls, first, Math.min(calls.length, first + PACK_CALLS)));
        changed = true;
      }
    }
    if (changed || frame.moving !== this.#chosenMoving) this.#choose(frame);
    if (this.#inFlight?.from !== (frame.inFlight ?? undefined)) {
      changed = true;
      this.#inFlight = frame.inFlight === null ? null : { from: frame.inFlight, packed: packInFlight(frame.inFlight) };
    }
    return changed;
  }

  /** Calls in the tiles that are not to be seen at this moment cost little: they hardly count against the budget. */
  #choose(frame: ParticleFrame): void {
    const first = this.#tiles[0]?.calls.fromNs ?? 0;
    const last = this.#tiles.at(-1)?.calls.toNs ?? 0;
    const spread = Math.min(4, Math.max(1, (last - first) / frame.fadeNs));
    const own = this.#budget.points;
    const points = frame.moving ? own : Math.max(own, Math.min(MOST_STILL, own * STILL_FACTOR));
    this.#chosenMoving = frame.moving;
    if (points !== this.#saidPoints) {
      this.#saidPoints = points;
      this.services.budgetChanged(points);
    }
    this.#selection = select(this.#tiles, points * spread);
  }

  get #groups(): Selected[] {
    const inFlight = this.#inFlight?.packed;
    return inFlight === undefined ? this.#selection.selected : [...this.#selection.selected, everyOne(inFlight)];
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

  /** Asks for what is missing and works on what came; true while some of it is left to do. */
  #history(frame: ParticleFrame, ground: GroundShape, nowMs: number): boolean {
    const shape = { ...grainsOf(ground), scale: ground.scale, ranks: Math.max(1, frame.ranks) };
    const key = `${shape.columns} ${shape.rows} ${shape.scale.topNs} ${shape.scale.unitNs} ${this.#tablesKey}`;
    if (key !== this.#historyKey) {
      this.#historyKey = key;
      this.#raster.configure({ ...shape, colours: this.#colours, ranksShown: this.#ranksShown });
    }
    this.#raster.work(nowMs + HISTORY_SLICE_MS, () => performance.now());
    const toNs = Math.floor(frame.timeNs - frame.fadeNs);
    const question = this.#questions.next(toNs, frame.live, nowMs);
    if (question === null) return !this.#raster.complete || this.#questions.waits(toNs);
    this.services.history(question.fromNs, question.toNs).then(
      (history) => {
        this.#wake();
        if (!this.#questions.answered(question, history.toNs)) return;
        this.#trouble = "";
        if (question.anew) this.#raster.clear();
        if (this.#raster.add(history)) return;
        // Its ranks are put together more coarsely than those that are here: all once more, in the coarse way.
        this.#raster.clear();
        this.#questions.begin(this.#questions.fromNs);
      },
      (error: unknown) => {
        this.#questions.failed(question, performance.now());
        this.#trouble = `No history: ${error instanceof Error ? error.message : String(error)}`;
        this.#wake();
      },
    );
    return !this.#raster.complete;
  }

  /** Draws when the picture would be another one. True when it would but has to wait. */
  #marks(frame: ParticleFrame, ground: GroundShape, callsChanged: boolean, nowMs: number): boolean {
    const { leastOpacity, sizeFactor, unitNs } = this.#controls.settings;
    const { widthPx, heightPx } = this.#sizeCss;
    // What the user did is shown at once; time and new calls may wait.
    const userKey = `${widthPx} ${heightPx} ${devicePixelRatio} ${leastOpacity} ${sizeFactor} ${unitNs} ${this.#tablesKey} ${this.#clearedNs};`;
    const key = `${userKey} ${frame.timeNs} ${frame.fadeNs} ${ground.scale.topNs} ${this.#raster.version}`;
    const drawn = this.#drawn;
    const sinceMs = nowMs - drawn.atMs;
    const { busy, tookMs } = this.#canvases.finished(nowMs);
    if (tookMs !== null && frame.moving) this.#measured(frame, tookMs);
    if (key === drawn.key && drawn.selection === this.#selection && drawn.inFlight === this.#inFlight) return false;
    const user = !drawn.key.startsWith(userKey);
    const pauseMs = frame.reducedMotion ? STILL_MS : this.#canvases.onGpu ? 0 : Math.max(CPU_PAUSE_MS, 2 * drawn.costMs);
    if (busy || (!user && sinceMs < pauseMs)) return true;
    const groups = this.#groups;
    const costMs = this.#canvases.draw(
      ground, (across, up, ratio) => this.#momentOf(frame, ground.scale, across, up, ratio),
      groups, this.#raster, leastOpacity, nowMs,
    );
    this.#drawn = { key, selection: this.#selection, inFlight: this.#inFlight, atMs: nowMs, costMs: costMs ?? 0 };
    if (costMs !== null && frame.moving) this.#measured(frame, costMs);
    this.#follow(frame, ground, groups, callsChanged);
    return false;
  }

  #follow(frame: ParticleFrame, ground: GroundShape, groups: readonly Selected[], callsChanged: boolean): void {
    const sources = this.#tiles.flatMap(({ calls, packs }): (Calls | InFlight)[] => packs.map(() => calls));
    if (this.#inFlight !== null) sources.push(this.#inFlight.from);
    const factOf = (id: number): { name: string; family: string } =>
      frame.functions.get(id) ?? { name: `function ${id}`, family: "" };
    const scene = {
      moment: this.#cssMoment(frame, ground), groups, sources, left: MARGIN_PX.left, top: MARGIN_PX.top,
      nameOf: (id: number) => factOf(id).name,
      colourOf: (id: number) => colourOf(factOf(id).name, factOf(id).family)[frame.theme],
    };
    this.#pointer.follow(scene, callsChanged);
  }

  #measured(frame: ParticleFrame, costMs: number): void {
    if (this.#budget.measured(costMs, this.#selection.drawn)) {
      this.#choose(frame);
    } else if (this.#canvases.onGpu && this.#budget.hopeless) {
      this.#canvases.tooSlow();
    }
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
      colours: this.#colours, ranksShown: this.#ranksShown, ink: INK[frame.theme],
    };
  }

  /** Says what is seen. True when the words are older than the picture. */
  #say(frame: ParticleFrame, ground: GroundShape, nowMs: number): boolean {
    if (nowMs - this.#wordsAtMs < WORDS_PAUSE_MS) return this.#drawn.atMs > this.#wordsAtMs;
    this.#wordsAtMs = nowMs;
    const moment = this.#cssMoment(frame, ground);
    const visible = visibleCalls(moment, this.#selection.selected);
    const listed = frame.inFlight?.length ?? 0;
    const inFlight = this.#inFlight?.packed;
    const running = inFlight === undefined ? 0 : visibleCalls(moment, [everyOne(inFlight)]);
    const filtered = filterWords(frame);
    this.words.sampling = samplingWords(this.#selection, visible);
    const parts = [
      this.words.sampling,
      filtered === "" ? insideWords(frame.inFlight?.total ?? 0, listed, frame.live) : insideWords(running, running, true),
      filtered,
      aggregationWords(frame.ranks, plotSize(ground).widthPx, this.#raster.cells.ranksPerRow),
      this.#questions.fromNs > 0 ? `history since ${clock(this.#questions.fromNs, 1)}` : "",
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
    const cleared = this.#questions.fromNs > 0;
    this.#questions.begin(cleared ? 0 : Math.max(0, Math.floor(this.#frame.timeNs - this.#frame.fadeNs)));
    this.#raster.clear();
    this.#controls.historyCleared(this.#questions.fromNs > 0);
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
    const sampling = samplingWords(this.#selection, visibleCalls(moment, this.#selection.selected));
    const { leastOpacity } = this.#controls.settings;
    const image = this.#raster.image();
    const history = image && { ...image, density: image.density.slice() };
    const seen = { frame, ground, moment, groups: this.#groups, history, leastOpacity, sampling };
    await saveView(seen, this.services.runName());
  }

  async #saveRun(): Promise<void> {
    const frame = this.#frame;
    if (frame === null) return;
    const tables = { colours: this.#colours, ranksShown: this.#ranksShown };
    const scale = { unitNs: this.#controls.settings.unitNs, topNs: topOf(frame.longestNs) };
    await saveRun(frame, scale, tables, this.#controls.settings.leastOpacity, this.services);
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
