// Several nodes: their names, one that is silent for a while, ranks that wait for a CPU, clocks.

import { strict as assert } from "node:assert";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { inspector, notice, tab, table, untilState } from "../lib/page.mjs";
import { steady, report } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const percent = (text) => Number(text.replace(/[<%\u2009\s]/g, ""));
const sortBy = (page, heading) => page.locator("table[aria-label=Ranks] th button", { hasText: heading }).click();

test("nodes::a_silent_one_is_named_until_it_is_back", async (t) => {
  const url = await madeUp(t, "--ranks", "12", "--nodes", "3", "--calls", "2000", "--scene", "silent", "--silence", "15");
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^live/);
  await until(async () => `the silent node is named; the notice is "${await notice(page)}"`, async () => /^node3 silent: ranks 8\u201311\./m.test(await notice(page)));
  await tab(page, "figures");
  const states = async () => Object.fromEntries((await table(page, "Ranks")).map((row) => [row.rank, row.state]));
  const { 7: other, 8: silent } = await states();
  assert.deepEqual([other, silent], ["running", "silent"]);
  await until("it is heard of again", async () => !/silent/.test(await notice(page)));
  await until("its ranks run", async () => (await states())["8"] === "running");
});

test("nodes::ranks_have_a_node_by_name_and_a_share_of_waiting_for_a_cpu", async (t) => {
  const url = await madeUp(t, "--ranks", "12", "--nodes", "3", "--calls", "2000");
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^live/);
  await tab(page, "figures");
  await sortBy(page, "node");
  const byName = await table(page, "Ranks");
  assert.deepEqual(byName.map((row) => row.node), ["node1", "node2", "node3"].flatMap((name) => Array(4).fill(name)));
  await sortBy(page, "CPU wait");
  const byShare = (await table(page, "Ranks")).map((row) => percent(row["CPU wait"]));
  assert.ok(byShare[0] > 20 && byShare.at(-1) <= 0.1 && byShare.every((share, at) => at === 0 || share <= byShare[at - 1]), String(byShare));
  await page.locator("table[aria-label=Ranks] button.rank", { hasText: /^5$/ }).click();
  await until("the inspector shows the rank", async () => (await inspector(page)).Node === "node2");
  assert.equal((await inspector(page)).Clock, "\u00b1 19.7 µs");
  assert.match((await inspector(page))["CPU wait"], /%$/);
});

test("nodes::the_page_and_the_report_say_the_same_of_waiting", async (t) => {
  const running = await steady(t, "waiting", { ranks: 8, rate: 50 });
  const page = await open(t, running.url, { losesServer: true, viewport: SMALL });
  await untilState(page, /^live/);
  await running.finish();
  await untilState(page, /^ended well/);
  const truth = report(running.recording);
  await tab(page, "figures");
  for (const row of await table(page, "Ranks")) {
    const { node, run_s, wait_s } = truth.ranks[Number(row.rank)];
    assert.equal(row.node, node);
    assert.ok(Math.abs(percent(row["CPU wait"]) - (100 * wait_s) / (run_s + wait_s)) <= 0.1, `${JSON.stringify(row)} for ${wait_s} of ${run_s + wait_s} s`);
  }
  await page.locator("table[aria-label=Ranks] button.rank").first().click();
  await until("the inspector shows the rank", async () => (await inspector(page)).Process === "finalized");
  assert.equal((await inspector(page)).Clock, undefined, "one node has one clock");
});
