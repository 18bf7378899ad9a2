// What a pointer does to a picture, in pixels of its element: it hovers, presses, then drags or clicks; and the wheel turns.
// What that means is the picture's. And arrows of the keyboard.

export type At = [x: number, y: number];

export interface Gestures<Press> {
  /** Nothing is pressed. */
  hover(x: number, y: number, event: PointerEvent): void;
  leave(): void;
  /** What begins; null: nothing does. */
  press(x: number, y: number, event: PointerEvent): Press | null;
  /** `right` and `down`: how far since the last event. */
  drag(press: Press, x: number, y: number, right: number, down: number): void;
  drop?(press: Press, x: number, y: number): void;
  click(press: Press, x: number, y: number): void;
  /** Nothing is pressed any more, whether it was dropped, clicked or taken away. */
  rest?(): void;
  wheel(event: WheelEvent, x: number, y: number): void;
}

/** A press that moves less is a click. */
const CLICK_PIXELS = 4;
const WHEEL = 0.0016;
const LINE_PIXELS = 24;

export function placeIn(element: Element, event: MouseEvent): At {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** By which factor a wheel makes a picture larger. */
export function wheelFactor({ deltaMode, deltaY }: WheelEvent): number {
  return Math.exp(-WHEEL * (deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS * deltaY : deltaY));
}

/** Where an arrow on the keyboard leads along a row: on, back, or nowhere. */
export function sideways({ key }: KeyboardEvent): 1 | -1 | 0 {
  return key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
}

/** Tells of them until the signal ends. */
export function listenGestures<Press>(element: HTMLElement, signal: AbortSignal, gestures: Gestures<Press>): void {
  let pressed: { press: Press; startX: number; startY: number; lastX: number; lastY: number; isDrag: boolean } | null = null;
  element.addEventListener("pointerdown", (event) => {
    const [x, y] = placeIn(element, event);
    const press = gestures.press(x, y, event);
    if (press === null) return;
    pressed = { press, startX: x, startY: y, lastX: x, lastY: y, isDrag: false };
    element.setPointerCapture(event.pointerId);
  }, { signal });
  element.addEventListener("pointermove", (event) => {
    const [x, y] = placeIn(element, event);
    if (!pressed) return gestures.hover(x, y, event);
    pressed.isDrag ||= Math.hypot(x - pressed.startX, y - pressed.startY) > CLICK_PIXELS;
    if (!pressed.isDrag) return;
    gestures.drag(pressed.press, x, y, x - pressed.lastX, y - pressed.lastY);
    [pressed.lastX, pressed.lastY] = [x, y];
  }, { signal });
  const end = (event: PointerEvent): void => {
    if (!pressed) return;
    const { press, isDrag } = pressed;
    pressed = null;
    const [x, y] = placeIn(element, event);
    if (event.type === "pointerup" && isDrag) gestures.drop?.(press, x, y);
    else if (event.type === "pointerup") gestures.click(press, x, y);
    gestures.rest?.();
  };
  element.addEventListener("pointerup", end, { signal });
  element.addEventListener("pointercancel", end, { signal });
  element.addEventListener("pointerleave", () => gestures.leave(), { signal });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    gestures.wheel(event, ...placeIn(element, event));
  }, { passive: false, signal });
}
