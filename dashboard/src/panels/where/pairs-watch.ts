// Asks who sent to whom in what is looked at, as long as somebody looks: the selected range, else the whole of a finished
// run, else the newest stretch of one that goes on, again and again.

import { effect } from "@preact/signals";
import { Asking, REST_MS } from "../../state/asking";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";

/** A run that goes on is shown as it was lately: all of it would take longer to read from minute to minute. */
export const LATELY_NS = 30e9;
const AGAIN_MS = 5000;

export function scopeOf(rangeNs: Span | null, endNs: number, isOver: boolean): Span {
  if (rangeNs) return rangeNs;
  return [isOver ? 0 : Math.max(0, endNs - LATELY_NS), endNs + 1];
}

/** Asks until the returned function is called. */
export function watchPairs(store: Store): () => void {
  const grows = (): boolean => !over(store.run.peek()) && store.perspective.peek().rangeNs === null;
  const asking = new Asking<Span, void>(
    () => scopeOf(store.perspective.peek().rangeNs, edgeNs(store.run.peek()), over(store.run.peek())),
    (scope) => store.askPairs(scope),
    (outcome) => {
      if (!outcome || "why" in outcome || grows()) asking.askIn(AGAIN_MS);
    },
  );
  let last = "";
  const stop = effect(() => {
    // What is read here is what a new question is worth.
    const isOpen = store.link.value.phase === "open";
    const isBegun = edgeNs(store.figures.value) > 0;
    const key = `${JSON.stringify(store.perspective.value.rangeNs)} ${over(store.figures.value)}`;
    if (!isOpen || !isBegun || key === last) return;
    last = key;
    asking.drop();
    asking.askIn(REST_MS);
  });
  return () => {
    stop();
    asking.drop();
  };
}
