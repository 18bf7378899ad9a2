// The views of other programs, and the newest message of each.

import { signal } from "@preact/signals";
import type { PanelMessage, PanelsMessage, PanelTab } from "../feed/panels";

const PREFIX = "panel-";

/** The id of its tab. */
export const tabOf = ({ number }: PanelTab): string => `${PREFIX}${number}`;

export const isPanelTab = (tab: string): boolean => tab.startsWith(PREFIX);

type Listener = (data: unknown) => void;

export class Panels {
  readonly tabs = signal<readonly PanelTab[]>([]);
  /** Panels that are gone, by their tabs, for who still looks at one. */
  private readonly gone = new Map<string, PanelTab>();
  private readonly newest = new Map<number, unknown>();
  private readonly listeners = new Map<number, Set<Listener>>();

  heard(message: PanelsMessage | PanelMessage): void {
    if (message.kind === "panels") {
      const left = new Set(message.panels.map(({ number }) => number));
      for (const before of this.tabs.peek()) {
        if (left.has(before.number)) continue;
        this.gone.set(tabOf(before), before);
        this.newest.delete(before.number);
      }
      this.tabs.value = message.panels;
      return;
    }
    if (!this.tabs.peek().some(({ number }) => number === message.panel)) return;
    this.newest.set(message.panel, message.data);
    for (const listener of this.listeners.get(message.panel) ?? []) listener(message.data);
  }

  find(tab: string): PanelTab | undefined {
    return this.tabs.value.find((each) => tabOf(each) === tab);
  }

  /** Whoever it was that is gone; undefined where this page never knew it. */
  lost(tab: string): PanelTab | undefined {
    return this.gone.get(tab);
  }

  /** Gives a listener the newest message of the panel, if there is one, and all that come. Ends with what is returned. */
  listen(panel: number, listener: Listener): () => void {
    const all = this.listeners.get(panel) ?? new Set();
    this.listeners.set(panel, all.add(listener));
    if (this.newest.has(panel)) listener(this.newest.get(panel));
    return () => {
      all.delete(listener);
      if (all.size === 0) this.listeners.delete(panel);
    };
  }
}
