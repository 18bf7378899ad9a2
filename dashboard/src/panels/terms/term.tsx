// A "?" that explains a term: while the mouse is on it, or from a click or a key on; closed by Escape or by going elsewhere.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Shape, type Term, TERMS, type TermId } from "./terms";

const WIDTH = 272;
const MARGIN = 8;
/** A mouse that only passes by opens nothing. */
const HOVER_MS = 200;

export function TermMark({ id }: { id: TermId }) {
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isOpen = useSignal(false);
  const isKept = useRef(false);
  const hover = useRef(0);
  useEffect(() => () => clearTimeout(hover.current), []);
  const { name, sentence, picture, levels = [] }: Term = TERMS[id];
  useLayoutEffect(() => {
    const [popover, at] = [box.current, button.current?.getBoundingClientRect()];
    if (!isOpen.value || !popover || !at || popover.matches(":popover-open")) return;
    popover.showPopover();
    const isBelow = at.bottom + MARGIN + popover.offsetHeight < innerHeight;
    popover.style.left = `${Math.max(MARGIN, Math.min(at.left, innerWidth - WIDTH - MARGIN))}px`;
    popover.style.top = `${isBelow ? at.bottom + 4 : Math.max(MARGIN, at.top - popover.offsetHeight - 4)}px`;
  }, [isOpen.value]);
  const keys = (event: KeyboardEvent): void => {
    // Escape closes this and nothing else; Enter and Space open it, whatever they do to the row.
    if ((event.key === "Escape" && isOpen.peek()) || event.key === "Enter" || event.key === " ") event.stopPropagation();
    if (event.key === "Escape" && isOpen.peek()) {
      event.preventDefault();
      box.current?.hidePopover();
    }
  };
  return (
    <>
      {/* The sign comes from the style sheet: the words of headings and lists stay what they are. */}
      <button type="button" class="term" ref={button} aria-label={`What is ${name}?`} aria-expanded={isOpen.value} onKeyDown={keys} onClick={(event) => {
        event.stopPropagation();
        clearTimeout(hover.current);
        isKept.current = !isKept.current;
        isOpen.value = isKept.current;
      }} onPointerEnter={({ pointerType }) => {
        if (pointerType === "mouse") hover.current = window.setTimeout(() => (isOpen.value = true), HOVER_MS);
      }} onPointerLeave={() => {
        clearTimeout(hover.current);
        if (!isKept.current) isOpen.value = false;
      }} />
      {isOpen.value && (
        <div class="term-box" ref={box} popover="auto" role="note" onClick={(event) => event.stopPropagation()} onToggle={(event) => {
          if (event.newState !== "closed") return;
          isKept.current = false;
          isOpen.value = false;
        }}>
          <svg viewBox="0 0 160 56" width="240" height="84" aria-hidden="true">{picture.map((shape, at) => <Drawn key={at} shape={shape} />)}</svg>
          <p><b>{name}.</b> {sentence}</p>
          {levels.length > 0 && <ul>{levels.map((level) => <li key={level}>{level}</li>)}</ul>}
        </div>
      )}
    </>
  );
}

function Drawn({ shape }: { shape: Shape }) {
  switch (shape.kind) {
    case "bar": return <rect class={shape.tone} x={shape.x} y={shape.y} width={shape.width} height={shape.height} rx="2" />;
    case "dot": return <circle class={shape.tone} cx={shape.x} cy={shape.y} r={shape.r} />;
    case "path": return <path class={`${shape.tone} ${shape.d.endsWith("Z") && shape.tone === "warn" ? "filled" : ""}`} d={shape.d} stroke-dasharray={shape.isDashed ? "3 3" : undefined} />;
    case "text": return <text x={shape.x} y={shape.y}>{shape.text}</text>;
  }
}
