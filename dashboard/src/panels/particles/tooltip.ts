// The tooltip of a call and the rings around calls: plain elements over the canvases.
import { describe } from "./describe";
import type { CallText } from "../view";

const AWAY_PX = 14;

export class Tooltip {
  readonly element = document.createElement("div");
  #shown: CallText | null = null;

  constructor() {
    this.element.className = "particles-tip";
    this.element.setAttribute("role", "tooltip");
    this.element.hidden = true;
  }

  /** Beside a point of the host, on the side where there is room. */
  show(call: CallText, colour: string, xPx: number, yPx: number, hostWidthPx: number, hostHeightPx: number): void {
    if (this.#shown !== call) {
      this.#shown = call;
      this.element.replaceChildren(...rowsOf(call, colour));
      this.element.hidden = false;
    }
    const { offsetWidth, offsetHeight } = this.element;
    const left = xPx + AWAY_PX + offsetWidth > hostWidthPx ? Math.max(0, xPx - AWAY_PX - offsetWidth) : xPx + AWAY_PX;
    const top = Math.max(0, Math.min(yPx + AWAY_PX, hostHeightPx - offsetHeight));
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.#shown = null;
    this.element.hidden = true;
  }
}

function rowsOf(call: CallText, colour: string): HTMLElement[] {
  const [[, name] = ["", call.name], ...rest] = describe(call);
  const head = document.createElement("p");
  const swatch = document.createElement("span");
  swatch.className = "particles-swatch";
  swatch.style.setProperty("--swatch", colour);
  head.append(swatch, name);
  const list = document.createElement("dl");
  for (const [label, value] of rest) {
    const term = document.createElement("dt");
    term.textContent = label;
    const text = document.createElement("dd");
    text.textContent = value;
    list.append(term, text);
  }
  return [head, list];
}

/** A ring around a particle. */
export class Ring {
  readonly element = document.createElement("div");

  constructor(kind: "hover" | "pin") {
    this.element.className = `particles-ring particles-ring-${kind}`;
    this.element.hidden = true;
  }

  at(xPx: number, yPx: number, sizePx: number): void {
    this.element.hidden = false;
    this.element.style.width = `${sizePx}px`;
    this.element.style.height = `${sizePx}px`;
    this.element.style.transform = `translate(${xPx - sizePx / 2}px, ${yPx - sizePx / 2}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
