// Recording is switched off and on by the page: what was made meanwhile is a gap, and the job goes on.

import { strict as assert } from "node:assert";
import { open } from "../lib/browser.mjs";
import { untilState } from "../lib/page.mjs";
import { replay, report, steady } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

test("switched::the_page_switches_recording_off_and_on", async (t) => {
  const running = await steady(t, "switched");
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^live/);
  const button = page.locator("header button[role=switch]");
  assert.equal(await button.getAttribute("aria-checked"), "true");
  await button.click();
  // Switched on at once, no rank might have made a call meanwhile.
  await page.getByText(/^Recording is off since .* calls were made meanwhile. What happens now is not kept\.$/).waitFor();
  await page.locator("header button[aria-checked=false]").click();
  await page.getByText(/^Recording was off for .*calls were made meanwhile/).waitFor();
  assert.equal(await button.getAttribute("aria-checked"), "true");
  await running.finish();
  await untilState(page, /^ended well/);
  const { pauses, totals } = report(running.recording);
  assert.equal(pauses.gaps.length, 1);
  assert.ok(pauses.calls > 0 && totals.lost_calls === 0);
  const shown = await open(t, (await replay(t, running.recording)).url);
  await until("the recording tells of the gap", async () => (await shown.getByText(/^Recording was off for/).count()) > 0);
});
