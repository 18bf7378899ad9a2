// The address of the page says what is looked at, and a link shows a colleague the same. Written as things change,
// read when the page opens and when another link is pasted.

import { messageText } from "../feed/messages";
import { callText } from "../panels/particles/describe";
import { same } from "../same";
import { arrange, arrangement, keep } from "./arrangement";
import { fromHash, type Place, toHash } from "./link";
import type { Choice, Perspective } from "./perspective";
import type { SelectionKey, Selection, Store } from "./store";

const WRITE_EVERY_MS = 500;
/** Calls that may begin in one nanosecond on one rank. */
const SAME_MOMENT = 1000;

export class Address {
  private place: Place = fromHash(location.hash);
  private isRestored = false;
  private first: Perspective | null = null;
  private written = "";
  /** The address as this page last read or wrote it. */
  private seen = location.hash;

  constructor(private readonly store: Store) {}

  start(): void {
    if (location.hash.length > 1) arrange(this.place.settings);
    this.show();
    addEventListener("hashchange", () => {
      this.seen = location.hash;
      this.place = fromHash(location.hash);
      this.isRestored = false;
      this.first = this.store.shared.peek();
      arrange(this.place.settings);
      this.show();
      this.restore();
    });
    setInterval(() => this.write(), WRITE_EVERY_MS);
    // Whoever leaves at once does not lose what was chosen last.
    addEventListener("pagehide", () => this.write());
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

  /** A link with a time must not move the clock of others who look along: with company, this page lets go; so does one that may only read. */
  restore(): void {
    const { store, first: shared } = this;
    if (this.isRestored || !shared || store.run.peek().number < 0) return;
    this.isRestored = true;
    const { timeNs } = this.place;
    const timeDiffers = timeNs !== null && !(shared.clock.mode === "paused" && Math.abs(shared.clock.timeNs - timeNs) < 1000);
    const choice = this.choice(shared);
    if (timeDiffers || choice) {
      store.shared.value = shared;
      if (store.company.peek().pages > 1 || !store.access.peek().canControl) store.setFollow(false);
    }
    if (timeDiffers) {
      store.command({ do: "pause" });
      store.command({ do: "seek", time_ns: timeNs });
    }
    if (choice) store.select(choice);
    store.zoom.value = this.place.zoomNs;
    if (this.place.selection) void this.select(this.place.selection);
  }

  /** The range, ranks and functions of the link; null where they are shown already, or it has none. */
  private choice(shared: Perspective): Partial<Choice> | null {
    const { rangeNs, ranks, hidden } = this.place;
    const differing: Partial<Choice> = {};
    if (rangeNs && !same(rangeNs, shared.rangeNs)) differing.rangeNs = rangeNs;
    if (ranks && !same(ranks, shared.ranks)) differing.ranks = ranks;
    if (hidden.length > 0 && hidden.join() !== sorted(shared.hidden).join()) differing.hidden = new Set(hidden);
    return Object.keys(differing).length > 0 ? differing : null;
  }

  /** What cannot be had any more is not selected: the inspector shows the run. */
  private async select(kept: SelectionKey): Promise<void> {
    const { selection } = this.store;
    const before = selection.peek();
    const found = await this.find(kept).catch(() => null);
    if (found && selection.peek() === before) selection.value = found;
  }

  private async find(kept: SelectionKey): Promise<Selection> {
    const { store } = this;
    switch (kept.kind) {
      case "call": {
        const calls = await store.questions.calls([kept.startNs, kept.startNs + 1], [[kept.rank, kept.rank]], SAME_MOMENT);
        const row = calls.rank.findIndex((rank, at) => rank === kept.rank && calls.thread[at] === kept.thread && calls.startNs[at] === kept.startNs);
        const id = calls.function[row] ?? 0;
        return row < 0 ? null : { kind: "call", call: callText(calls, row, store.run.peek().functions.get(id)?.name ?? `function ${id}`) };
      }
      case "message": {
        const rows = await store.questions.messages([kept.sendNs, kept.sendNs + 1], [[kept.src, kept.src]], SAME_MOMENT);
        const row = rows.src.findIndex((src, at) => src === kept.src && rows.dst[at] === kept.dst && rows.sendNs[at] === kept.sendNs);
        return row < 0 ? null : { kind: "message", message: messageText(rows, row) };
      }
      case "site":
        return { kind: "site", site: kept.site, place: (await store.questions.sites()).get(kept.site) ?? "" };
      default:
        return kept;
    }
  }

  private write(): void {
    // A link was pasted, and its event is still to come.
    if (!this.isRestored || location.hash !== this.seen) return;
    const { store } = this;
    const { clock, rangeNs, ranks, hidden } = store.perspective.peek();
    const hash = toHash({
      timeNs: clock.mode === "paused" ? store.timeNs.peek() : null, rangeNs, zoomNs: store.zoom.peek(), ranks, hidden: sorted(hidden),
      selection: kept(store.selection.peek()), tab: store.tab.peek(), settings: arrangement(),
    });
    if (hash === this.written) return;
    this.written = hash;
    history.replaceState(null, "", `#${hash}`);
    this.seen = location.hash;
    keep();
  }
}

function sorted(hidden: ReadonlySet<number>): number[] {
  return [...hidden].sort((one, other) => one - other);
}

/** What of a selection can be found again from an address. */
function kept(selection: Selection): SelectionKey | null {
  switch (selection?.kind) {
    case "rank":
    case "region":
    case "between":
    case "pair":
    case "moment":
      return selection;
    case "site":
      return selection.site === null ? null : { kind: "site", site: selection.site };
    case "message":
      return { kind: "message", src: selection.message.src, dst: selection.message.dst, sendNs: selection.message.sendNs };
    case "call":
      return { kind: "call", rank: selection.call.rank, thread: selection.call.thread, startNs: selection.call.startNs };
    default:
      return null;
  }
}
