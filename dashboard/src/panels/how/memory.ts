// What the view remembers while another tab is shown, one for each page.

import { signal } from "@preact/signals";
import { keptOf } from "../../state/kept";
import type { Store } from "../../state/store";

function fresh() {
  return {
    side: signal<"inside" | "between">("inside"),
    order: signal<"lost" | "worst" | "ranks">("lost"),
    /** The rows as they stood last. */
    keys: [] as readonly string[],
    /** How far they were scrolled. */
    top: 0,
  };
}

export type Memory = ReturnType<typeof fresh>;

export const memoryOf = keptOf<Store, Memory>(fresh);
