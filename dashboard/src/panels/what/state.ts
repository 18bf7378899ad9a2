// What the tab Graph shows and how: the graph of what is looked at, one that is kept beside it, what is folded. Outlives
// the tab: whoever comes back finds it as it was.

import { computed, effect, signal } from "@preact/signals";
import { type Dag, NODES_ASKED } from "../../feed/dag";
import { type DagFigures, type DagScope, type KnownDag, lastSecond } from "../../state/dag-questions";
import { keptOf } from "../../state/kept";
import { Newest } from "../../state/newest";
import type { Span } from "../../state/perspective";
import { edgeNs } from "../../state/run";
import { storedText, storeText } from "../../state/storage";
import type { Store } from "../../state/store";

const LEGEND_KEY = "mpiscope-glyph-legend";
const NOTHING: ReadonlySet<number> = new Set();

export class WhatState {
  readonly figures = signal<DagFigures>({ known: null, isAsking: false, why: "" });
  /** The graph that stays on the left while one compares. */
  readonly pinned = signal<KnownDag | null>(null);
  readonly isFlipped = signal(false);
  readonly isTable = signal(false);
  readonly isLegendOpen = signal(storedText(LEGEND_KEY) === "open");
  /** The second that is shown while no range is selected; it stays still, to be looked at. */
  private readonly second = signal<Span | null>(null);
  private readonly folds = signal<ReadonlyMap<Dag, ReadonlySet<number>>>(new Map());
  private readonly questions: Newest<DagScope, KnownDag>;

  readonly scope = computed<DagScope | null>(() => {
    const { rangeNs, ranks } = this.store.perspective.value;
    const span = rangeNs ?? this.second.value;
    return span && { rangeNs: span, ranks, isSelected: rangeNs !== null };
  });

  constructor(private readonly store: Store) {
    const ask = async (scope: DagScope): Promise<KnownDag> => ({ dag: await store.questions.dag(scope.rangeNs, scope.ranks, NODES_ASKED[scope.isSelected ? "selected" : "unselected"]), scope });
    this.questions = new Newest(ask, (figures) => {
      this.figures.value = figures;
      this.forget();
    });
  }

  /** Asks for what is looked at until the returned function is called. */
  watch(): () => void {
    const isBegun = computed(() => edgeNs(this.store.figures.value) > 0);
    const stop = effect(() => {
      if (this.store.perspective.value.rangeNs) this.second.value = null;
      else if (isBegun.value && !this.second.peek()) this.newest();
      this.questions.want(this.scope.value, this.store.link.value.phase === "open");
    });
    return () => {
      stop();
      this.questions.stop();
    };
  }

  /** The last second before the cursor. */
  newest(): void {
    // A live clock runs a little ahead of what is complete.
    const edge = edgeNs(this.store.run.peek());
    this.second.value = lastSecond(Math.min(this.store.timeNs.peek() || edge, edge));
  }

  again(): void {
    this.questions.again();
  }

  folded(dag: Dag): ReadonlySet<number> {
    return this.folds.value.get(dag) ?? NOTHING;
  }

  fold(dag: Dag, node: number): void {
    const next = new Set(this.folds.peek().get(dag));
    if (!next.delete(node)) next.add(node);
    this.folds.value = new Map(this.folds.peek()).set(dag, next);
  }

  unfold(dag: Dag): void {
    this.folds.value = new Map(this.folds.peek()).set(dag, NOTHING);
  }

  compare(): void {
    this.pinned.value = this.pinned.peek() ? null : this.figures.peek().known;
    this.forget();
  }

  explain(isOpen: boolean): void {
    this.isLegendOpen.value = isOpen;
    storeText(LEGEND_KEY, isOpen ? "open" : "closed");
  }

  /** What is folded in graphs that are not shown any more. */
  private forget(): void {
    const shown = new Set([this.figures.peek().known?.dag, this.pinned.peek()?.dag]);
    this.folds.value = new Map([...this.folds.peek()].filter(([dag]) => shown.has(dag)));
  }
}

export const whatOf = keptOf((store: Store) => new WhatState(store));
