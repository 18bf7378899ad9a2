// What the view remembers while another tab is shown, one for each page.

import { signal } from "@preact/signals";
import type { Store } from "../../state/store";

function fresh() {
  return {
    side: signal<"inside" | "between">("inside"),
    order: signal<"worst" | "ranks">("worst"),
    /** The rows as they stood last. */
    keys: [] as readonly string[],
  };
}

export type Memory = ReturnType<typeof fresh>;

const kept = new WeakMap<Store, Memory>();

export function memoryOf(store: Store): Memory {
  let found = kept.get(store);
  if (!found) kept.set(store, (found = fresh()));
  return found;
}
