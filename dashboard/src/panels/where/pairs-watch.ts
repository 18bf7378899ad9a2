// Asks who sent to whom in what is looked at, as long as somebody looks: the selected range, else the whole of a run that
// is over, else the newest stretch of one that goes on, again and again.

import { effect } from "@preact/signals";
import type { Span } from "../../state/perspective";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";

/** A run that goes on is shown as it was lately: all of it would take longer to read from minute to minute. */
export const LATELY_NS = 30e9;
const AGAIN_MS = 5000;
/** Brushing changes the range with every move. */
const REST_MS = 200;

export function scopeOf(rangeNs: Span | null, endNs: number, isOver: boolean): Span {
  if (rangeNs) return rangeNs;
  return [isOver ? 0 : Math.max(0, endNs - LATELY_NS), endNs + 1];
}

/** Asks until the returned function is called. */
export function watchPairs(store: Store): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let number = 0;
  let last = "";
  const ask = (): void => {
    const mine = ++number;
    const run = store.run.peek();
    const isOver = over(run);
    const { rangeNs } = store.perspective.peek();
    const scope = scopeOf(rangeNs, edgeNs(run), isOver);
    store.askPairs(scope).then(() => true, () => false).then((isKnown) => {
      if (mine !== number || (isKnown && (isOver || rangeNs))) return;
      timer = setTimeout(ask, AGAIN_MS);
    }, () => undefined);
  };
  const stop = effect(() => {
    // What is read here is what a new question is worth.
    const isOpen = store.link.value.phase === "open";
    const isBegun = edgeNs(store.figures.value) > 0;
    const key = `${JSON.stringify(store.perspective.value.rangeNs)} ${over(store.figures.value)}`;
    if (!isOpen || !isBegun || key === last) return;
    last = key;
    clearTimeout(timer);
    number++;
    timer = setTimeout(ask, REST_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
    number++;
  };
}
