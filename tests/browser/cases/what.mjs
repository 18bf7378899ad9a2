// The tab Graph: the dependency graph of what is looked at, by pointer, by keys and as a table.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { inspector, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count, decodePng } from "../lib/pixels.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

async function what(t, ...words) {
  const url = await madeUp(t, "--scene", "replay", "--calls", "2000", ...words);
  const page = await open(t, `${url}#tab=what&what.view=states`);
  await untilState(page, /^replay$/);
  await page.locator("#tab-what[aria-selected=true]").waitFor();
  await drawn(page);
  return page;
}

async function drawn(page) {
  const graph = page.locator(".what .graph").last();
  await graph.waitFor();
  await until("a graph in the pixels", async () => {
    const box = await graph.boundingBox();
    return count(decodePng(await page.screenshot({ clip: box })), coloured).pixels > 100;
  });
}

const facts = (page) => page.locator(".what .pane-head p").first().innerText();
const click = (page, name) => page.getByRole("button", { name, exact: true }).click();

test("what::shows_the_last_second_and_says_so", async (t) => {
  const page = await what(t, "--ranks", "8", "--nodes", "3");
  assert.match(await facts(page), /^Last second; all ranks; 220 messages between 88 states$/);
  await page.evaluate(() => (location.hash = "tab=what&what.view=states&range=12.2-12.6"));
  await until("the graph of the range", async () => /^Selected range; all ranks; 88 messages between 40 states$/.test(await facts(page)));
  await page.evaluate(() => (location.hash = "tab=what&what.view=states&range=13.03-13.031"));
  await page.getByText("No message was sent or received between").waitFor();
});

test("what::says_what_has_no_room", async (t) => {
  const page = await what(t, "--ranks", "512", "--nodes", "16");
  assert.match(await facts(page), /^Last second, its beginning; all ranks; .* between 1\u2009000 states$/);
  await page.evaluate(() => (location.hash = "tab=what&what.view=states&range=12-13"));
  await until("as many as can be drawn", async () => /^Selected range, its beginning; all ranks; .* between 5\u2009000 states$/.test(await facts(page)), 30_000);
  await page.getByText(/of the range are not shown: select a shorter range or fewer ranks/).waitFor();
});

test("what::goes_along_links_and_folds_by_keys", async (t) => {
  const page = await what(t, "--ranks", "8", "--nodes", "3");
  await page.locator(".what .graph").focus();
  const step = (pattern) => until(`the inspector has ${pattern}`, async () => pattern.test(await page.locator(".inspector h2").first().innerText()));
  await page.keyboard.press("ArrowRight");
  await step(/^Rank \d+, step 1/);
  await page.keyboard.press("ArrowRight");
  await step(/^Rank \d+, step 2/);
  assert.deepEqual(Object.keys(await inspector(page)).slice(0, 7), ["Node", "From", "To", "Received", "Sent", "Imbalance", "Slowest"]);
  await page.keyboard.press("ArrowLeft");
  await step(/^Rank \d+, step 1/);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Unfold all" }).waitFor();
  assert.match(await page.locator(".what [aria-live]").innerText(), /folded: \d+ states that follow are hidden/);
  await click(page, "Table");
  const shown = Number(await page.locator("table[aria-label='States of the graph']").getAttribute("aria-rowcount")) - 1;
  assert.ok(shown > 8 && shown < 88, `the table has ${shown} of 88 states`);
  await click(page, "Unfold all");
  await until("all states", async () => (await page.locator("table[aria-label='States of the graph']").getAttribute("aria-rowcount")) === "89");
  await page.keyboard.press("Escape");
  await step(/^The run$/);
});

test("what::compares_two_ranges", async (t) => {
  const page = await what(t, "--ranks", "8", "--nodes", "3");
  await click(page, "Compare");
  await page.evaluate(() => (location.hash = "tab=what&what.view=states&range=12.2-12.6"));
  await until("two graphs", async () => (await page.locator(".what .pane-head p").allInnerTexts()).map((text) => text.slice(0, 11)).join() === "Last second,Selected ra");
  await drawn(page);
  await click(page, "Flip");
  await drawn(page);
  await shoot(page, "what-compared");
});

test("what::asks_for_the_ranks_that_are_selected", async (t) => {
  const page = await what(t, "--ranks", "8", "--nodes", "3");
  await page.locator(".what .graph").focus();
  await page.keyboard.press("ArrowRight");
  await click(page, "Only this rank");
  await until("the graph of a rank", async () => /; rank \d; .* with one end outside/.test(await facts(page)));
  await click(page, "All ranks");
  await until("the graph of all", async () => /; all ranks; 220/.test(await facts(page)));
});

test("what::pictures", async (t) => {
  const page = await what(t, "--ranks", "64", "--nodes", "6");
  await shoot(page, "what");
  await click(page, "Explain");
  await shoot(page, "what-explained");
}, { full: true });

test("what::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await what(t, "--ranks", "8", "--nodes", "3");
  await page.setViewportSize(SMALL);
  await checkAll(page, [
    ["the graph", () => drawn(page)],
    ["a state", async () => {
      await page.locator(".what .graph").focus();
      await page.keyboard.press("ArrowRight");
    }, () => page.keyboard.press("Escape")],
    ["what a glyph says", () => click(page, "Explain"), () => click(page, "Close")],
    ["the table", () => click(page, "Table"), () => click(page, "Table")],
    ["two graphs", () => click(page, "Compare"), () => click(page, "Compare")],
    ["an empty range", async () => {
      await page.evaluate(() => (location.hash = "tab=what&what.view=states&range=13.03-13.031"));
      await page.getByText("No message was sent or received between").waitFor();
    }, async () => {
      await page.evaluate(() => (location.hash = "tab=what&what.view=states"));
      await page.getByRole("button", { name: "Last second" }).click();
      await drawn(page);
    }],
  ]);
});
