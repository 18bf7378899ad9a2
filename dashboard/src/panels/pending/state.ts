// What the tab Pending shows and how: what is in flight at the moment of the clock, how ranks are grouped, what is open and
// pointed at. Asks as the clock moves, one question at a time. Outlives the tab.

import { computed, effect, signal } from "@preact/signals";
import { NONE } from "../../feed/calls";
import type { PendingMessages } from "../../feed/pending";
import { same } from "../../same";
import { remembered, rememberedWord } from "../../state/arrangement";
import { Asking, NOBODY, type Outcome } from "../../state/asking";
import { keptOf } from "../../state/kept";
import type { RankRanges } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import type { Grouping } from "../../words/pending";
import { CLOSED, isOpenWord, type Opened, openedOf, opening, openWord, ranksOf } from "./groups";

/** What the server is asked. */
export interface PendingScope { atNs: number; by: Grouping; open: readonly Opened[]; ranks: RankRanges | null }

export interface KnownPending { scope: PendingScope; pending: PendingMessages }

/** A place in the graph: a group or an edge of the newest answer. */
export type Pointed = { kind: "group"; at: number } | { kind: "edge"; at: number } | null;

/** Numbers that change faster cannot be read; slow answers are asked for more seldom. */
const EVERY_MS = 120;
const LEISURE = 2;
/** At the edge of a run that goes on more becomes known by itself. */
const BEHIND_MS = 400;

export class PendingState {
  readonly known = signal<KnownPending | null>(null);
  /** Why there is no answer to what is wanted, in words; else empty. */
  readonly why = signal("");
  readonly by = remembered<Grouping>("pending.by", "node", ["node", "region", "rank"]);
  readonly measure = remembered<"messages" | "bytes">("pending.measure", "messages", ["messages", "bytes"]);
  readonly pointed = signal<Pointed>(null);
  /** Where the keyboard is: a group. */
  readonly cursor = signal(-1);
  private readonly open = rememberedWord("pending.open", CLOSED, isOpenWord);
  readonly opened = computed(() => openedOf(this.open.value));
  private readonly asking: Asking<PendingScope, KnownPending>;
  private askedMs = -Infinity;
  private failed: PendingScope | null = null;
  private isWatched = false;

  /** By rank the number of its region. */
  private readonly regionOf = computed(() => {
    const found: number[] = [];
    for (const { id, ranks } of this.store.figures.value.regions?.regions ?? []) {
      for (const [first, last] of ranks) for (let rank = first; rank <= last; rank++) found[rank] = id;
    }
    return found;
  });

  constructor(private readonly store: Store) {
    this.asking = new Asking(() => this.wanted(), (scope) => this.ask(scope), (outcome, scope) => this.take(outcome, scope));
  }

  /** Asks for what the clock is at until the returned function is called. */
  watch(): () => void {
    this.isWatched = true;
    const isOpen = computed(() => this.store.link.value.phase === "open");
    const stop = effect(() => {
      // What is read here is what a new question is worth.
      void [this.store.timeNs.value, this.by.value, this.opened.value, this.store.perspective.value.ranks, this.store.figures.value];
      if (isOpen.value) this.wake();
      else if (this.known.peek() === null) this.why.value = NOBODY;
    });
    return () => {
      stop();
      this.isWatched = false;
      this.asking.drop();
    };
  }

  again(): void {
    this.failed = null;
    this.wake();
  }

  groupBy(by: Grouping): void {
    this.by.value = by;
    this.open.value = CLOSED;
    this.cursor.value = -1;
  }

  /** Shows what a group is made of; of a rank nothing. */
  openGroup(at: number): void {
    const { groups } = this.known.peek()?.pending ?? {};
    const ranks = groups?.ranks[at] ?? 0;
    if (!groups || ranks <= 1) return;
    this.setOpen(opening(this.opened.peek(), [groups.place[at] ?? 0, ranks]));
  }

  /** Keeps this number of groups open, the outer ones. */
  closeTo(levels: number): void {
    this.setOpen(this.opened.peek().slice(0, levels));
  }

  private setOpen(opened: readonly Opened[]): void {
    this.open.value = openWord(opened);
    this.cursor.value = -1;
    this.pointed.value = null;
  }

  /** The ranks of some groups of the newest answer; null where they cannot be selected. */
  ranksOf(which: readonly number[]): RankRanges | null {
    const known = this.known.peek();
    if (!known) return null;
    const { node, length } = this.store.run.peek().ranks;
    const regionOf = this.regionOf.peek();
    const keys: Record<Grouping, (rank: number) => number> = {
      node: (rank) => (rank < length ? node[rank] ?? NONE : NONE), region: (rank) => regionOf[rank] ?? NONE, rank: () => 0,
    };
    return ranksOf(known.pending.groups, which, keys[known.scope.by]);
  }

  /** Selects the ranks of groups for all views; the same once more selects all again. */
  choose(which: readonly number[]): void {
    const ranks = this.ranksOf(which);
    if (!ranks || ranks.length === 0) return;
    this.store.select({ ranks: same(ranks, this.store.perspective.peek().ranks) ? null : ranks });
  }

  private wanted(): PendingScope | null {
    if (!this.isWatched || this.store.link.peek().phase !== "open") return null;
    const edge = edgeNs(this.store.run.peek());
    // A live clock runs a little ahead of what is known.
    const atNs = Math.max(0, Math.floor(Math.min(this.store.timeNs.peek(), edge)));
    return { atNs, by: this.by.peek(), open: this.opened.peek(), ranks: this.store.perspective.peek().ranks };
  }

  private async ask(scope: PendingScope): Promise<KnownPending> {
    this.askedMs = performance.now();
    const { atNs, by, open, ranks } = scope;
    return { scope, pending: await this.store.questions.answer("pending", { time_ns: atNs, by, open, ranks }) };
  }

  private wake(): void {
    const wanted = this.wanted();
    if (!wanted || this.asking.isAway || this.asking.isWaiting || same(wanted, this.failed)) return;
    const known = this.known.peek();
    const isKnown = known !== null && same(known.scope, wanted);
    const isBehind = isKnown && known.pending.atNs < wanted.atNs && !over(this.store.run.peek());
    if (isKnown && !isBehind) return;
    const everyMs = Math.max(isBehind ? BEHIND_MS : EVERY_MS, LEISURE * this.asking.tookMs);
    this.asking.askIn(Math.max(0, this.askedMs + everyMs - performance.now()));
  }

  private take(outcome: Outcome<KnownPending>, scope: PendingScope): void {
    if (outcome && "answer" in outcome) {
      const before = this.known.peek()?.pending.groups;
      this.known.value = outcome.answer;
      this.why.value = "";
      this.failed = null;
      // Edges are other ones by now; groups are the same as long as nothing is opened.
      const isSame = before !== undefined && same([...before.place], [...outcome.answer.pending.groups.place]);
      if (this.pointed.peek()?.kind === "edge" || !isSame) this.pointed.value = null;
      if (!isSame) this.cursor.value = -1;
    } else if (outcome) {
      this.why.value = outcome.why;
      this.failed = scope;
    }
    this.wake();
  }
}

export const pendingOf = keptOf((store: Store) => new PendingState(store));
