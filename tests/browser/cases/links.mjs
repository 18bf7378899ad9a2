// Links for others: what their holders may do on the page, in one browser with the owner too, and when they are revoked.

import { strict as assert } from "node:assert";
import { open, SMALL, visitor } from "../lib/browser.mjs";
import { dialog, link } from "../lib/links.mjs";
import { mode, time, untilMode, untilState } from "../lib/page.mjs";
import { replay, steady } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

async function row(page, label) {
  return dialog(page).getByRole("row", { name: new RegExp(label) }).getByRole("cell").allInnerTexts();
}

test("links::a_reader_sees_the_run_and_what_it_may_not_do", async (t) => {
  const running = await steady(t, "links");
  const owner = await open(t, running.url, { viewport: SMALL });
  await untilState(owner, /^live/);
  const address = await link(owner, "Ana");
  const { origin } = new URL(running.url);
  assert.match(address, new RegExp(`^${origin}/\\?token=[0-9a-f]{32}#tab=particles`));

  const context = await visitor(t, { viewport: SMALL });
  const reader = await open(t, address, { context, losesRights: true });
  await untilState(reader, /^live/);
  assert.ok(!reader.url().includes("token"), reader.url());
  assert.equal(await reader.evaluate(() => document.cookie), "");
  await reader.getByText("Read only", { exact: true }).waitFor();
  // Controls that all share are disabled, and say why.
  const pause = reader.getByRole("button", { name: "Pause" });
  for (const control of [pause, reader.getByRole("button", { name: "To the start" }), reader.getByLabel("Speed"), reader.getByRole("switch")]) {
    assert.ok(await control.isDisabled());
    assert.match(await control.getAttribute("title"), /This link may look at the run, but not/);
  }
  assert.ok(await reader.getByRole("button", { name: "Copy link", exact: true }).isDisabled());
  // A key says the same, and what works instead.
  await reader.keyboard.press("k");
  const notice = reader.locator("[role=status] .notice", { hasText: "may look at the run" });
  await notice.waitFor();
  assert.equal(await mode(owner), "live");
  await notice.getByRole("button", { name: "Let go of the shared clock" }).click();
  await reader.keyboard.press("k");
  await untilMode(reader, "paused");
  assert.equal(await mode(owner), "live");
  assert.ok(await reader.getByRole("button", { name: "Play", exact: true }).isEnabled());

  // The owner sees that the link is in use, and ends it.
  await owner.getByRole("button", { name: "Copy link", exact: true }).click();
  await until("its page is counted", async () => (await row(owner, "Ana")).slice(0, 3).join() === "Ana,read,1");
  await dialog(owner).getByRole("button", { name: "Revoke the link for Ana" }).click();
  await untilState(reader, /^refused$/);
  await until("the list is empty", async () => /No links yet/.test(await dialog(owner).innerText()));
  const later = await context.newPage();
  assert.equal((await later.goto(address)).status(), 403);
  assert.match(await later.locator("main").innerText(), /opens with a link.*press Copy link/s);
  // Its style came through the policy.
  assert.equal(await later.locator("main").evaluate((element) => getComputedStyle(element).maxWidth), "600px");
});

test("links::owner_and_reader_share_a_browser_and_neither_loses_rights", async (t) => {
  const { url } = await replay(t, await quiet());
  const context = await visitor(t, { viewport: SMALL });
  const owner = await open(t, url, { context });
  await untilState(owner, /^replay$/);
  const reading = await link(owner, "reads");
  const controlling = await link(owner, "controls", "control");
  const reader = await open(t, reading, { context });
  const helper = await open(t, controlling, { context });
  for (const page of [reader, helper]) await untilState(page, /^replay$/);
  await owner.reload();
  for (const [page, words] of [[owner, null], [reader, "Read only"], [helper, "May read, control"]]) {
    await until("the page knows its rights", async () => (await page.locator("header .rights").allInnerTexts()).join() === (words ?? ""));
  }
  // Before it knows them, a page says nothing of its rights either.
  await until("the owner may make links", () => owner.getByRole("button", { name: "Copy link", exact: true }).isEnabled());
  assert.ok(await reader.getByRole("button", { name: "To the start" }).isDisabled());
  // Of a replay too: the helper moves the clock for all.
  await helper.getByRole("button", { name: "To the start" }).click();
  for (const page of [owner, reader]) await until("the clock is at the start", async () => (await time(page)) === 0);
});
