// The aggregated graph: groups of ranks by turns of the main loop, of the same range as the critical path; groups open
// into smaller ones.

import { nothingUnlessGivenUp } from "../../asks";
import { computed, effect, signal } from "@preact/signals";
import type { GroupGraph } from "../../feed/group-graph";
import type { Shares } from "../../feed/shares";
import { remembered } from "../../state/arrangement";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { RankRanges, Span } from "../../state/perspective";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { pathOf } from "../critical/state";

export interface GroupScope { rangeNs: Span; ranks: RankRanges | null; by: "node" | "region" | "rank" }
export interface KnownGroups { scope: GroupScope; graph: GroupGraph; shares: Shares | null }

const WINDOWS = 1024;
/** Ranks that are added up by the daemon, where groups are large and their ranks follow each other. */
const RANKS_PER_ROW_MOST = 256;

export class GroupsState {
  readonly figures = signal<NewestFigures<KnownGroups>>({ known: null, isAsking: false, why: "" });
  readonly by = remembered<"node" | "region">("what.by", "node", ["node", "region"]);
  /** The ranks of groups that were opened, outermost first. */
  readonly opened = signal<readonly RankRanges[]>([]);
  private readonly questions: Newest<GroupScope, KnownGroups>;
  /** The range that is shown while the graph is frozen in place; null: it follows the selection. */
  readonly frozen = signal<Span | null>(null);
  private readonly scope = computed((): GroupScope | null => {
    const frozen = this.frozen.value;
    const scope = frozen ? { rangeNs: frozen } : pathOf(this.store).scope.value;
    const opened = this.opened.value.at(-1);
    return scope && { rangeNs: scope.rangeNs, ranks: opened ?? this.store.perspective.value.ranks, by: opened ? "rank" : this.by.value };
  });

  constructor(private readonly store: Store) {
    this.questions = new Newest((scope) => this.ask(scope), (figures) => (this.figures.value = figures));
  }

  watch(): () => void {
    const scope = computed(() => JSON.stringify(this.scope.value));
    const stops = [
      pathOf(this.store).watch(),
      effect(() => this.questions.want(JSON.parse(scope.value) as GroupScope | null, this.store.link.value.phase === "open")),
    ];
    return () => {
      for (const stop of stops) stop();
      this.questions.stop();
    };
  }

  hold(isHeld: boolean): void {
    this.frozen.value = isHeld ? this.figures.peek().known?.scope.rangeNs ?? null : null;
  }

  open(ranks: Uint32Array): void {
    this.opened.value = [...this.opened.peek(), rangesOf(ranks)];
  }

  /** Back to the first N opened groups. */
  back(depth: number): void {
    this.opened.value = this.opened.peek().slice(0, depth);
  }

  private async ask(scope: GroupScope): Promise<KnownGroups> {
    const [from_ns, to_ns] = scope.rangeNs;
    const graph = await this.store.questions.answer("group_graph", { from_ns, to_ns, ranks: scope.ranks, by: scope.by });
    const ranks = scope.ranks;
    // Without sums of time the messages are still worth seeing.
    const shares = await this.store.questions.answer("shares", { from_ns, to_ns, ranks, ranks_per_row: ranksPerRow(graph), bins: WINDOWS }).catch(nothingUnlessGivenUp);
    return { scope, graph, shares };
  }
}

/** Groups whose ranks follow each other, from multiples of a power of two, can be added up by N. */
export function ranksPerRow({ groups }: GroupGraph): number {
  let step = RANKS_PER_ROW_MOST;
  for (const { ranks } of groups) {
    const [first, last] = [ranks[0] ?? 0, ranks[ranks.length - 1] ?? 0];
    if (last - first !== ranks.length - 1) return 1;
    while (step > 1 && (first % step !== 0 || ranks.length % step !== 0)) step /= 2;
  }
  return step;
}

export const groupsOf = keptOf((store: Store) => new GroupsState(store));
