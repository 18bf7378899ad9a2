// How long the calls of a function took: its histogram, the calls of a bar, and the longest call by its name.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { nearly } from "../lib/compare.mjs";
import { inspector, number, showTimeline, tab, table, untilState } from "../lib/page.mjs";
import { replay, report } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";
import { brush } from "../lib/why.mjs";

const status = (page) => page.locator(".durations [role=status]").innerText();

/** The number before a word. */
function numberBefore(text, word) {
  const [, digits] = new RegExp(`([\\d\\s\\u2009]+) ${word}`).exec(text) ?? [];
  return number(digits ?? "NaN");
}

/** Waits until the inspector shows a call. */
async function untilCall(page, name) {
  let heading;
  await until(() => `the inspector shows ${name}: ${heading}`, async () => (heading = await page.locator(".inspector h2").first().innerText()).includes(name) && (await inspector(page)).Duration !== undefined);
}

async function opened(t, options = {}) {
  const recording = await quiet();
  const page = await open(t, (await replay(t, recording)).url, options);
  await untilState(page, /^replay$/);
  const [most] = report(recording).functions.sort((one, other) => other.calls - one.calls);
  await tab(page, "figures");
  await page.getByRole("button", { name: `Durations of ${most.name}`, exact: true }).click();
  await until("its calls are counted", async () => numberBefore(await status(page), "calls") === most.calls);
  return { page, most };
}

test("durations::a_bar_lists_its_calls_and_these_lead_to_the_inspector", async (t) => {
  const { page, most } = await opened(t);
  const chart = page.locator(".durations .chart");
  await chart.focus();
  // From the outside to the last bar.
  await page.keyboard.press("ArrowLeft");
  const label = `Calls of ${most.name}`;
  await page.locator(`table[aria-label="${label}"] tbody tr`).first().waitFor();
  const rows = await table(page, label);
  nearly(rows[0].duration, most.max_ns / 1e9, "the longest call");
  const words = await status(page);
  assert.equal(numberBefore(words, "calls? took"), rows.length, words);
  await page.locator(`table[aria-label="${label}"] button.rank`).first().click();
  await untilCall(page, most.name);
  const found = await inspector(page);
  assert.equal(number(found.Rank), number(rows[0].rank));
  assert.ok(found.Duration.startsWith(rows[0].duration), `${found.Duration}, not ${rows[0].duration}`);
  await checkAll(page, [["durations", async () => undefined]]);
  await page.getByRole("button", { name: "Close the durations" }).click();
  await page.locator('table[aria-label="Ranks"]').waitFor();
});

test("durations::a_range_is_counted_over_the_whole_run", async (t) => {
  const { page, most } = await opened(t, { viewport: SMALL });
  await showTimeline(page);
  await brush(page, 0.3, 0.6);
  let words;
  await until(() => `both are counted: ${words}`, async () => {
    words = await status(page);
    return numberBefore(words, "in the whole run") === most.calls && numberBefore(words, "calls of the selection") > 0;
  });
  assert.ok(numberBefore(words, "calls of the selection") < most.calls, words);
  // As many as the table of functions has.
  const row = (await table(page, "Functions")).find((each) => each.function === most.name);
  assert.equal(numberBefore(words, "calls of the selection"), number(row.calls));
});

test("durations::the_longest_call_is_found_by_its_name", async (t) => {
  const { page, most } = await opened(t);
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Find" }).fill(`longest ${most.name}`);
  await page.keyboard.press("Enter");
  await untilCall(page, most.name);
  const { Duration: duration } = await inspector(page);
  nearly(duration.replace(/ \(.*/, ""), most.max_ns / 1e9, "the longest call");
});
