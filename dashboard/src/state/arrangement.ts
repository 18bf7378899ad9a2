// How somebody has arranged the page: which face of a view, sorted how, what is beside what. Kept for the next visit, and
// part of the address: a link shows a colleague the same.

import { signal, type Signal } from "@preact/signals";
import { storedText, storeText } from "./storage";

const KEY = "mpiscope-arrangement";
/** Names are short and the choices few; what is longer was not written by this page. */
const WORD = /^[\w.-]{1,40}$/;

interface Setting { chosen: Signal<string>; first: string; isAllowed(word: string): boolean }

const settings = new Map<string, Setting>();
/** What the address or an earlier visit said of settings that no view has asked for yet. */
let unclaimed = earlier();

/** The same signal for the same name, whoever asks. */
export function remembered<Choice extends string>(name: string, first: Choice, allowed: readonly Choice[]): Signal<Choice> {
  return rememberedWord(name, first, (word) => (allowed as readonly string[]).includes(word)) as Signal<string> as Signal<Choice>;
}

/** Likewise, for what is no choice among a few. A word that an address cannot hold is not kept. */
export function rememberedWord(name: string, first: string, isAllowed: (word: string) => boolean = () => true): Signal<string> {
  const before = settings.get(name);
  if (before) return before.chosen;
  const word = unclaimed.get(name);
  const chosen = signal(word !== undefined && isAllowed(word) ? word : first);
  settings.set(name, { chosen, first, isAllowed });
  return chosen;
}

/** What differs from how a new page looks, and what the address said of views that did not come up yet. */
export function arrangement(): ReadonlyMap<string, string> {
  const all = new Map([...unclaimed].filter(([name]) => !settings.has(name)));
  for (const [name, { chosen, first }] of settings) {
    if (chosen.value !== first && isSetting(name, chosen.value)) all.set(name, chosen.value);
  }
  return all;
}

/** An address says all: what it does not name is as on a new page. */
export function arrange(all: ReadonlyMap<string, string>): void {
  unclaimed = new Map(all);
  for (const [name, { chosen, first, isAllowed }] of settings) {
    const word = all.get(name);
    chosen.value = word !== undefined && isAllowed(word) ? word : first;
  }
}

export function keep(): void {
  storeText(KEY, JSON.stringify(Object.fromEntries(arrangement())));
}

function earlier(): Map<string, string> {
  try {
    const kept: unknown = JSON.parse(storedText(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return new Map();
    return new Map(Object.entries(kept).filter((entry): entry is [string, string] => isSetting(entry[0], entry[1])));
  } catch {
    return new Map();
  }
}

/** Names have a dot, which no other part of the address has. */
export function isSetting(name: string, word: unknown): word is string {
  return WORD.test(name) && name.includes(".") && typeof word === "string" && WORD.test(word);
}
