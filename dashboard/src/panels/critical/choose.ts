// A step of the path that was clicked leads to its call.

import { NONE } from "../../feed/calls";
import { type CriticalPath, endNs, kindOf } from "../../feed/critical";
import type { Selection, Store } from "../../state/store";
import { callText } from "../particles/describe";

/** Longer looks for the call are not worth the wait. */
const CALLS_MOST = 200;

export async function chooseStep(store: Store, path: CriticalPath, step: number): Promise<void> {
  const [rank, start, end] = [path.rank[step] ?? 0, path.startNs[step] ?? 0, endNs(path, step)];
  store.command({ do: "seek", time_ns: start });
  const selected: Selection = { kind: "rank", rank };
  store.selection.value = selected;
  // Computing leads to the call that follows.
  const from = kindOf(path, step) === "compute" ? Math.max(start, end - 1) : start;
  const calls = await store.questions.calls([from, end + 2], [[rank, rank]], CALLS_MOST).catch(() => null);
  // Something else may have been chosen meanwhile.
  if (!calls || store.selection.peek() !== selected) return;
  let found = -1;
  for (let at = 0; at < calls.length; at++) {
    if (calls.function[at] !== path.function[step]) continue;
    if (found < 0 || (calls.startNs[at] ?? 0) > (calls.startNs[found] ?? 0)) found = at;
  }
  if (found < 0) return;
  const id = calls.function[found] ?? NONE;
  store.selection.value = { kind: "call", call: callText(calls, found, store.run.peek().functions.get(id)?.name ?? `function ${id}`) };
}
