// What the user sets for the particle view, and what it says about itself.

export interface Settings {
  /** O_min of the history, 0..1. */
  leastOpacity: number;
  /** Times the size that suits the number of ranks. */
  sizeFactor: number;
  unitNs: number;
}

export interface Orders {
  changed(settings: Settings): void;
  clearHistory(): void;
  clearFading(): void;
  pngOfView(): void;
  pngOfRun(): void;
}

const UNIT_NAMES: readonly [number, string][] = [
  [1e3, "1 µs"],
  [1e6, "1 ms"],
  [1e9, "1 s"],
];

export class Controls {
  readonly element = document.createElement("div");
  readonly settings: Settings = { leastOpacity: 0.3, sizeFactor: 1, unitNs: 1e3 };
  /** One line over the plot: what is seen, and of how much. */
  readonly status = document.createElement("p");
  readonly #history: HTMLButtonElement;
  readonly #run: HTMLButtonElement;
  readonly #view: HTMLButtonElement;

  constructor(readonly orders: Orders) {
    this.element.className = "particles-tools";
    this.status.className = "particles-status";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Particle view");
    this.#history = button("Clear history", "The history starts again from this moment", () => orders.clearHistory());
    this.#run = button("Run", "Saves a PNG of the whole run's history", () => orders.pngOfRun());
    this.#run.setAttribute("aria-label", "PNG of the whole run's history");
    this.#view = button("View", "Saves a PNG of the view", () => orders.pngOfView());
    this.#view.setAttribute("aria-label", "PNG of the view");
    this.element.append(
      this.#slider("History", "Least opacity of the history", 0.02, 1, 0.02, "leastOpacity", (value) => `${Math.round(value * 100)} %`),
      this.#slider("Size", "Size of the particles", 0.5, 3, 0.1, "sizeFactor", (value) => `x${value.toFixed(1)}`),
      this.#unit(),
      this.#history,
      button("Clear fading", "Takes away the calls that ended before now", () => orders.clearFading()),
      named("PNG", this.#view, this.#run),
    );
  }

  say(text: string, more: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
    if (this.status.title !== more) this.status.title = more;
  }

  /** After clearing, the same button brings the whole history back. */
  historyCleared(cleared: boolean): void {
    this.#history.textContent = cleared ? "Restore history" : "Clear history";
    this.#history.title = cleared ? "Shows the history from the start of the run" : "The history starts again from this moment";
  }

  /** While a picture is made, no second one is begun. */
  busy(making: boolean): void {
    for (const button of [this.#run, this.#view]) button.disabled = making;
  }

  #slider(
    word: string, name: string, least: number, most: number, step: number,
    key: "leastOpacity" | "sizeFactor", say: (value: number) => string,
  ): HTMLElement {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "range";
    input.min = String(least);
    input.max = String(most);
    input.step = String(step);
    input.value = String(this.settings[key]);
    input.setAttribute("aria-label", name);
    input.title = name;
    const tell = (): void => input.setAttribute("aria-valuetext", say(this.settings[key]));
    input.addEventListener("input", () => {
      this.settings[key] = input.valueAsNumber;
      tell();
      this.orders.changed(this.settings);
    });
    tell();
    label.append(word, input);
    return label;
  }

  #unit(): HTMLElement {
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.setAttribute("aria-label", "Unit of the time scale");
    select.title = "Below the unit the scale is linear, above it logarithmic";
    for (const [unitNs, name] of UNIT_NAMES) {
      const option = document.createElement("option");
      option.value = String(unitNs);
      option.textContent = name;
      select.append(option);
    }
    select.value = String(this.settings.unitNs);
    select.addEventListener("change", () => {
      this.settings.unitNs = Number(select.value);
      this.orders.changed(this.settings);
    });
    label.append("Unit", select);
    return label;
  }
}

function named(word: string, ...elements: HTMLElement[]): HTMLElement {
  const group = document.createElement("span");
  group.className = "particles-named";
  group.append(word, ...elements);
  return group;
}

function button(text: string, title: string, press: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.title = title;
  element.addEventListener("click", press);
  return element;
}
