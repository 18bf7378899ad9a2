// What was looked at before, to go back to: a list of states with a place in it. Pure; no clock of its own.

/** Enough to find back from any wrong turn. */
const STEPS_MAX = 100;
/** A wheel or a drag changes something many times; that is one step. */
const ONE_STEP_MS = 600;

export interface Past<State> { before: readonly State[]; after: readonly State[]; changedMs: number; changed: string }

export function noPast<State>(): Past<State> {
  return { before: [], after: [], changedMs: -Infinity, changed: "" };
}

/** `state` was left for another by changing `what`. */
export function left<State>(past: Past<State>, state: State, what: string, nowMs: number): Past<State> {
  const goesOn = what === past.changed && nowMs - past.changedMs < ONE_STEP_MS && past.before.length > 0;
  return { before: goesOn ? past.before : [...past.before, state].slice(-STEPS_MAX), after: [], changedMs: nowMs, changed: what };
}

/** Goes back from `state`; null where nothing is before it. */
export function back<State>(past: Past<State>, state: State): { past: Past<State>; state: State } | null {
  const found = past.before.at(-1);
  if (found === undefined) return null;
  return { state: found, past: { before: past.before.slice(0, -1), after: [...past.after, state], changedMs: -Infinity, changed: "" } };
}

export function forth<State>(past: Past<State>, state: State): { past: Past<State>; state: State } | null {
  const found = past.after.at(-1);
  if (found === undefined) return null;
  return { state: found, past: { before: [...past.before, state], after: past.after.slice(0, -1), changedMs: -Infinity, changed: "" } };
}
