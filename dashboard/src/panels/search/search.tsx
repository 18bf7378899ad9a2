// Finds what somebody names: type, choose with the arrows, Enter goes there, Shift+Enter narrows all views to it.

import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Sites } from "../../feed/call-sites";
import type { Actions } from "../../state/actions";
import { type Result, search } from "../../state/search";
import type { Store } from "../../state/store";
import { meaningOf, takeUp } from "./meaning";

const NO_SITES: Sites = new Map();

interface SearchProps { store: Store; actions: Actions; isOpen: Signal<boolean>; views: readonly { id: string; label: string }[] }

export function Search({ store, actions, isOpen, views }: SearchProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const query = useSignal("");
  const at = useSignal(0);
  const sites = useSignal<Sites>(NO_SITES);
  const open = isOpen.value;
  // Before the next key comes: it is the first letter of what is sought.
  useLayoutEffect(() => {
    if (!open) {
      if (!dialog.current?.open) return;
      dialog.current.close();
      // A field that is gone has the focus until the next picture, and the keys until then with it.
      input.current?.blur();
      return;
    }
    query.value = "";
    at.value = 0;
    dialog.current?.showModal();
    // Without them the rest is found all the same.
    store.questions.sites().then((found) => (sites.value = found), () => undefined);
  }, [open, query, at, sites, store]);
  const found = (): Result[] => search(query.value, { run: store.figures.value, sites: sites.value, views });
  const currentOf = (all: readonly Result[]): number => Math.min(at.value, all.length - 1);
  const results = open ? found() : [];
  const current = currentOf(results);
  const take = (result: Result | undefined, isNarrow: boolean): void => {
    if (!result) return;
    isOpen.value = false;
    takeUp(result.hit, isNarrow, store, actions);
  };
  const keys = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    // What was typed counts, shown already or not: keys come faster than pictures.
    const all = found();
    if (by !== 0 && all.length > 0) at.value = (currentOf(all) + by + all.length) % all.length;
    else if (event.key === "Enter") take(all[currentOf(all)], event.shiftKey);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="search" aria-label="Find" onCancel={(event) => {
      event.preventDefault();
      isOpen.value = false;
    }} onClick={(event) => {
      if (event.target === dialog.current) isOpen.value = false;
    }}>
      <input ref={input} type="text" role="combobox" aria-label="Find" aria-expanded={results.length > 0} aria-controls="found" aria-activedescendant={results.length > 0 ? `found-${current}` : undefined}
        placeholder="Rank, ranks 0-15, function, longest recv rank 3, slowest message, call site, node, region, time, view" value={query.value} spellcheck={false} autocomplete="off"
        onInput={(event) => {
          query.value = event.currentTarget.value;
          at.value = 0;
        }} onKeyDown={keys} />
      <ul id="found" role="listbox" aria-label="Found">
        {results.map((result, index) => (
          <li key={`${result.hit.kind}/${result.title}`} id={`found-${index}`} role="option" aria-selected={index === current}
            onPointerMove={() => (at.value = index)} onClick={(event) => take(result, event.shiftKey)}>
            <span class="title">{result.title}</span><span class="soft">{result.kind}</span>
          </li>
        ))}
      </ul>
      <p class="soft small">{query.value.trim() === "" ? "Enter goes there, Shift+Enter narrows all views to it." : results.length === 0 ? "Nothing has this name." : meaningOf(results[current]?.hit ?? null)}</p>
    </dialog>
  );
}
