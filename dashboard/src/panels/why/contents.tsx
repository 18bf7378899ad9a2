// What is in the tab Causes, at its top: a click goes there, and where one is now is marked.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store";
import { PARTS, reachedPart, show } from "./sections";

/** A part counts as reached a little before its heading is at the top. */
const AHEAD_PIXELS = 24;

export function Contents({ store }: { store: Store }) {
  const box = useRef<HTMLElement>(null);
  const current = useSignal(PARTS[0]?.id ?? "");
  const isLed = useRef(false);
  useEffect(() => {
    const view = box.current?.closest(".why");
    if (!view) return undefined;
    const look = (): void => {
      const top = (box.current?.getBoundingClientRect().bottom ?? 0) + AHEAD_PIXELS;
      const isEnd = view.scrollTop > 0 && view.scrollTop + view.clientHeight >= view.scrollHeight - 1;
      const there = PARTS.map(({ id }) => document.getElementById(id)).filter((part) => part !== null);
      // Who is led somewhere has the focus there; who scrolls on by hand loses nothing but the mark.
      const asked = document.activeElement?.id ?? null;
      current.value = reachedPart(there.map((part) => ({ id: part.id, y: part.getBoundingClientRect().top })), top, isEnd, isLed.current ? asked : null);
    };
    // What is asked for and comes after the others moves the part that somebody was led to.
    const askedFor = (): Element | null => (PARTS.some(({ id }) => id === document.activeElement?.id) ? document.activeElement : null);
    const grown = new ResizeObserver(() => {
      if (isLed.current) askedFor()?.scrollIntoView({ block: "start" });
    });
    const led = (): void => {
      isLed.current = true;
      for (const child of view.children) grown.observe(child);
      look();
    };
    const byHand = (): void => void (isLed.current = false);
    // Whoever comes from elsewhere was led here before this was drawn.
    if (askedFor()) led();
    else look();
    view.addEventListener("scroll", look, { passive: true });
    view.addEventListener("focusin", led);
    view.addEventListener("wheel", byHand, { passive: true });
    view.addEventListener("touchmove", byHand, { passive: true });
    view.addEventListener("pointerdown", byHand);
    view.addEventListener("keydown", byHand);
    return () => {
      grown.disconnect();
      view.removeEventListener("scroll", look);
      view.removeEventListener("focusin", led);
      view.removeEventListener("wheel", byHand);
      view.removeEventListener("touchmove", byHand);
      view.removeEventListener("pointerdown", byHand);
      view.removeEventListener("keydown", byHand);
    };
  }, [current]);
  return (
    <nav class="contents" ref={box} aria-label="Parts of this view">
      {PARTS.map(({ id, label, learn }) => (
        <button type="button" key={id} title={learn} aria-current={current.value === id ? "true" : undefined} onClick={() => show(store, id)}>{label}</button>
      ))}
    </nav>
  );
}
