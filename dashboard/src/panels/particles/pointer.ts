// Hover, pin and keyboard: which call is meant, where it is now, and the tooltip and rings that say so.
import type { Calls, InFlight } from "../../feed/calls";
import { clock, duration } from "../../words";
import { callText, inFlightText } from "./describe";
import { place, type Moment, type Placed } from "./moment";
import { nearest, neighbour, type Direction, type ParticleHit } from "./nearest";
import { STRIDE, type Packed } from "./pack";
import { everyOne, type Selected } from "./sampling";
import { Ring, Tooltip } from "./tooltip";
import type { CallText, ParticleServices } from "../view";

/** How far from a particle it is still meant. */
const REACH_PX = 9;

/** What is drawn, in CSS pixels of the plot. */
export interface Scene {
  moment: Moment;
  groups: readonly Selected[];
  /** Where the calls of each group come from. */
  sources: readonly (Calls | InFlight)[];
  left: number;
  top: number;
  nameOf(functionId: number): string;
  colourOf(functionId: number): string;
}

/** A call that is held on to, whatever becomes of the tile it came from. */
interface PickedCall {
  text: CallText;
  selected: Selected;
}

const ARROWS: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

function one(packed: Packed, position: number): Selected {
  const data = packed.data.slice(position * STRIDE, (position + 1) * STRIDE);
  const single = new Uint32Array(1);
  return everyOne({ ...packed, length: 1, data, source: single, shuffled: single });
}

export class Pointer {
  readonly elements: HTMLElement[];
  readonly #tooltip = new Tooltip();
  readonly #hoverRing = new Ring("hover");
  readonly #pinRing = new Ring("pin");
  readonly #spoken = document.createElement("div");
  readonly #gone = new AbortController();
  #scene: Scene | null = null;
  #at: { xPx: number; yPx: number } | null = null;
  #hovered: PickedCall | null = null;
  #pinned: PickedCall | null = null;
  #byKeys = false;

