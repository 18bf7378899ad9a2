// Says beside figures what they are of, where something is selected.

import type { Store } from "../state/store";
import { ofWhat } from "../words/selected";

export function SelectedNote({ store }: { store: Store }) {
  const words = ofWhat(store.scope.value, store.selected.value, store.shownFigures.value);
  return words ? <span class="soft selected-note" role="status" title={words.title}>{words.text}</span> : null;
}

/** Beside what is of the whole run whatever is selected. */
export function WholeRunNote({ store }: { store: Store }) {
  return store.scope.value ? <span class="soft selected-note">of the whole run</span> : null;
}
