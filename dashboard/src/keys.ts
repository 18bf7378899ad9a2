// The keyboard. A key that a field or a button under the focus needs stays with it.

import type { Signal } from "@preact/signals";
import { pinTips, unpinAll } from "./panels/pins/pins";
import { TABS, toggleInspector } from "./panels/stage/stage";
import { toggleTimeline } from "./panels/timeline/shown";
import type { Actions } from "./state/actions";
import type { Looks } from "./state/looks";
import type { Store } from "./state/store";
import { nextTheme } from "./state/theme";
import { clock } from "./words";

/** Dialogs that keys open and close. */
export interface Dialogs { help: Signal<boolean>; find: Signal<boolean> }

export function listenKeys(store: Store, actions: Actions, looks: Looks, { help, find }: Dialogs, pins: () => HTMLElement | null): void {
  const acts: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => actions.toggle(),
    k: () => actions.toggle(),
    j: () => actions.play(-1),
    l: () => actions.play(1),
    ArrowLeft: (event) => actions.step(-1, event.shiftKey),
    ArrowRight: (event) => actions.step(1, event.shiftKey),
    Home: () => actions.toStart(),
    End: () => actions.toEnd(),
    ",": () => void actions.nextEvent(-1),
    ".": () => void actions.nextEvent(1),
    "<": () => actions.changeRate(-1),
    ">": () => actions.changeRate(1),
    w: () => actions.zoom(0.5),
    s: () => actions.zoom(2),
    a: () => actions.pan(-1),
    d: () => actions.pan(1),
    "+": () => actions.zoom(0.5),
    "=": () => actions.zoom(0.5),
    "-": () => actions.zoom(2),
    0: () => (store.zoom.value = null),
    "[": () => actions.markRange("from"),
    "]": () => actions.markRange("to"),
    f: () => actions.fit(),
    c: () => actions.toggleFollow(),
    i: toggleInspector,
    h: toggleTimeline,
    n: () => void actions.nextSimilar(1),
    N: () => void actions.nextSimilar(-1),
    m: () => (store.tab.value = "pending"),
    g: () => (store.tab.value = "paths"),
    u: (event) => undo(event, looks),
    U: (event) => undo(event, looks),
    p: () => void keepTips(pins(), store),
    "/": () => (find.value = true),
    t: nextTheme,
    "?": () => (help.value = !help.peek()),
    Escape: () => (help.peek() ? void (help.value = false) : escape(actions, pins())),
  };
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || find.peek()) return;
    if ((event.ctrlKey || event.metaKey) && !isField(event.target) && !help.peek() && event.key.toLowerCase() === "z") {
      event.preventDefault();
      undo(event, looks);
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (help.peek() && event.key !== "?" && event.key !== "Escape") return;
    if (needsKey(event.target, event.key)) return;
    // In a comparison no time passes, and there is one view.
    if (store.run.peek().compared && !["t", "?", "Escape"].includes(event.key)) return;
    const tab = TABS[Number(event.key) - 1];
    const act = acts[event.key] ?? (tab && (() => (store.tab.value = tab.id)));
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}

/** Whatever the shift lock says of letters, the shift key means forth. */
function undo(event: KeyboardEvent, looks: Looks): void {
  if (event.shiftKey) looks.redo();
  else looks.undo();
}

/** What was kept goes first, then what is selected, then the range. */
function escape(actions: Actions, layer: HTMLElement | null): void {
  if (layer && unpinAll(layer)) return;
  actions.clear();
}

function keepTips(layer: HTMLElement | null, store: Store): void {
  if (layer) pinTips(layer, `at ${clock(store.timeNs.peek(), 3)}`);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

/** After a click with the pointer, the space bar should play and not click again; Tab still goes on from there. */
export function leaveClickedButtons(): void {
  addEventListener("click", (event) => {
    const clicked = event.target instanceof Element ? event.target.closest<HTMLElement>("button, input[type=checkbox]") : null;
    if (event.detail > 0 && !clicked?.closest("dialog")) clicked?.blur();
  });
}

function needsKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" || key === " ";
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLButtonElement && key === " ";
}
