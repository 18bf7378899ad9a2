// What the tab Messages shows and how: what is known of what is in sight, how rows are arranged, which arrows there are,
// where the keyboard is. Outlives the tab: whoever comes back finds it as it was.

import { computed, effect, signal } from "@preact/signals";
import { nothingUnlessGivenUp } from "../../asks";
import { same, unchanged } from "../../same";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { RankRanges, Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { inside, wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { nodeOrder } from "../../words/hosts";
import type { OrderKind } from "../where/matrix";
import { remembered } from "../../state/arrangement";
import { alike, type Fold, folded, single } from "./fold";
import { answers, type KnownTraffic, scopeOf, type InSight, type TrafficScope, WINDOWS_MOST } from "./questions";
import { arranged, moved, type RowCamera } from "./rows";

export type ArrowMode = "all" | "selection" | "none";
export type Bars = "causes" | "functions";

/** Where the keyboard is: a row, and a call in it; -1 while none was gone to. */
export interface Cursor { rank: number; call: number }

/** Of a run that goes on, at first this much is in sight. */
const LATELY_NS = 5e9;
/** At a moving edge it is asked again so often, and more seldom where answers take long. */
const AGAIN = { everyMs: 1000, ofAnswer: 4, lookMs: 250 };

export class MessagesState {
  readonly figures = signal<NewestFigures<KnownTraffic>>({ known: null, isAsking: false, why: "" });
  readonly arrows = signal<ArrowMode>("all");
  readonly isLatency = signal(false);
  readonly isTable = signal(false);
  readonly sort = signal<OrderKind>("rank");
  /** What columns show where calls are too dense. */
  readonly bars = remembered<Bars>("messages.bars", "causes", ["causes", "functions"]);
  readonly fold = remembered<Fold>("messages.fold", "none", ["none", "node", "region", "similar"]);
  /** The time that is shown while the rows are frozen in place; null: they follow the zoom of all views. */
  readonly frozen = signal<Span | null>(null);
  /** Groups whose ranks have a row each. */
  readonly open = signal<ReadonlySet<number>>(new Set());
  /** By rank the number of those that behave alike, as it was when somebody asked. */
  readonly alike = signal<ReadonlyMap<number, number> | null>(null);
  readonly cursor = signal<Cursor | null>(null);
  /** Null: all rows in sight. */
  camera: RowCamera | null = null;
  private readonly byHand = signal<readonly number[] | null>(null);
  private readonly seen = signal<InSight | null>(null);
  private readonly questions: Newest<TrafficScope, KnownTraffic>;
  private isFirst = true;
  private askedMs = -Infinity;

  /** What rows depend on of the run, which itself changes several times a second. */
  private readonly shape = computed(() => {
    const { job, ranks, nodes } = this.store.figures.value;
    return `${job.run}/${Math.max(job.ranks, ranks.length)}/${ranks.count}/${nodes.size}`;
  });
  private readonly regions = computed(() => this.store.figures.value.regions);
  private chosen: RankRanges | null = null;
  readonly only = computed(() => (this.chosen = unchanged(this.chosen, this.store.perspective.value.ranks)));
  readonly isByHand = computed(() => this.byHand.value !== null);
  readonly regionOf = computed(() => this.regionsByRank());
  readonly order = computed(() => this.arrange(this.only.value));
  readonly rows = computed(() => {
    const order = this.order.value;
    const keyOf = this.keyOf(this.fold.value);
    return keyOf ? folded(order, keyOf, this.open.value) : single(order);
  });

  constructor(private readonly store: Store) {
    this.questions = new Newest((scope) => this.ask(scope), (figures) => {
      const before = this.figures.peek().known;
      if (before && figures.known && before !== figures.known) this.keepCursor(before, figures.known);
      this.figures.value = figures;
    });
  }

  /** Asks for what is in sight until the returned function is called. */
  watch(): () => void {
    const isOpen = computed(() => this.store.link.value.phase === "open");
    const stops = [
      effect(() => this.showLately()),
      effect(() => this.findAlike()),
      effect(() => this.questions.want(this.wanted(this.seen.value), isOpen.value)),
    ];
    const timer = setInterval(() => this.askAgain(), AGAIN.lookMs);
    return () => {
      clearInterval(timer);
      for (const stop of stops) stop();
      this.seen.value = null;
      this.questions.stop();
    };
  }

  /** What the view shows now. */
  see(seen: InSight): void {
    this.seen.value = seen;
  }

  again(): void {
    this.questions.again();
  }

  /** The time that the rows show. */
  get span(): Span {
    return this.frozen.value ?? this.store.zoom.value ?? wholeRun(edgeNs(this.store.figures.value));
  }

  /** Another time for the rows alone while they are frozen, else for all views; null: the whole run. */
  zoomTo(span: Span | null): void {
    if (this.frozen.peek()) this.frozen.value = span ?? wholeRun(edgeNs(this.store.run.peek()));
    else this.store.zoom.value = span;
  }

  /** Holds the rows where they are, or lets them follow again. */
  hold(isHeld: boolean): void {
    this.frozen.value = isHeld ? this.store.zoom.peek() ?? wholeRun(edgeNs(this.store.run.peek())) : null;
  }

  /** Rows are those of single ranks, or of groups, all closed. */
  foldBy(fold: Fold): void {
    this.open.value = new Set();
    this.alike.value = null;
    this.camera = null;
    this.fold.value = fold;
  }

  /** Opens the group of a rank, or closes it. */
  toggle(rank: number): void {
    const key = this.keyOf(this.fold.peek())?.(rank);
    if (key === undefined) return;
    const next = new Set(this.open.peek());
    if (!next.delete(key)) next.add(key);
    this.open.value = next;
  }

  isOpen(rank: number): boolean {
    const key = this.keyOf(this.fold.peek())?.(rank);
    return key !== undefined && this.open.peek().has(key);
  }

  /** Which ranks belong together; null where each has a row of its own. */
  private keyOf(fold: Fold): ((rank: number) => number) | null {
    if (fold === "none") return null;
    const { ranks } = this.store.figures.peek();
    if (fold === "node") return (rank) => ranks.node[rank] ?? 0;
    if (fold === "region") {
      const regionOf = this.regionOf.value;
      return (rank) => regionOf[rank] ?? -1;
    }
    const found = this.alike.value;
    return found ? (rank) => found.get(rank) ?? -1 : null;
  }

  /** Ranks that behave alike are found once: rows do not jump while the run goes on. */
  private findAlike(): void {
    const { scope, shares } = this.figures.value.known ?? {};
    if (this.fold.value !== "similar" || this.alike.peek() || !scope || !shares || shares.ranksPerRow > 1) return;
    // Sums of the ranks in sight alone say nothing of the others.
    if (scope.ranks !== null && !same(scope.ranks, this.only.peek())) return;
    const found = alike(this.order.peek(), shares);
    if (found.size > 0) this.alike.value = found;
  }

  /** Rows are sorted anew: what was put somewhere by hand is put back. */
  sortBy(kind: OrderKind): void {
    this.sort.value = kind;
    this.byHand.value = null;
  }

  /** A row is taken to the place of another; those of several ranks stay. */
  move(rank: number, to: number): void {
    if (rank !== to && this.fold.peek() === "none") this.byHand.value = moved(this.arrange(null), rank, to);
  }

  /** On the same call, which has another place among those that are known now. */
  private keepCursor({ calls }: KnownTraffic, now: KnownTraffic): void {
    const cursor = this.cursor.peek();
    if (!cursor || cursor.call < 0) return;
    const [start, thread] = [calls.startNs[cursor.call], calls.thread[cursor.call]];
    const call = now.calls.startNs.findIndex((ns, at) => ns === start && now.calls.rank[at] === cursor.rank && now.calls.thread[at] === thread);
    this.cursor.value = { ...cursor, call };
  }

  private arrange(only: RankRanges | null): Uint32Array {
    void this.shape.value;
    const run = this.store.figures.peek();
    const regionOf = this.regionOf.value;
    const nodes = nodeOrder(run);
    // Ranks without a region come last.
    const keys = {
      node: (rank: number): number => nodes.get(run.ranks.node[rank] ?? 0) ?? nodes.size,
      region: (rank: number): number => regionOf[rank] ?? Infinity,
    };
    return arranged(Math.max(run.job.ranks, run.ranks.length), { kind: this.sort.value, byHand: this.byHand.value, only }, keys);
  }

  /** By rank the number of its region. */
  private regionsByRank(): readonly number[] {
    const found: number[] = [];
    for (const { id, ranks } of this.regions.value?.regions ?? []) {
      for (const [first, last] of ranks) for (let rank = first; rank <= last; rank++) found[rank] = id;
    }
    return found;
  }

  /** A live run is first shown as it was lately: the timeline below goes along. */
  private showLately(): void {
    const run = this.store.figures.value;
    const edge = edgeNs(run);
    if (!this.isFirst || edge === 0) return;
    this.isFirst = false;
    if (over(run) || this.store.zoom.peek() || this.store.perspective.peek().clock.mode !== "live") return;
    this.store.zoom.value = inside([edge - 0.8 * LATELY_NS, edge + 0.2 * LATELY_NS], Math.max(edge, edge + 0.2 * LATELY_NS));
  }

  private wanted(seen: InSight | null): TrafficScope | null {
    if (!seen || seen.order.length === 0) return null;
    const scope = scopeOf(seen);
    const { known } = this.figures.peek();
    const run = this.store.run.peek();
    return known && answers(known, scope, over(run) ? edgeNs(run) : null) ? known.scope : scope;
  }

  private async ask(scope: TrafficScope): Promise<KnownTraffic> {
    const [edge, sinceMs] = [edgeNs(this.store.run.peek()), performance.now()];
    this.askedMs = sinceMs;
    const [from_ns, to_ns] = [Math.floor(scope.rangeNs[0]), Math.ceil(scope.rangeNs[1])];
    const [calls, messages, shares] = await Promise.allSettled([
      this.store.questions.calls(scope.rangeNs, scope.ranks, scope.mostCalls),
      scope.mostMessages > 0 ? this.store.questions.messages(scope.rangeNs, scope.ranks, scope.mostMessages) : null,
      this.store.questions.answer("shares", { from_ns, to_ns, ranks: scope.ranks, ranks_per_row: scope.ranksPerRow, bins: WINDOWS_MOST }),
    ]);
    if (calls.status === "rejected") throw calls.reason;
    for (const part of [messages, shares]) if (part.status === "rejected") nothingUnlessGivenUp(part.reason);
    return {
      scope, calls: calls.value, messages: messages.status === "fulfilled" ? messages.value : null,
      shares: shares.status === "fulfilled" ? shares.value : null,
      messagesWhy: messages.status === "rejected" ? (messages.reason as Error).message : "", edgeNs: edge, tookMs: performance.now() - sinceMs,
    };
  }

  /** At the edge of a run that goes on there is more by now. */
  private askAgain(): void {
    const { known, isAsking, why } = this.figures.peek();
    const run = this.store.run.peek();
    if (!known || isAsking || why || !this.seen.peek()) return;
    const edge = edgeNs(run);
    const isOld = known.edgeNs < Math.min(edge, known.scope.rangeNs[1]);
    if (isOld && performance.now() - this.askedMs > Math.max(AGAIN.everyMs, AGAIN.ofAnswer * known.tookMs)) this.questions.again();
  }
}

export const messagesOf = keptOf((store: Store) => new MessagesState(store));
