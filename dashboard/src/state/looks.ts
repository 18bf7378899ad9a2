// Undo and redo of what is looked at: range, ranks, functions, zoom, and what is selected. The clock is not part of it:
// time goes on.

import { batch, effect, signal } from "@preact/signals";
import { same } from "../same";
import type { Choice, Span } from "./perspective";
import { back, forth, left, noPast } from "./past";
import type { Selection, Store } from "./store";

interface Look { choice: Choice; zoomNs: Span | null; selection: Selection }

export class Looks {
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  private past = noPast<Look>();
  private seen: Look;
  /** While a step is taken its changes are no new step. */
  private isStepping = false;

  constructor(private readonly store: Store) {
    this.seen = this.look();
    effect(() => {
      const { rangeNs, ranks, hidden } = store.perspective.value;
      const now: Look = { choice: { rangeNs, ranks, hidden }, zoomNs: store.zoom.value, selection: store.selection.value };
      const what = changed(this.seen, now);
      // What the page or another page did by itself is nothing to undo, but a state to come back to.
      if (what && !this.isStepping && !store.isByItself) this.past = left(this.past, this.seen, what, performance.now());
      this.seen = now;
      this.tell();
    });
  }

  undo(): void {
    this.step(back(this.past, this.seen));
  }

  redo(): void {
    this.step(forth(this.past, this.seen));
  }

  private step(found: ReturnType<typeof back<Look>>): void {
    if (!found) return;
    this.past = found.past;
    this.isStepping = true;
    batch(() => {
      const { choice, zoomNs, selection } = found.state;
      if (changedChoice(this.store.perspective.peek(), choice)) this.store.select(choice);
      this.store.zoom.value = zoomNs;
      this.store.selection.value = selection;
    });
    this.isStepping = false;
    this.tell();
  }

  private look(): Look {
    const { rangeNs, ranks, hidden } = this.store.perspective.peek();
    return { choice: { rangeNs, ranks, hidden }, zoomNs: this.store.zoom.peek(), selection: this.store.selection.peek() };
  }

  private tell(): void {
    this.canUndo.value = this.past.before.length > 0;
    this.canRedo.value = this.past.after.length > 0;
  }
}

function changed(before: Look, now: Look): string {
  return changedChoice(before.choice, now.choice) || (same(before.zoomNs, now.zoomNs) ? "" : "zoom") || (before.selection === now.selection ? "" : "selection");
}

function changedChoice(before: Choice, now: Choice): string {
  if (!same(before.rangeNs, now.rangeNs)) return "range";
  if (!same(before.ranks, now.ranks)) return "ranks";
  return same([...before.hidden].sort(), [...now.hidden].sort()) ? "" : "functions";
}
