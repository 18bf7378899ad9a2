// How large an element is, for what draws into it.

import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** In CSS pixels, without borders. */
export interface Size { readonly width: number; readonly height: number }

const watchers = new Set<() => void>();

/** Lets all that draw into an element draw again. */
export function redrawAll(): void {
  for (const changed of watchers) changed();
}

/** Tells of the first size and of each other one until the returned function is called. */
export function watchSize(element: Element, changed: () => void): () => void {
  const observer = new ResizeObserver(changed);
  observer.observe(element);
  const redraw = (): void => changed();
  watchers.add(redraw);
  return () => {
    observer.disconnect();
    watchers.delete(redraw);
  };
}

/** All zero until there is something to see. */
export function useSize(box: RefObject<HTMLElement>): ReadonlySignal<Size> {
  const size = useSignal<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    return element ? watchSize(element, () => (size.value = { width: element.clientWidth, height: element.clientHeight })) : undefined;
  }, [box, size]);
  return size;
}
