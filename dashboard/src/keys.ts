// The keyboard. A key that a field or a button under the focus needs stays with it.

import type { Signal } from "@preact/signals";
import { TABS } from "./panels/stage/stage";
import type { Actions } from "./state/actions";
import type { Store } from "./state/store";
import { edgeNs } from "./state/run";
import { wholeRun, zoomed } from "./state/span";
import { nextTheme } from "./state/theme";

export function listenKeys(store: Store, actions: Actions, help: Signal<boolean>): void {
  const zoom = (factor: number): void => {
    const edge = edgeNs(store.run.peek());
    const span = store.zoom.peek() ?? wholeRun(edge);
    const cursorNs = store.timeNs.peek();
    const at = cursorNs >= span[0] && cursorNs <= span[1] ? cursorNs : (span[0] + span[1]) / 2;
    store.zoom.value = zoomed(span, factor, at, edge);
  };
  const acts: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => actions.toggle(),
    k: () => actions.toggle(),
    j: () => actions.play(-1),
    l: () => actions.play(1),
    ArrowLeft: (event) => actions.step(-1, event.shiftKey),
    ArrowRight: (event) => actions.step(1, event.shiftKey),
    Home: () => actions.toStart(),
    End: () => actions.toEnd(),
    ",": () => actions.changeRate(-1),
    ".": () => actions.changeRate(1),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => (store.zoom.value = null),
    "[": () => actions.markRange("from"),
    "]": () => actions.markRange("to"),
    f: () => actions.toggleFollow(),
    t: nextTheme,
    "?": () => (help.value = !help.peek()),
    Escape: () => (help.peek() ? void (help.value = false) : actions.clear()),
  };
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
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
