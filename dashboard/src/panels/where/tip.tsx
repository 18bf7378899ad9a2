// The tooltip beside the pointer: what is under it, in the inspector's words.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { TipText } from "../../words/regions";

const AWAY = 14;

export function Tip({ text, x, y }: { text: TipText; x: number; y: number }) {
  const element = useRef<HTMLDivElement>(null);
  // On the side where there is room.
  useLayoutEffect(() => {
    const tip = element.current;
    const panel = tip?.parentElement;
    if (!tip || !panel) return;
    const left = x + AWAY + tip.offsetWidth > panel.clientWidth ? Math.max(0, x - AWAY - tip.offsetWidth) : x + AWAY;
    const top = Math.max(0, Math.min(y + AWAY, panel.clientHeight - tip.offsetHeight));
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  });
  return (
    <div class="tip" role="tooltip" ref={element}>
      <p><b>{text.title}</b></p>
      {text.rows.map(([name, value, note]) => <div key={name}><span class="soft">{name}</span><span>{value}{note && <small class="soft">{note}</small>}</span></div>)}
    </div>
  );
}
