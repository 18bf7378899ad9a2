// Small windows: every view has room, and what lies around it folds.

import { strict as assert } from "node:assert";
import { LARGE, open, SMALL, visitor } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { columnsFit } from "../lib/page.mjs";
import { outside } from "../lib/pictures.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const TABS = ["overview", "particles", "where", "how", "what", "messages", "why", "figures", "space", "pending"];
const LEAST_PIXELS = 420;
const heightOf = (page) => page.locator("#view").evaluate((element) => element.clientHeight);
const folded = (page) => page.locator(".timeline.folded").count();

async function small(t, viewport) {
  const context = await visitor(t, { viewport });
  return open(t, await madeUp(t, "--ranks", "64", "--nodes", "4", "--calls", "2000", "--scene", "replay"), { context, view: null });
}

test("small::every_tab_has_room_and_fits", async (t) => {
  const page = await small(t, SMALL);
  const wrong = [];
  for (const tab of TABS) {
    await page.locator(`#tab-${tab}`).click();
    await until(tab, async () => (await page.locator(`#tab-${tab}`).getAttribute("aria-selected")) === "true");
    const height = await heightOf(page);
    if (height < LEAST_PIXELS) wrong.push(`${tab}: ${height}`);
    wrong.push(...await outside(page, tab));
  }
  assert.deepEqual(wrong, []);
});

test("small::the_timeline_folds_by_button_and_key_and_stays_so", async (t) => {
  const page = await small(t, LARGE);
  await page.locator(".timeline").waitFor();
  await until("an open timeline", async () => (await folded(page)) === 0);
  const before = await heightOf(page);
  await page.getByRole("button", { name: "Fold the timeline" }).click();
  await until("a folded timeline", async () => (await folded(page)) === 1);
  await until("a higher view", async () => (await heightOf(page)) > before + 100);
  await page.keyboard.press("h");
  await until("the timeline", async () => (await folded(page)) === 0);
  await page.keyboard.press("h");
  await page.keyboard.press("i");
  await until("no inspector", async () => (await page.locator(".inspector").count()) === 0);
  // Another visit, without what the address says.
  const { origin, pathname } = new URL(page.url());
  await page.goto(`${origin}${pathname}`);
  await page.locator(".timeline").waitFor();
  await until("a folded timeline", async () => (await folded(page)) === 1);
  await until("no inspector", async () => (await page.locator(".inspector").count()) === 0);
  await page.getByRole("button", { name: "Show the timeline" }).click();
  await until("the timeline", async () => (await folded(page)) === 0);
});

test("small::no_column_of_where_is_cut_off", async (t) => {
  const page = await small(t, LARGE);
  for (const size of [LARGE, SMALL]) {
    await page.setViewportSize(size);
    await page.locator("#tab-where").click();
    await page.locator(".where .side table").waitFor();
    await columnsFit(page);
  }
});