  constructor(
    readonly plot: HTMLElement,
    readonly services: ParticleServices,
  ) {
    this.#spoken.className = "particles-spoken";
    this.#spoken.setAttribute("aria-live", "polite");
    this.elements = [this.#hoverRing.element, this.#pinRing.element, this.#tooltip.element, this.#spoken];
    const options = { signal: this.#gone.signal };
    plot.addEventListener("pointermove", (event) => this.#move(event), options);
    plot.addEventListener("pointerleave", () => this.#leave(), options);
    plot.addEventListener("click", () => (this.#hovered === null ? this.#release() : this.#pin()), options);
    plot.addEventListener("keydown", (event) => this.#key(event), options);
    plot.addEventListener("blur", () => this.#leave(), options);
  }

  /** Called after each drawing: rings follow their calls. */
  follow(scene: Scene, callsChanged: boolean): void {
    this.#scene = scene;
    if (callsChanged && this.#pinned?.text.endNs === null && !this.#isKnown(this.#pinned, scene)) this.#pinned = null;
    if (callsChanged && this.#hovered?.text.endNs === null && !this.#isKnown(this.#hovered, scene)) this.#hover(null);
    const pinnedAt = this.#pinned === null ? null : this.#placeOf(this.#pinned, scene);
    if (pinnedAt === null) this.#pinRing.hide();
    else this.#pinRing.at(scene.left + pinnedAt.xPx, scene.top + scene.moment.heightPx - pinnedAt.yPx, ringPx(scene) + 4);
    if (this.#at === null) return;
    if (!this.#byKeys && this.#hovered === null) this.#hover(this.#find());
    this.#showHovered(scene);
  }

  #showHovered(scene: Scene): void {
    const call = this.#hovered;
    const at = call === null ? null : this.#placeOf(call, scene);
    if (call === null || at === null) {
      if (call !== null) this.#hover(null);
      return;
    }
    const xPx = scene.left + at.xPx;
    const yPx = scene.top + scene.moment.heightPx - at.yPx;
    this.#hoverRing.at(xPx, yPx, ringPx(scene));
    const { clientWidth, clientHeight } = this.plot;
    this.#tooltip.show(call.text, scene.colourOf(call.text.function), xPx, yPx, clientWidth, clientHeight);
  }

  #placeOf(call: PickedCall, scene: Scene): Placed | null {
    const placed: Placed = { xPx: 0, yPx: 0, strength: 0, running: false, function: 0 };
    return place(scene.moment, call.selected, 0, placed) ? placed : null;
  }

  /**
   * A call that was inside MPI when it was held may have left: from now on it is the call that ended. False when it is
   * neither among those that ended nor among those inside: sampling left it out, or it was lost.
   */
  #isKnown(call: PickedCall, scene: Scene): boolean {
    const { rank, thread, startNs } = call.text;
    for (const [group, source] of scene.sources.entries()) {
      const { packed } = scene.groups[group]!;
      const starts = "durationNs" in source ? source.startNs : source.sinceNs;
      const position = packed.source.findIndex(
        (at) => starts[at] === startNs && source.rank[at] === rank && source.thread[at] === thread,
      );
      if (position < 0) continue;
      if (!("durationNs" in source)) return true;
      call.text = callText(source, packed.source[position]!, call.text.name);
      call.selected = one(packed, position);
      if (call === this.#pinned) this.services.select(call.text);
      return true;
    }
    return false;
  }

  #hold(found: ParticleHit, scene: Scene): PickedCall {
    const { packed } = scene.groups[found.group]!;
    const source = scene.sources[found.group]!;
    const at = packed.source[found.position]!;
    const name = scene.nameOf(source.function[at]!);
    const text = "durationNs" in source ? callText(source, at, name) : inFlightText(source, at, name);
    return { text, selected: one(packed, found.position) };
  }

  #find(): PickedCall | null {
    const scene = this.#scene;
    if (scene === null || this.#at === null) return null;
    const xPx = this.#at.xPx - scene.left;
    const yPx = scene.top + scene.moment.heightPx - this.#at.yPx;
    const found = nearest(scene.moment, scene.groups, xPx, yPx, Math.max(REACH_PX, scene.moment.sizePx));
    return found === null ? null : this.#hold(found, scene);
  }

  #hover(call: PickedCall | null): void {
    const before = this.#hovered;
    if (before === null && call === null) return;
    this.#hovered = call;
    if (call === null) {
      this.#hoverRing.hide();
      this.#tooltip.hide();
      this.services.hover(null, 0, 0);
      return;
    }
    const box = this.plot.getBoundingClientRect();
    this.services.hover(call.text, box.left + (this.#at?.xPx ?? 0), box.top + (this.#at?.yPx ?? 0));
  }

  #move(event: PointerEvent): void {
    const box = this.plot.getBoundingClientRect();
    this.#at = { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
    this.#byKeys = false;
    this.#hover(this.#find());
    if (this.#scene !== null) this.#showHovered(this.#scene);
    this.plot.style.cursor = this.#hovered === null ? "" : "pointer";
  }

  #leave(): void {
    this.#at = null;
    this.#hover(null);
  }

  #pin(): void {
    if (this.#hovered === null) return;
    this.#pinned = { ...this.#hovered };
    this.services.select(this.#pinned.text);
    if (this.#scene !== null) this.follow(this.#scene, false);
  }

  #key(event: KeyboardEvent): void {
    const scene = this.#scene;
    const direction = ARROWS[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey || scene === null) return;
    if (direction !== undefined) this.#step(direction, scene);
    else if (event.key === "Enter" && this.#hovered !== null) this.#pin();
    else if (event.key === "Escape" && (this.#pinned !== null || this.#hovered !== null)) this.#release();
    else return;
    // The shell's keys (stepping in time) are not meant while a call is chosen here.
    event.preventDefault();
    event.stopPropagation();
  }

  #release(): void {
    const pinned = this.#pinned !== null;
    this.#pinned = null;
    this.#pinRing.hide();
    this.#leave();
    if (pinned) this.services.select(null);
  }

  #step(direction: Direction, scene: Scene): void {
    const { moment } = scene;
    const from = this.#hovered === null ? null : this.#placeOf(this.#hovered, scene);
    const everywhere = Math.max(moment.widthPx, moment.heightPx);
    const found =
      from === null
        ? nearest(moment, scene.groups, moment.widthPx / 2, moment.heightPx / 2, everywhere)
        : neighbour(moment, scene.groups, from.xPx, from.yPx, direction);
    if (found === null) return;
    this.#byKeys = true;
    this.#at = { xPx: scene.left + found.xPx, yPx: scene.top + moment.heightPx - found.yPx };
    const call = this.#hold(found, scene);
    this.#hover(call);
    this.#showHovered(scene);
    const { text } = call;
    const long = text.endNs === null ? "still inside" : duration(text.endNs - text.startNs);
    this.#spoken.textContent = `${text.name}, rank ${text.rank}, ${long}, started at ${clock(text.startNs, 6)}`;
  }

  dispose(): void {
    this.#gone.abort();
  }
}

function ringPx(scene: Scene): number {
  return scene.moment.sizePx + 8;
}
