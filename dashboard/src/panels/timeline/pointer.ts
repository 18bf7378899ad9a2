// What pointer and wheel do on the timeline: pan, brush, scrub, zoom. Only gestures; what they mean is the owner's.

import { nsOf, type Scale, type Zone } from "./scale";

export interface Gestures {
  scale(): Scale;
  zone(x: number, y: number): Zone;
  /** Something can be panned: not all of the run is visible. */
  pannable(): boolean;
  hover(ns: number | null, x: number): void;
  seek(ns: number, done: boolean): void;
  pan(byNs: number): void;
  brush(fromNs: number, toNs: number, done: boolean): void;
  zoom(factor: number, atNs: number): void;
  whole(): void;
  /** The view around it scrolls by the wheel; zooming needs the control key too. */
  scrolls?: boolean;
}

type DragKind = "scrub" | "pan" | "brush";
type Drag = { kind: DragKind; startX: number; lastX: number; startNs: number; moved: boolean };

const CLICK_PIXELS = 3;
/** A click waits so long for a second one, which would mean something else. */
const DOUBLE_CLICK_MS = 220;
/** The wheel's step that doubles. */
const WHEEL_DOUBLE_PIXELS = 240;

/**
 * What dragging does, as in Perfetto: it selects a range, with Shift it pans, and on the cursor it scrubs. A finger pans:
 * it has no Shift. Where all of the run is in sight there is nothing to pan.
 */
export function dragKind(zone: Zone, { isShift, isTouch }: { isShift: boolean; isTouch: boolean }, isPannable: boolean): DragKind {
  if (zone === "cursor" && !isShift) return "scrub";
  return isPannable && zone !== "ruler" && (isShift || isTouch) ? "pan" : "brush";
}

export function listen(element: HTMLElement, gestures: Gestures): void {
  let drag: Drag | null = null;
  let clickTimer = 0;
  const touches = new Map<number, number>();
  const at = (event: MouseEvent): { x: number; y: number; ns: number } => {
    const box = element.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, y: event.clientY - box.top, ns: nsOf(gestures.scale(), x) };
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x, y, ns } = at(event);
    touches.set(event.pointerId, x);
    element.setPointerCapture(event.pointerId);
    const zone = gestures.zone(x, y);
    const kind = dragKind(zone, { isShift: event.shiftKey, isTouch: event.pointerType === "touch" }, gestures.pannable());
    drag = touches.size > 1 ? null : { kind, startX: x, lastX: x, startNs: ns, moved: false };
    gestures.hover(null, x);
  });

  element.addEventListener("pointermove", (event) => {
    const { x, y, ns } = at(event);
    if (touches.size > 1 && touches.has(event.pointerId)) {
      pinch(event.pointerId, x);
      return;
    }
    if (!drag) {
      const zone = gestures.zone(x, y);
      element.style.cursor = zone === "cursor" ? "ew-resize" : dragKind(zone, { isShift: event.shiftKey, isTouch: false }, gestures.pannable()) === "pan" ? "grab" : "crosshair";
      gestures.hover(ns, x);
      return;
    }
    drag.moved ||= Math.abs(x - drag.startX) > CLICK_PIXELS;
    if (!drag.moved) return;
    if (drag.kind === "scrub") gestures.seek(ns, false);
    else if (drag.kind === "brush") gestures.brush(Math.min(drag.startNs, ns), Math.max(drag.startNs, ns), false);
    else {
      element.style.cursor = "grabbing";
      gestures.pan(nsOf(gestures.scale(), drag.lastX) - ns);
    }
    drag.lastX = x;
  });

  function pinch(id: number, x: number): void {
    const other = [...touches].find(([pointer]) => pointer !== id);
    const before = touches.get(id);
    touches.set(id, x);
    if (!other || before === undefined) return;
    const apart = Math.abs(x - other[1]);
    if (apart > 8) gestures.zoom(Math.abs(before - other[1]) / apart, nsOf(gestures.scale(), (x + other[1]) / 2));
  }

  const end = (event: PointerEvent): void => {
    touches.delete(event.pointerId);
    if (!drag) return;
    const { ns } = at(event);
    const ended = drag;
    drag = null;
    if (event.type === "pointercancel") return;
    if (ended.moved && ended.kind === "scrub") gestures.seek(ns, true);
    else if (ended.moved && ended.kind === "brush") gestures.brush(Math.min(ended.startNs, ns), Math.max(ended.startNs, ns), true);
    else if (!ended.moved) {
      clearTimeout(clickTimer);
      clickTimer = window.setTimeout(() => gestures.seek(ns, true), DOUBLE_CLICK_MS);
    }
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => gestures.hover(null, 0));

  element.addEventListener("dblclick", () => {
    clearTimeout(clickTimer);
    gestures.whole();
  });

  element.addEventListener("wheel", (event) => {
    if (gestures.scrolls && !event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const { x, ns } = at(event);
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 40 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      const { span, width } = gestures.scale();
      gestures.pan(((sideways * unit) / width) * (span[1] - span[0]));
    } else {
      // A pinch on a touchpad arrives as a wheel with small steps and the control key.
      const fine = event.ctrlKey ? 8 : 1;
      gestures.zoom(2 ** ((event.deltaY * unit * fine) / WHEEL_DOUBLE_PIXELS), ns);
    }
    gestures.hover(ns, x);
  }, { passive: false });
}
