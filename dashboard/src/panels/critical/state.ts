// The critical path of what is looked at: the selected range, else the whole run, or of a run that goes on its last seconds.

import { computed, effect, signal } from "@preact/signals";
import type { Sites } from "../../feed/call-sites";
import type { CriticalPath } from "../../feed/critical";
import { remembered } from "../../state/arrangement";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";

export interface PathScope { rangeNs: Span }
export interface KnownPath { scope: PathScope; path: CriticalPath }

/** Of a run that goes on, and how often it is asked anew. */
const LATELY_NS = 10e9;
const STEP_NS = 4e9;
const NO_SITES: Sites = new Map();

export class PathState {
  readonly figures = signal<NewestFigures<KnownPath>>({ known: null, isAsking: false, why: "" });
  readonly sites = signal<Sites>(NO_SITES);
  readonly isShown = remembered("timeline.path", "shown", ["shown", "hidden"]);
  private readonly questions: Newest<PathScope, KnownPath>;
  private watchers = 0;
  private stop: (() => void) | null = null;
  readonly scope = computed((): PathScope | null => {
    const { rangeNs } = this.store.perspective.value;
    if (rangeNs) return { rangeNs: [Math.floor(rangeNs[0]), Math.ceil(rangeNs[1])] };
    const run = this.store.figures.value;
    const edge = edgeNs(run);
    if (edge === 0) return null;
    if (over(run)) return { rangeNs: [0, Math.ceil(edge) + 1] };
    const end = Math.floor(edge / STEP_NS) * STEP_NS;
    return end === 0 ? null : { rangeNs: [Math.max(0, end - LATELY_NS), end] };
  });

  constructor(private readonly store: Store) {
    const ask = async (scope: PathScope): Promise<KnownPath> => {
      const [from_ns, to_ns] = scope.rangeNs;
      return { scope, path: await store.questions.answer("critical", { from_ns, to_ns }) };
    };
    this.questions = new Newest(ask, (figures) => {
      this.figures.value = figures;
      // Without their places calls are named by function.
      if (figures.known && this.sites.peek().size === 0) store.questions.sites().then((sites) => (this.sites.value = sites), () => undefined);
    });
  }

  /** Asks until all who watch have stopped. */
  watch(): () => void {
    if (this.watchers++ === 0) {
      const scope = computed(() => JSON.stringify(this.scope.value));
      this.stop = effect(() => this.questions.want(JSON.parse(scope.value) as PathScope | null, this.store.link.value.phase === "open"));
    }
    return () => {
      if (--this.watchers > 0) return;
      this.stop?.();
      this.questions.stop();
    };
  }
}

export const pathOf = keptOf((store: Store) => new PathState(store));
