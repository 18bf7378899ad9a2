// What the view remembers while another tab is shown, one for each page.

import { signal } from "@preact/signals";
import type { Store } from "../../state/store";
import type { Target } from "../../words/regions";
import type { Camera } from "./camera";
import type { Placement } from "./layout";
import type { Measure, OrderKind } from "./matrix";
import type { Mode } from "./paint-links";

function fresh() {
  return {
    face: signal<"graph" | "matrix">("graph"),
    mode: signal<Mode>("regions"),
    measure: signal<Measure>("messages"),
    order: signal<OrderKind>("rank"),
    lasso: signal(false),
    /** Under the pointer, or under the focus in the table. */
    pointed: signal<Target | null>(null),
    /** Null: all in sight. */
    camera: null as Camera | null,
    placement: null as Placement | null,
  };
}

export type Memory = ReturnType<typeof fresh>;

const kept = new WeakMap<Store, Memory>();

export function memoryOf(store: Store): Memory {
  let found = kept.get(store);
  if (!found) kept.set(store, (found = fresh()));
  return found;
}
