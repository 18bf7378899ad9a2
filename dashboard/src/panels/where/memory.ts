// What the view remembers while another tab is shown, one for each page.

import { signal } from "@preact/signals";
import { remembered } from "../../state/arrangement";
import { keptOf } from "../../state/kept";
import type { Store } from "../../state/store";
import type { Target } from "../../words/regions";
import type { Camera } from "./camera";
import type { Placement } from "./layout";
import type { Measure, OrderKind } from "./matrix";
import type { Mode } from "./paint-links";

function fresh() {
  return {
    face: remembered("where.face", "graph", ["graph", "matrix"]),
    mode: remembered<Mode>("where.mode", "regions", ["regions", "latency"]),
    measure: remembered<Measure>("where.measure", "messages", ["messages", "bytes", "latency"]),
    order: remembered<OrderKind>("where.order", "rank", ["rank", "node", "region"]),
    lasso: signal(false),
    /** Under the pointer, or under the focus in the table. */
    pointed: signal<Target | null>(null),
    /** Null: all in sight. */
    camera: null as Camera | null,
    placement: null as Placement | null,
  };
}

export type Memory = ReturnType<typeof fresh>;

export const memoryOf = keptOf<Store, Memory>(fresh);
