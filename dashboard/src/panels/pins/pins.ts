// Tooltips that stay: a key keeps whatever tooltip is shown at the moment as a card that can be moved and closed, to
// compare two things in numbers.

const PINS_MAX = 8;
const STEP_PIXELS = 16;

/** Keeps the tooltips that are shown now. Returns how many there were. */
export function pinTips(layer: HTMLElement, label: string): number {
  const shown = [...document.querySelectorAll<HTMLElement>(".tip, [role=tooltip]")].filter((tip) => !layer.contains(tip) && isSeen(tip));
  for (const tip of shown) pin(layer, tip, label);
  while (layer.childElementCount > PINS_MAX) layer.firstElementChild?.remove();
  return shown.length;
}

export function unpinAll(layer: HTMLElement): boolean {
  const any = layer.childElementCount > 0;
  layer.replaceChildren();
  return any;
}

function isSeen(tip: HTMLElement): boolean {
  const { width, height } = tip.getBoundingClientRect();
  return width > 0 && height > 0 && getComputedStyle(tip).visibility !== "hidden" && Number(getComputedStyle(tip).opacity) > 0;
}

function pin(layer: HTMLElement, tip: HTMLElement, label: string): void {
  const box = tip.getBoundingClientRect();
  const card = document.createElement("section");
  card.className = "pin";
  card.tabIndex = 0;
  card.setAttribute("aria-label", `Kept: ${tip.textContent ?? ""}`);
  const head = document.createElement("div");
  head.className = "head";
  const words = document.createElement("span");
  words.textContent = label;
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "\u00d7";
  close.setAttribute("aria-label", "Close what was kept");
  close.addEventListener("click", () => card.remove());
  head.append(words, close);
  const copy = tip.cloneNode(true) as HTMLElement;
  copy.removeAttribute("style");
  copy.classList.add("kept");
  card.append(head, copy);
  let [left, top] = [box.left, Math.max(0, box.top - STEP_PIXELS)];
  const place = (x: number, y: number): void => {
    [left, top] = [Math.max(0, Math.min(innerWidth - 80, x)), Math.max(0, Math.min(innerHeight - 32, y))];
    card.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };
  layer.append(card);
  place(left, top);
  head.addEventListener("pointerdown", (event) => {
    if (event.target === close) return;
    const grip = { x: event.clientX - left, y: event.clientY - top };
    head.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => place(moved.clientX - grip.x, moved.clientY - grip.y);
    head.addEventListener("pointermove", move);
    head.addEventListener("pointerup", () => head.removeEventListener("pointermove", move), { once: true });
  });
  card.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by) place(left + (by[0] ?? 0) * STEP_PIXELS, top + (by[1] ?? 0) * STEP_PIXELS);
    else if (event.key === "Delete" || event.key === "Escape") card.remove();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
