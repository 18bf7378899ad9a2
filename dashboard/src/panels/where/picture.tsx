// What both faces have: a canvas with its keys, a tooltip at the pointer, and buttons that zoom.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { TipText } from "../../words/regions";
import { Icon } from "../icons";
import { Tip } from "./tip";

export interface View { zoom(factor: number): void; key(event: KeyboardEvent): boolean }

interface PictureProps {
  canvas: RefObject<HTMLCanvasElement>;
  view: RefObject<View>;
  kind: "graph" | "matrix";
  label: string;
  /** What is under the pointer. */
  text: TipText | null;
  /** What is waited for; empty when nothing is. */
  wait: string;
}

export function Picture({ canvas, view, kind, label, text, wait }: PictureProps) {
  const pointer = useSignal<{ x: number; y: number } | null>(null);
  return (
    <div class="picture" onPointerMove={(event) => {
      const box = event.currentTarget.getBoundingClientRect();
      pointer.value = { x: event.clientX - box.left, y: event.clientY - box.top };
    }} onPointerLeave={() => (pointer.value = null)}>
      <canvas ref={canvas} class={kind} tabIndex={0} role="application" aria-label={label}
        onKeyDown={(event) => {
          if (!view.current?.key(event)) return;
          event.preventDefault();
          event.stopPropagation();
        }} />
      {wait && <p class="wait soft">{wait}</p>}
      {text && pointer.value && <Tip text={text} {...pointer.value} />}
    </div>
  );
}

export function ZoomButtons({ view }: { view: RefObject<View> }) {
  return (
    <>
      <button type="button" class="icon" aria-label="Zoom out" title="Zoom out (-)" onClick={() => view.current?.zoom(0.8)}><Icon name="minus" /></button>
      <button type="button" class="icon" aria-label="Zoom in" title="Zoom in (+)" onClick={() => view.current?.zoom(1.25)}><Icon name="plus" /></button>
    </>
  );
}
