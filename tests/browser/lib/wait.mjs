// Waiting for things to become true, never for a time.

import { debuglog } from "node:util";
import { Patience } from "./patience.mjs";

export const PATIENCE_MS = 90_000;

/** NODE_DEBUG=waits says what took how long. */
const say = debuglog("waits");
const tell = (what, sinceMs) => say("%d ms: %s", Math.round(performance.now() - sinceMs), what);

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks until `look` returns something true, and returns that; else fails with what was waited for and last seen. */
export async function until(what, look, limitMs = PATIENCE_MS) {
  const startMs = performance.now();
  const patience = new Patience(limitMs);
  for (;;) {
    const last = await look();
    if (last) {
      tell(what, startMs);
      return last;
    }
    if (patience.isOver()) throw new Error(`not within ${limitMs / 1000} s: ${typeof what === "function" ? await what() : what}`);
    await pause(60);
  }
}

/** The value once it is the same several times in a row: after a change has been worked through. */
export async function settled(what, look, times = 3, everyMs = 150, limitMs = PATIENCE_MS) {
  const startMs = performance.now();
  const patience = new Patience(limitMs);
  let value = JSON.stringify(await look());
  for (let same = 1; same < times; ) {
    await pause(everyMs);
    const next = JSON.stringify(await look());
    same = next === value ? same + 1 : 1;
    value = next;
    if (patience.isOver()) throw new Error(`does not come to rest within ${limitMs / 1000} s: ${what}`);
  }
  tell(what, startMs);
  return JSON.parse(value);
}
