// What the tab Messages shows and how: what is known of what is in sight, how rows are arranged, which arrows there are,
// where the keyboard is. Outlives the tab, so that whoever comes back finds it as it was.

import { computed, effect, signal } from "@preact/signals";
import { unchanged } from "../../same";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { RankRanges } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import { inside } from "../../state/span";
import type { Store } from "../../state/store";
import { nodeOrder } from "../../words/hosts";
import type { OrderKind } from "../where/matrix";
import { answers, type KnownTraffic, scopeOf, type Seen, type TrafficScope } from "./questions";
import { arranged, moved, type RowCamera } from "./rows";

export type ArrowMode = "all" | "selection" | "none";

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
  readonly cursor = signal<Cursor | null>(null);
  /** Null: all rows in sight. */
  camera: RowCamera | null = null;
  private readonly byHand = signal<readonly number[] | null>(null);
  private readonly seen = signal<Seen | null>(null);
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
  see(seen: Seen): void {
    this.seen.value = seen;
  }

  again(): void {
    this.questions.again();
  }

  /** Rows are sorted anew: what was put somewhere by hand is put back. */
  sortBy(kind: OrderKind): void {
    this.sort.value = kind;
    this.byHand.value = null;
  }

  /** A row is taken to the place of another. */
  move(rank: number, to: number): void {
    if (rank !== to) this.byHand.value = moved(this.arrange(null), rank, to);
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

  private wanted(seen: Seen | null): TrafficScope | null {
    if (!seen || seen.order.length === 0) return null;
    const scope = scopeOf(seen);
    const { known } = this.figures.peek();
    const run = this.store.run.peek();
    return known && answers(known, scope, over(run) ? edgeNs(run) : null) ? known.scope : scope;
  }

  private async ask(scope: TrafficScope): Promise<KnownTraffic> {
    const [edge, sinceMs] = [edgeNs(this.store.run.peek()), performance.now()];
    this.askedMs = sinceMs;
    const [calls, messages] = await Promise.allSettled([
      this.store.callsIn(scope.rangeNs, scope.ranks, scope.mostCalls),
      scope.mostMessages > 0 ? this.store.messagesIn(scope.rangeNs, scope.ranks, scope.mostMessages) : null,
    ]);
    if (calls.status === "rejected") throw calls.reason;
    return {
      scope, calls: calls.value, messages: messages.status === "fulfilled" ? messages.value : null,
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
