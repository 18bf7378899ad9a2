// What the 3D view shows and how: the layout, what is mapped to what, the filter, the camera. Part of the address, and kept
// while another tab is shown. Asks the server for points and figures as long as somebody looks.

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Sites } from "../../feed/call-sites";
import type { Landscape, Layouts, Phase, RankLayout, RankMetrics, Suggestion } from "../../feed/ranks";
import type { Pairs } from "../../feed/regions";
import type { Selected } from "../../feed/selected";
import { unchanged } from "../../same";
import { remembered, rememberedWord } from "../../state/arrangement";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { RankRanges, Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { storedText, storeText } from "../../state/storage";
import { momentOf } from "../../state/span";
import type { Store } from "../../state/store";
import { METRICS, metricOf } from "../../words/metrics";
import { type Camera, fromWord, toWord } from "./camera";
import { NONE, OWN } from "./choices";
import { nearestPlace, nodeMeans, placesOf } from "./statistics";
import type { Filter } from "./scale";
import { labelOf, type Restriction } from "./words";

/** A run that goes on is shown as it was lately, where figures have to be read from its messages. */
export const LATELY_NS = 30e9;
/** What goes on is asked about again after so long, or after some times what the last answer took. */
const AGAIN_MS = 2000;
const AGAIN_PARTS = 4;
const FILE_EVERY_MS = 1000;
/** How often the moment follows the clock, at most. */
const MOMENT_EVERY_MS = 250;
/** With the rest before any question, the result comes 300 ms after the last key. */
const DRAFT_REST_MS = 100;
const DRAFT_KEY = "mpiscope-layout-draft";
/** What the server takes. */
export const SOURCE_BYTES_MAX = 64 << 10;
const WHOLE_END_NS = Number.MAX_SAFE_INTEGER;

export const EVENT_NAMES = ["event0", "event1", "event2", "event3"] as const;
const IDS = METRICS.map(({ id }) => id);
/** Bundled layouts whose axes are the first three events. */
const FIGURE_LAYOUTS: ReadonlySet<string> = new Set(["metrics", "log-metrics"]);
const FIRST_EVENTS = ["mpi_time", "bytes_sent", "late_sender", "waiting"] as const;
export type FaceId = "layout" | "bars" | "histogram" | "scatter" | "landscape" | "matrix" | "table";
const FACE_IDS: readonly FaceId[] = ["layout", "bars", "histogram", "scatter", "landscape", "matrix", "table"];

/** Which stretch of the run figures are of. */
export type When = { kind: "range"; rangeNs: Span } | { kind: "moment"; rangeNs: Span } | { kind: "whole" } | { kind: "lately" };
export interface MetricsScope { when: When; metrics: readonly string[]; function: number | null; site: number | null; phase: number | null }
export interface KnownMetrics { scope: MetricsScope; answer: RankMetrics }
export interface LayoutScope { from: LayoutFrom; name: string; source: string | null; events: MetricsScope | null; placement: string; version: number }
export interface KnownLayout { scope: LayoutScope; answer: RankLayout }
export interface KnownLandscape { scope: { when: When }; answer: Landscape }
export interface KnownSuggestion { scope: { when: When }; answer: Suggestion }
export type LayoutFrom = "bundled" | "file" | "draft" | "recording" | "user";
/** Who sent to whom. */
export interface KnownPairs { scope: { when: When }; answer: Pairs }
/** The functions of some ranks. */
export interface KnownFunctions { scope: { when: When; ranks: RankRanges | null }; answer: Selected }

function nothing<Answered>(): NewestFigures<Answered> {
  return { known: null, isAsking: false, why: "" };
}

export class SpaceState {
  readonly face = remembered<FaceId>("space.face", "layout", FACE_IDS);
  readonly from = remembered<LayoutFrom>("space.from", "bundled", ["bundled", "file", "draft", "recording", "user"]);
  readonly layout = rememberedWord("space.layout", "sphere");
  readonly color = remembered("space.color", "mpi_time", [OWN, ...IDS]);
  readonly size = remembered("space.size", NONE, [NONE, ...IDS]);
  readonly height = remembered("space.height", NONE, [NONE, ...IDS]);
  readonly opacity = remembered("space.opacity", NONE, [NONE, ...IDS]);
  readonly events: readonly Signal<string>[] = EVENT_NAMES.map((name, at) => remembered(`space.${name}`, FIRST_EVENTS[at] ?? IDS[0] ?? "", IDS));
  /** Bars, histogram and scatter plot: the other axis. */
  readonly other = remembered("space.other", "bytes_sent", IDS);
  readonly ends = remembered("space.ends", "most", ["most", "all"]);
  readonly scale = remembered("space.scale", "linear", ["linear", "log"]);
  /** "all" or the number of a function. */
  readonly function = rememberedWord("space.function", "all", (word) => word === "all" || /^\d{1,5}$/.test(word));
  readonly bins = rememberedWord("space.bins", "24", (word) => /^\d{1,3}$/.test(word));
  readonly low = rememberedWord("space.low", "0", isPercent);
  readonly high = rememberedWord("space.high", "100", isPercent);
  readonly inverse = remembered("space.inverse", "no", ["no", "yes"]);
  /** Figures of the selected range or of the run, or of the moment of the clock. */
  readonly time = remembered("space.time", "range", ["range", "moment"]);
  readonly average = remembered("space.average", "rank", ["rank", "node"]);
  readonly links = remembered("space.links", "no", ["no", "yes"]);
  /** Coordinates at which the layout is cut; "off" where it is not. */
  readonly slices: readonly Signal<string>[] = ["x", "y", "z"].map((axis) => rememberedWord(`space.slice-${axis}`, "off", (word) => word === "off" || (word !== "" && Number.isFinite(Number(word)))));
  /** "all" or the number of a call site. */
  readonly site = rememberedWord("space.site", "all", (word) => word === "all" || /^\d{1,9}$/.test(word));
  /** "all" or the number of a phase. */
  readonly phase = rememberedWord("space.phase", "all", (word) => word === "all" || /^\d{1,9}$/.test(word));
  /** Of the axes of the scatter plot. */
  readonly acrossScale = remembered("space.across-scale", "linear", ["linear", "log"]);
  readonly upScale = remembered("space.up-scale", "linear", ["linear", "log"]);
  readonly dotColor = remembered("space.dot-color", NONE, [NONE, ...IDS]);
  readonly dotSize = remembered("space.dot-size", NONE, [NONE, ...IDS]);
  /** Landscape and matrix: from above or as a relief. */
  readonly relief = remembered("space.relief", "flat", ["flat", "relief"]);
  readonly matrixOf = remembered("space.matrix", "bytes", ["bytes", "messages", "latency"]);
  readonly view = rememberedWord("space.camera", "fit", (word) => word === "fit" || fromWord(word) !== null);
  /** Advances with every move of the camera. */
  readonly looks = signal(0);
  readonly isEditing = remembered("space.editor", "closed", ["closed", "open"]);
  readonly isLasso = signal(false);
  readonly pointed = signal<number | null>(null);
  /** The text being written; null before anything was. */
  readonly draft = signal<string | null>(storedText(DRAFT_KEY));
  /** The text that is asked about: what was written a moment ago. */
  readonly settledDraft = signal<string | null>(this.draft.peek());

  readonly layouts = signal<Layouts | null>(null);
  readonly metrics = signal<NewestFigures<KnownMetrics>>(nothing());
  readonly points = signal<NewestFigures<KnownLayout>>(nothing());
  readonly landscape = signal<NewestFigures<KnownLandscape>>(nothing());
  readonly suggestion = signal<NewestFigures<KnownSuggestion>>(nothing());
  readonly pairs = signal<NewestFigures<KnownPairs>>(nothing());
  readonly functions = signal<NewestFigures<KnownFunctions>>(nothing());
  /** The newest answer with points: it stays while the text is wrong. */
  readonly shown = signal<KnownLayout | null>(null);
  readonly filter: ReadonlySignal<Filter> = computed(() => ({ from: Number(this.low.value), to: Number(this.high.value), isInverse: this.inverse.value === "yes" }));

  /** Where the shown layout has points, by axis. */
  readonly places: ReadonlySignal<readonly (readonly number[])[]> = computed(() => {
    const layout = this.shown.value?.answer;
    return layout ? [layout.x, layout.y, layout.z].map(placesOf) : [];
  });
  /** Where the shown layout is cut, by axis; null where it is not. */
  readonly cuts: ReadonlySignal<readonly (number | null)[]> = computed(() => this.slices.map(({ value }, axis) => (value === "off" ? null : nearestPlace(this.places.value[axis] ?? [], Number(value)))));

  /** Whether a chosen metric can be of one function or call site. */
  readonly isOfFunction: ReadonlySignal<boolean> = computed(() => this.chosen().some((id) => metricOf(id)?.isOfFunction));
  /** What the axes of the shown layout are: figures where its places are those, else letters. */
  readonly axes: ReadonlySignal<readonly string[]> = computed(() => {
    const scope = this.shown.value?.scope;
    if (scope?.from !== "bundled" || !FIGURE_LAYOUTS.has(scope.name.toLowerCase())) return ["x", "y", "z"];
    return this.events.slice(0, 3).map(({ value }) => labelOf(value, this.of.value));
  });
  /** The phases that the program names; none where no chosen metric can be of one. */
  readonly phases: ReadonlySignal<readonly Phase[]> = computed(() => (this.chosen().some((id) => metricOf(id)?.isOfPhase) ? (this.metrics.value.known?.answer.phases ?? []) : []));
  /** Call sites by number, in words. */
  readonly sites = signal<Sites>(new Map());
  /** What the chosen figures are of, in words. */
  readonly of: ReadonlySignal<Restriction> = computed(() => {
    const [of, site, phase] = [this.function.value, this.site.value, this.phase.value];
    return {
      function: of === "all" ? null : (this.store.figures.value.functions.get(Number(of))?.name ?? `function ${of}`),
      site: site === "all" ? null : (this.sites.value.get(Number(site)) ?? `call site ${site}`),
      phase: phase === "all" ? null : (this.metrics.value.known?.answer.phases.find(({ id }) => String(id) === phase)?.name ?? phase),
    };
  });

  /** What is asked about where figures are of the clock's moment. The clock moves with every frame, and this with few. */
  private readonly moment = signal<Span>([0, 0]);
  private readonly isOver = computed(() => over(this.store.figures.value));
  private readonly metricQuestions: Newest<MetricsScope, KnownMetrics>;
  private readonly layoutQuestions: Newest<LayoutScope, KnownLayout>;
  private readonly landscapeQuestions: Newest<{ when: When }, KnownLandscape>;
  private readonly suggestionQuestions: Newest<{ when: When }, KnownSuggestion>;
  private readonly pairsQuestions: Newest<{ when: When }, KnownPairs>;
  private readonly functionQuestions: Newest<{ when: When; ranks: RankRanges | null }, KnownFunctions>;

  constructor(private readonly store: Store) {
    this.suggestionQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("suggestion", this.span(scope.when)) }), (figures) => (this.suggestion.value = figures));
    this.metricQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("rank_metrics", this.fields(scope)) }), (figures) => (this.metrics.value = figures));
    this.layoutQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("rank_layout", this.layoutFields(scope)) }), (figures) => {
      this.points.value = figures;
      if (figures.known && figures.known.answer.length > 0) this.shown.value = figures.known;
    });
    this.pairsQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("pairs", this.span(scope.when)) }), (figures) => (this.pairs.value = figures));
    this.functionQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("selected", { ...this.span(scope.when), ranks: scope.ranks, hidden: [] }) }), (figures) => (this.functions.value = figures));
    this.landscapeQuestions = new Newest(async (scope) => ({ scope, answer: await store.questions.answer("landscape", this.span(scope.when)) }), (figures) => (this.landscape.value = figures));
  }

  /** With all its digits; the address has fewer. */
  private exact: Camera | null = null;

  get camera(): Camera | null {
    const word = this.view.peek();
    return this.exact && toWord(this.exact) === word ? this.exact : fromWord(word);
  }

  look(camera: Camera | null): void {
    this.exact = camera;
    this.view.value = camera ? toWord(camera) : "fit";
    this.looks.value++;
  }

  choose(from: LayoutFrom, name: string): void {
    this.from.value = from;
    this.layout.value = name;
    this.look(null);
  }

  /** Shows what is suggested. */
  follow({ layout, metric }: Suggestion): void {
    this.choose("bundled", layout);
    this.color.value = metric;
    [this.low.value, this.high.value, this.inverse.value] = ["0", "100", "no"];
    // Those that stand out are the end of the scale.
    this.ends.value = "all";
  }

  write(text: string): void {
    this.draft.value = text;
    storeText(DRAFT_KEY, text);
  }

  /** The value of a mapped metric of each rank; null where nothing is mapped or it is not known. */
  values(id: string): Float64Array | null {
    const known = this.metrics.value.known?.answer;
    const column = known?.metrics.get(id);
    if (!known || !column || column.values.length === 0) return null;
    if (this.average.value === "rank") return column.values;
    // The same column for the same answer: what is drawn changes with it.
    const before = this.means.get(column.values);
    if (before) return before;
    const means = nodeMeans(column.values, known.host);
    this.means.set(column.values, means);
    return means;
  }

  private readonly means = new WeakMap<Float64Array, Float64Array>();

  /** Keeps the text that is written, and shows it from there. */
  async save(keeper: "recording" | "user"): Promise<void> {
    await this.store.questions.saveLayout(keeper, this.draft.peek() ?? "", "");
    this.layoutsAgainMs = 0;
    await this.askLayouts();
  }

  async forget(keeper: "recording" | "user", name: string): Promise<void> {
    await this.store.questions.saveLayout(keeper, "", name);
    if (this.from.peek() === keeper) this.choose("bundled", "sphere");
    this.layoutsAgainMs = 0;
    await this.askLayouts();
  }

  missing(id: string): string {
    return this.metrics.value.known?.answer.metrics.get(id)?.missing ?? "";
  }

  /** The figures that are drawn. */
  private wanted(): string[] {
    const mapped = this.face.value === "layout" ? [this.color, this.size, this.height, this.opacity] : this.face.value === "scatter" ? [this.color, this.other, this.dotColor, this.dotSize] : [this.color];
    return [...new Set(mapped.map(({ value }) => value))].filter((id) => metricOf(id)).sort();
  }

  private chosen(): string[] {
    return [this.color, this.size, this.height, this.opacity, this.other, this.dotColor, this.dotSize].map(({ value }) => value);
  }

  private functionOf(metrics: readonly string[]): number | null {
    return this.function.value !== "all" && metrics.some((id) => metricOf(id)?.isOfFunction) ? Number(this.function.value) : null;
  }

  private siteOf(metrics: readonly string[]): number | null {
    return this.site.value !== "all" && metrics.some((id) => metricOf(id)?.isOfFunction) ? Number(this.site.value) : null;
  }

  private phaseOf(metrics: readonly string[]): number | null {
    return this.phase.value !== "all" && metrics.some((id) => metricOf(id)?.isOfPhase) ? Number(this.phase.value) : null;
  }

  private when(isRead: boolean): When {
    const { rangeNs } = this.store.perspective.value;
    if (this.time.value === "moment") return { kind: "moment", rangeNs: this.moment.value };
    if (rangeNs) return { kind: "range", rangeNs };
    return isRead && !this.isOver.value ? { kind: "lately" } : { kind: "whole" };
  }

  private scope(metrics: readonly string[]): MetricsScope {
    const [of, site, phase] = [this.functionOf(metrics), this.siteOf(metrics), this.phaseOf(metrics)];
    return { when: this.when([of, site, phase].some((each) => each !== null) || metrics.some((id) => metricOf(id)?.isRead)), metrics, function: of, site, phase };
  }

  private span(when: When): { from_ns: number; to_ns: number } {
    if (when.kind === "range" || when.kind === "moment") return { from_ns: Math.floor(when.rangeNs[0]), to_ns: Math.ceil(when.rangeNs[1]) };
    const edge = edgeNs(this.store.run.peek());
    return when.kind === "whole" ? { from_ns: 0, to_ns: WHOLE_END_NS } : { from_ns: Math.floor(Math.max(0, edge - LATELY_NS)), to_ns: Math.ceil(edge + 1) };
  }

  private fields({ when, metrics, function: of, site, phase }: MetricsScope): Record<string, unknown> {
    return { ...this.span(when), metrics, function: of, site, phase };
  }

  private layoutFields({ from, name, source, events }: LayoutScope): Record<string, unknown> {
    const span = events ? this.fields(events) : { ...this.span({ kind: "whole" }), metrics: [], function: null, site: null, phase: null };
    return { ...span, layout: name, source, is_file: from === "file" };
  }

  private layoutScope(): LayoutScope | null {
    const from = this.from.value;
    const kept = from === "recording" || from === "user" ? this.layouts.value?.items.find((item) => item.keeper === from && item.name.toLowerCase() === this.layout.value.toLowerCase()) : null;
    // The list of what is kept is still on its way, or it was forgotten.
    if (kept === undefined) return null;
    const source = from === "draft" ? (this.settledDraft.value ?? "") : (kept?.source ?? null);
    if (source !== null && new TextEncoder().encode(source).length > SOURCE_BYTES_MAX) return null;
    const run = this.store.figures.value;
    // Points move when ranks come or are placed elsewhere, and with their events.
    const placement = `${run.job.ranks} ${run.ranks.count} ${run.job.nodes}`;
    const events = this.events.map(({ value }) => value);
    const asked = this.shown.value?.answer.events ?? [];
    const version = from === "file" ? (this.layouts.value?.version ?? 0) : 0;
    // What a layout asks for is known once it was drawn; until then it gets all.
    const isKnown = this.shown.value?.scope.name === this.layout.value && this.shown.value.scope.source === source;
    const hasEvents = from === "bundled" ? FIGURE_LAYOUTS.has(this.layout.value.toLowerCase()) : !isKnown || asked.includes(true);
    return { from, name: this.layout.value, source, events: hasEvents ? this.scope(events) : null, placement, version };
  }

  /** Asks for what is looked at until the returned function is called. */
  watch(): () => void {
    const { store } = this;
    const isBegun = computed(() => store.figures.value.ranks.count > 0);
    const isReady = computed(() => isBegun.value && store.link.value.phase === "open");
    const hasPoints = computed(() => this.shown.value !== null);
    const stops = [
      effect(() => {
        if (this.time.value === "moment") this.followClock();
      }),
      effect(() => {
        const isOpen = store.link.value.phase === "open";
        this.metricQuestions.want(isBegun.value ? this.scope(this.wanted()) : null, isOpen);
        this.layoutQuestions.want(isBegun.value && this.face.value === "layout" ? this.layoutScope() : null, isOpen);
        // It takes the server long, and points come first.
        this.suggestionQuestions.want(isBegun.value && this.face.value === "layout" && hasPoints.value ? { when: this.when(false) } : null, isOpen);
        // The server answers the newest question of a kind only: that of all views goes first.
        this.functionQuestions.want(isBegun.value && this.face.value === "table" && !store.selected.value.isAsking ? { when: this.when(true), ranks: tableRanks(store) } : null, isOpen);
        const hasLinks = this.face.value === "layout" && this.links.value === "yes";
        this.pairsQuestions.want(isBegun.value && (hasLinks || this.face.value === "matrix") ? { when: this.when(true) } : null, isOpen);
        this.landscapeQuestions.want(isBegun.value && this.face.value === "landscape" ? { when: this.when(true) } : null, isOpen);
      }),
      effect(() => {
        if (!isReady.value) return;
        void this.askLayouts();
        store.questions.sites().then((found) => (this.sites.value = found), () => undefined);
      }),
      effect(() => {
        const text = this.draft.value;
        const timer = setTimeout(() => (this.settledDraft.value = text), this.settledDraft.peek() === null ? 0 : DRAFT_REST_MS);
        return () => clearTimeout(timer);
      }),
    ];
    const timers = [setInterval(() => this.again(), AGAIN_MS), setInterval(() => {
      // A question that is on its way is answered first: the clock must not put it off for ever.
      if (this.time.peek() === "moment" && !this.isAsking()) this.followClock();
    }, MOMENT_EVERY_MS), setInterval(() => {
      if (this.layouts.peek()?.file) void this.askLayouts();
    }, FILE_EVERY_MS)];
    return () => {
      for (const stop of stops) stop();
      for (const timer of timers) clearInterval(timer);
      this.metricQuestions.stop();
      this.layoutQuestions.stop();
      this.landscapeQuestions.stop();
      this.suggestionQuestions.stop();
      this.pairsQuestions.stop();
      this.functionQuestions.stop();
    };
  }

  private followClock(): void {
    this.moment.value = unchanged(this.moment.peek(), momentOf(this.store.timeNs.peek(), edgeNs(this.store.run.peek())));
  }

  private isAsking(): boolean {
    return [this.metrics, this.points, this.landscape, this.suggestion, this.pairs, this.functions].some((figures) => figures.peek().isAsking);
  }

  private agained = 0;

  /** A run that goes on has newer figures. */
  private again(): void {
    if (this.isOver.peek() || this.store.perspective.peek().rangeNs) return;
    // Answers that take long are asked for less often.
    const restMs = Math.max(AGAIN_MS, AGAIN_PARTS * this.metricQuestions.tookMs);
    if (performance.now() - this.agained < restMs * 0.9) return;
    this.agained = performance.now();
    if (!this.metrics.peek().isAsking) this.metricQuestions.again();
    if (this.points.peek().known?.scope.events && !this.points.peek().isAsking) this.layoutQuestions.again();
    if (!this.landscape.peek().isAsking) this.landscapeQuestions.again();
    if (!this.pairs.peek().isAsking) this.pairsQuestions.again();
    if (!this.functions.peek().isAsking) this.functionQuestions.again();
    if (!this.suggestion.peek().isAsking) this.suggestionQuestions.again();
  }

  private isAskingLayouts = false;
  private layoutsAgainMs = 0;

  /** One question at a time, and the longer it takes the more rarely. */
  private async askLayouts(): Promise<void> {
    const beginMs = performance.now();
    if (this.isAskingLayouts || beginMs < this.layoutsAgainMs) return;
    this.isAskingLayouts = true;
    const found = await this.store.questions.answer("layouts").catch(() => null);
    this.isAskingLayouts = false;
    const endMs = performance.now();
    this.layoutsAgainMs = endMs + AGAIN_PARTS * (endMs - beginMs) - FILE_EVERY_MS;
    if (found && !sameLayouts(found, this.layouts.peek())) this.layouts.value = found;
  }
}

function sameLayouts(one: Layouts, other: Layouts | null): boolean {
  return other !== null && one.version === other.version && one.items.length === other.items.length && one.items.every((item, at) => item.length === other.items[at]?.length && item.isComplete === other.items[at].isComplete && item.source === other.items[at].source && item.name === other.items[at].name);
}

/** The ranks of the table: the one that was clicked, else those that all views show. */
export function tableRanks(store: Store): RankRanges | null {
  const rank = selectedRank(store);
  return rank === null ? store.perspective.value.ranks : [[rank, rank]];
}

export function selectedRank(store: Store): number | null {
  const selection = store.selection.value;
  return selection?.kind === "rank" ? selection.rank : selection?.kind === "call" ? selection.call.rank : null;
}

function isPercent(word: string): boolean {
  return /^\d{1,3}$/.test(word) && Number(word) <= 100;
}

export const spaceOf = keptOf((store: Store) => new SpaceState(store));
