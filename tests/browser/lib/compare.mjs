// The page's figures against those of `mpiscope report --json`.

import { strict as assert } from "node:assert";
import { figures, number } from "./page.mjs";
import { until } from "./wait.mjs";

const UNITS = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** 12.3 µs, 4.5 MiB, −6 ms as a number of seconds or bytes. */
export function quantity(text) {
  const [, minus, digits, unit] = /^(\u2212?)([\d.\u2009]+) (\S+)$/.exec(text) ?? [];
  assert.ok(digits && UNITS[unit], `not a quantity: ${text}`);
  return number(digits) * UNITS[unit] * (minus ? -1 : 1);
}

/** What is written with three digits is this near to what it stands for. */
export function nearly(text, value, what) {
  const shown = quantity(text);
  assert.ok(Math.abs(shown - value) <= 0.00501 * Math.max(shown, value) + 1e-12, `${what}: the page says ${text}, the report ${value}`);
}

/** The inspector's figures of the run. */
export async function compareFigures(page, { totals, missing }) {
  const want = { calls: totals.calls, polls: totals.polls, messages: totals.messages, lost: totals.lost_calls, faults: missing.length };
  let shown;
  await until(() => `the page's figures are the report's; they are ${JSON.stringify(shown)}, not ${JSON.stringify(want)}`, async () => {
    shown = await figures(page);
    return Object.keys(want).every((key) => shown[key] === want[key]);
  }, 20_000);
  nearly(shown.payload, totals.bytes, "payload");
}

/** The table of functions. */
export function compareFunctions(rows, { functions }) {
  assert.deepEqual(rows.map((row) => row.function).sort(), functions.map(({ name }) => name).sort());
  for (const want of functions) {
    const row = rows.find((each) => each.function === want.name);
    assert.equal(number(row.calls), want.calls, `calls of ${want.name}`);
    assert.equal(number(row.polls), want.polls, `polls of ${want.name}`);
    nearly(row.bytes, want.bytes, `bytes of ${want.name}`);
    nearly(row.time, want.seconds, `time of ${want.name}`);
    nearly(row.p50, want.p50_ns / 1e9, `median of ${want.name}`);
    nearly(row.p99, want.p99_ns / 1e9, `99 of 100 of ${want.name}`);
    nearly(row.max, want.max_ns / 1e9, `longest of ${want.name}`);
  }
}
