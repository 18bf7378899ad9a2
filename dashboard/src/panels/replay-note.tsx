// Beside kinds of time that are measured call by call: what of them the verdict calls by another name, and where that is.

import { useComputed } from "@preact/signals";
import type { Store } from "../state/store";
import { isSettled, replayNote } from "../words/found";
import { WHAT_IF, show } from "./why/sections";

export function ReplayNote({ store }: { store: Store }) {
  const words = useComputed(() => {
    const { found } = store.figures.value;
    return found && isSettled(found) ? replayNote(found.diagnosis) : null;
  }).value;
  return words && <p class="soft small replay-note">{words} <button type="button" class="link" title="What the run would take without it, in the tab Causes" onClick={() => show(store, WHAT_IF)}>See Why</button></p>;
}
