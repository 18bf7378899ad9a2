// What is in the tab Why, at its top: a click goes there, and where one is now is marked.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store";
import { PARTS, show } from "./places";

/** A part counts as reached a little before its heading is at the top. */
const AHEAD_PIXELS = 24;

export function Contents({ store }: { store: Store }) {
  const box = useRef<HTMLElement>(null);
  const current = useSignal(PARTS[0]?.id ?? "");
  useEffect(() => {
    const view = box.current?.closest(".why");
    if (!view) return undefined;
    const look = (): void => {
      const top = (box.current?.getBoundingClientRect().bottom ?? 0) + AHEAD_PIXELS;
      const isEnd = view.scrollTop > 0 && view.scrollTop + view.clientHeight >= view.scrollHeight - 1;
      const there = PARTS.map(({ id }) => document.getElementById(id)).filter((part) => part !== null);
      const reached = isEnd ? there.at(-1) : there.filter((part) => part.getBoundingClientRect().top <= top).at(-1);
      current.value = reached?.id ?? PARTS[0]?.id ?? "";
    };
    look();
    view.addEventListener("scroll", look, { passive: true });
    return () => view.removeEventListener("scroll", look);
  }, [current]);
  return (
    <nav class="contents" ref={box} aria-label="Parts of this view">
      {PARTS.map(({ id, label, learn }) => (
        <button type="button" key={id} title={learn} aria-current={current.value === id ? "true" : undefined} onClick={() => show(store, id)}>{label}</button>
      ))}
    </nav>
  );
}
