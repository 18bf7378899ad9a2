// The legend: which colour is which function, how often it was called, and whether it is shown.
import { colourOf } from "../../palette";
import { count } from "../../words";
import type { ParticleFrame } from "../view";

/** Related functions stand together, in this order; families that are new come last. */
const FAMILY_ORDER = [
  "send", "receive", "complete", "probe", "rooted", "all", "neighbor", "barrier", "one-sided", "io", "communicator", "setup",
];
/** Counts change many times a second; nobody can read that. */
const LEAST_REFRESH_MS = 250;

/** What the feed says of a function. */
export type FunctionFact = ParticleFrame["functions"] extends ReadonlyMap<number, infer Fact> ? Fact : never;

export interface LegendEntry extends FunctionFact {
  /** Rows of calls and the polls folded into them. */
  made: number;
}

/** Functions that were called, also if no call of them has returned yet, families together, the most used first within a family. */
export function entriesOf(functions: ParticleFrame["functions"]): LegendEntry[] {
  const rankOf = (family: string): number => {
    const at = FAMILY_ORDER.indexOf(family);
    return at < 0 ? FAMILY_ORDER.length : at;
  };
  return [...functions.values()]
    .map((fact) => ({ ...fact, made: fact.calls + fact.polls }))
    .sort((one, other) => rankOf(one.family) - rankOf(other.family) || other.made - one.made || one.id - other.id);
}

/** What is hidden after a click: this one changes, or only this one is left; once more brings all back. */
export function hiddenAfter(hidden: ReadonlySet<number>, all: readonly number[], id: number, only: boolean): Set<number> {
  const next = new Set(hidden);
  if (!only) {
    if (!next.delete(id)) next.add(id);
    return next;
  }
  const others = all.filter((other) => other !== id);
  const already = !next.has(id) && others.every((other) => next.has(other));
  return already ? new Set() : new Set(others);
}

interface Row {
  button: HTMLButtonElement;
  swatch: HTMLElement;
  name: HTMLElement;
  number: HTMLElement;
}

export class Legend {
  readonly element: HTMLElement;
  readonly #list = document.createElement("ul");
  readonly #rows = new Map<number, Row>();
  #entries: LegendEntry[] = [];
  #hidden: ReadonlySet<number> = new Set();
  #order = "";
  #drawnAtMs = 0;
  #later: ReturnType<typeof setTimeout> | undefined;
  #clicked = { id: -1, atMs: 0, before: new Set<number>() as ReadonlySet<number> };

  constructor(readonly setHidden: (hidden: Set<number>) => void) {
    this.element = document.createElement("section");
    this.element.className = "particles-legend";
    this.element.setAttribute("aria-label", "Functions");
    const hint = document.createElement("p");
    hint.className = "particles-hint";
    hint.textContent = "Click hides; double click or Alt shows only one";
    this.#list.className = "particles-functions";
    this.element.append(this.#list, hint);
    this.element.hidden = true;
  }

  update(frame: ParticleFrame, nowMs: number): void {
    const changed = frame.hidden !== this.#hidden;
    clearTimeout(this.#later);
    const waitMs = this.#drawnAtMs + LEAST_REFRESH_MS - nowMs;
    if (!changed && waitMs > 0) {
      // No other frame may come.
      this.#later = setTimeout(() => this.update(frame, performance.now()), waitMs + 1);
      return;
    }
    this.#drawnAtMs = nowMs;
    this.#hidden = frame.hidden;
    this.#entries = entriesOf(frame.functions);
    const order = this.#entries.map(({ id }) => id).join();
    for (const entry of this.#entries) this.#update(entry, frame);
    if (order === this.#order) return;
    this.#order = order;
    const focused = document.activeElement;
    this.#list.replaceChildren(
      ...this.#entries.map(({ id }) => {
        const item = document.createElement("li");
        item.append(this.#rows.get(id)!.button);
        return item;
      }),
    );
    if (focused instanceof HTMLElement && this.#list.contains(focused)) focused.focus({ preventScroll: true });
    this.element.hidden = this.#entries.length === 0;
  }

  #update(entry: LegendEntry, frame: ParticleFrame): void {
    let row = this.#rows.get(entry.id);
    if (row === undefined) {
      row = this.#make(entry.id);
      this.#rows.set(entry.id, row);
    }
    const shown = !frame.hidden.has(entry.id);
    const set = (element: HTMLElement, text: string): void => {
      if (element.textContent !== text) element.textContent = text;
    };
    set(row.name, entry.name);
    set(row.number, count(entry.made));
    const colour = colourOf(entry.name, entry.family)[frame.theme];
    row.swatch.style.setProperty("--swatch", colour);
    row.button.setAttribute("aria-pressed", String(shown));
    const polls = entry.polls > 0 ? `, of them ${count(entry.polls)} folded polls` : "";
    row.button.title = `${entry.name}: ${count(entry.made)} calls${polls}${shown ? "" : " (hidden)"}`;
  }

  #make(id: number): Row {
    const button = document.createElement("button");
    button.type = "button";
    const make = (name: string): HTMLElement => {
      const element = document.createElement("span");
      element.className = name;
      button.append(element);
      return element;
    };
    const row = { button, swatch: make("particles-swatch"), name: make("particles-name"), number: make("particles-number") };
    button.addEventListener("click", (event) => this.#click(id, event));
    return row;
  }

  #click(id: number, event: MouseEvent): void {
    const all = this.#entries.map((entry) => entry.id);
    const nowMs = performance.now();
    const second = event.detail === 2 && this.#clicked.id === id && nowMs - this.#clicked.atMs < 600;
    // The first click of a double click hid it; "only this" counts from what was before that.
    const before = second ? this.#clicked.before : this.#hidden;
    this.#clicked = { id, atMs: nowMs, before: this.#hidden };
    this.setHidden(hiddenAfter(before, all, id, second || event.altKey));
  }
}
