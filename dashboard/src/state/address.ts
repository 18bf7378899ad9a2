// The address of the page says what is looked at, so that a link shows a colleague the same: written as things change,
// read when the page opens and when another link is pasted.

import { callText } from "../panels/particles/describe";
import { arrange, arrangement, keep } from "./arrangement";
import { fromHash, type Place, toHash } from "./link";
import type { Choice, Perspective } from "./perspective";
import type { Kept, Selection, Store } from "./store";

const WRITE_EVERY_MS = 500;
/** Calls that may begin in one nanosecond on one rank. */
const SAME_MOMENT = 1000;

export class Address {
  private place: Place = fromHash(location.hash);
  private isRestored = false;
  private first: Perspective | null = null;
  private written = "";

  constructor(private readonly store: Store) {}

  start(): void {
    if (location.hash.length > 1) arrange(this.place.settings);
    this.show();
    addEventListener("hashchange", () => {
      this.place = fromHash(location.hash);
      this.isRestored = false;
      this.first = this.store.shared.peek();
      arrange(this.place.settings);
      this.show();
      this.restore();
    });
    setInterval(() => this.write(), WRITE_EVERY_MS);
  }

  private show(): void {
    this.store.zoom.value = this.place.zoomNs;
    if (this.place.tab) this.store.tab.value = this.place.tab;
  }

  /** What all look at was heard. */
  heard(shared: Perspective): void {
    this.first ??= shared;
    this.restore();
  }

  /** A link with a time must not move the clock of others who look along: with company, this page lets go. */
  restore(): void {
    const { store, first: shared } = this;
    if (this.isRestored || !shared || store.run.peek().number < 0) return;
    this.isRestored = true;
    const { timeNs } = this.place;
    const timeDiffers = timeNs !== null && !(shared.clock.mode === "paused" && Math.abs(shared.clock.timeNs - timeNs) < 1000);
    const choice = this.choice(shared);
    if (timeDiffers || choice) {
      store.shared.value = shared;
      if (store.company.peek().pages > 1) store.setFollow(false);
    }
    if (timeDiffers) {
      store.command({ do: "pause" });
      store.command({ do: "seek", time_ns: timeNs });
    }
    if (choice) store.select(choice);
    store.zoom.value = this.place.zoomNs;
    if (this.place.selection) void this.select(this.place.selection);
  }

  /** What the link says of range, ranks and functions; null where that is so already, or nothing is said. */
  private choice(shared: Perspective): Partial<Choice> | null {
    const { rangeNs, ranks, hidden } = this.place;
    const said: Partial<Choice> = {};
    if (rangeNs && (shared.rangeNs?.[0] !== rangeNs[0] || shared.rangeNs[1] !== rangeNs[1])) said.rangeNs = rangeNs;
    if (ranks && JSON.stringify(ranks) !== JSON.stringify(shared.ranks)) said.ranks = ranks;
    if (hidden.length > 0 && hidden.join() !== sorted(shared.hidden).join()) said.hidden = new Set(hidden);
    return Object.keys(said).length > 0 ? said : null;
  }

  private async select(kept: Kept): Promise<void> {
    if (kept.kind !== "call") {
      this.store.selection.value = kept;
      return;
    }
    const { store } = this;
    const before = store.selection.peek();
    // Where the call cannot be had any more, nothing is selected: the inspector shows the run.
    const calls = await store.callsOf(kept.startNs, kept.startNs + 1, [[kept.rank, kept.rank]], SAME_MOMENT).catch(() => null);
    if (!calls || store.selection.peek() !== before) return;
    for (let row = 0; row < calls.length; row++) {
      if (calls.rank[row] !== kept.rank || calls.thread[row] !== kept.thread || calls.startNs[row] !== kept.startNs) continue;
      const id = calls.function[row] ?? 0;
      store.selection.value = { kind: "call", call: callText(calls, row, store.run.peek().functions.get(id)?.name ?? `function ${id}`) };
      return;
    }
  }

  private write(): void {
    if (!this.isRestored) return;
    const { store } = this;
    const { clock, rangeNs, ranks, hidden } = store.perspective.peek();
    const hash = toHash({
      timeNs: clock.mode === "paused" ? store.timeNs.peek() : null, rangeNs, zoomNs: store.zoom.peek(), ranks, hidden: sorted(hidden),
      selection: kept(store.selection.peek()), tab: store.tab.peek(), settings: arrangement(),
    });
    if (hash === this.written) return;
    this.written = hash;
    history.replaceState(null, "", `#${hash}`);
    keep();
  }
}

function sorted(hidden: ReadonlySet<number>): number[] {
  return [...hidden].sort((one, other) => one - other);
}

/** What of a selection can be found again from an address. */
function kept(selection: Selection): Kept | null {
  switch (selection?.kind) {
    case "rank":
    case "region":
    case "between":
    case "pair":
    case "moment":
      return selection;
    case "call":
      return { kind: "call", rank: selection.call.rank, thread: selection.call.thread, startNs: selection.call.startNs };
    default:
      return null;
  }
}
