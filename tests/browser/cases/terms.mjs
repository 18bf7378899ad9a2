// A "?" explains a term, by mouse and keyboard.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { tab } from "../lib/page.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const box = (page) => page.locator(".term-box:popover-open");

test("terms::a_question_mark_explains_a_term_by_mouse_and_keyboard", async (t) => {
  const page = await open(t, await madeUp(t, "--ranks", "64", "--nodes", "4", "--calls", "2000", "--scene", "replay"), { view: "where" });
  const mark = page.locator(".where th").getByRole("button", { name: "What is Delayed?" });
  await mark.hover();
  await until("the explanation while the mouse is on it", async () => (await box(page).count()) === 1);
  await page.mouse.move(5, 5);
  await until("no explanation when it has gone", async () => (await box(page).count()) === 0);
  await mark.click();
  await until("the explanation", async () => (await box(page).count()) === 1);
  assert.match(await box(page).innerText(), /95 % of such messages in quiet windows/);
  assert.equal(await box(page).locator("svg").count(), 1);
  const inside = await box(page).evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  });
  assert.ok(inside, "it stays in the window");
  await checkAll(page, [["where, with a term", async () => undefined]]);
  await page.keyboard.press("Escape");
  await until("no explanation", async () => (await box(page).count()) === 0);
  // A click on it sorts nothing, and the heading keeps its name.
  assert.equal(await page.locator(".where th", { hasText: /^delayed$/ }).getAttribute("aria-sort"), "none");
  await mark.focus();
  await page.keyboard.press("Enter");
  await until("the explanation again", async () => (await box(page).count()) === 1);
  await page.mouse.click(5, 5);
  await until("closed by going elsewhere", async () => (await box(page).count()) === 0);
  for (const [view, names] of [["why", ["Avoidable", "Delay budget", "Load imbalance", "CPU contention", "Network contention", "Placement", "Waiting"]], ["how", ["Delayed", "Latency ratio", "Growth"]]]) {
    await tab(page, view);
    for (const name of names) await page.locator(`#view button.term[aria-label="What is ${name}?"]`).first().waitFor();
  }
});
