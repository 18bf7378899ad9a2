// The tab Regions: a graph and a matrix of who talks to whom, with made-up traffic of jobs that no test machine can run.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { columnsFit, inspector, shot, tab, table } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count, near } from "../lib/pixels.mjs";
import { replay } from "../lib/product.mjs";
import { stolen } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const press = (page, name) => page.locator(".where .bar button", { hasText: new RegExp(`^${name}$`) }).click();
const colours = async (page) => count(await shot(page, ".where .picture"), coloured).pixels;

async function where(t, ranks, regions = "slow", options = {}) {
  const url = await madeUp(t, "--ranks", String(ranks), "--calls", "2000", "--scene", "replay", "--regions", regions);
  const page = await open(t, `${url}#tab=where`, options);
  await page.locator("#tab-where[aria-selected=true]").waitFor();
  return page;
}

test("where::the_graph_says_which_region_is_slow", async (t) => {
  const page = await where(t, 64);
  await until("ranks and links in colour", async () => (await colours(page)) > 2000);
  const [first] = await table(page, "Regions");
  assert.equal(first.ranks, "16\u201323");
  await page.locator(".where button.rank").first().focus();
  await page.keyboard.press("Enter");
  const rows = await inspector(page);
  assert.equal(rows["Latency L"], first.L);
  assert.match(rows.Ranks, /^8$/);
  await page.locator(".inspector button", { hasText: "Only these ranks" }).click();
  await page.locator(".where .about", { hasText: "ranks 16\u201323" }).waitFor();
  await press(page, "Latency");
  await page.locator(".where .legend", { hasText: "not known" }).waitFor();
});

test("where::a_lasso_selects_ranks_and_a_rank_has_words", async (t) => {
  const page = await where(t, 64);
  await until("ranks and links in colour", async () => (await colours(page)) > 2000);
  const { x, y, width, height } = await page.locator(".where canvas").boundingBox();
  await press(page, "Lasso");
  await page.mouse.move(x + 4, y + 4);
  await page.mouse.down();
  for (const [right, down] of [[width - 4, 4], [width - 4, height - 4], [4, height - 4]]) await page.mouse.move(x + right, y + down, { steps: 3 });
  await page.mouse.up();
  await page.locator(".where .about", { hasText: "ranks 0\u201363" }).waitFor();
  await page.locator(".where .about button", { hasText: "All ranks" }).click();
  await press(page, "Lasso");
  // With the keys closer; whatever is in the middle then has words.
  await page.locator(".where canvas").focus();
  for (let times = 0; times < 4; times++) await page.keyboard.press("+");
  await page.keyboard.press("r");
  await page.keyboard.press("0");
  await until("a tooltip somewhere", async () => {
    await page.mouse.move(x + width * Math.random(), y + height * Math.random());
    return (await page.locator(".where .tip").count()) > 0;
  });
});

test("where::the_matrix_zooms_and_selects", async (t) => {
  const page = await where(t, 512);
  await press(page, "Matrix");
  await page.locator(".where .legend .rest", { hasText: "2 by 2 ranks" }).waitFor();
  await until("cells in colour", async () => (await colours(page)) > 500);
  await page.locator(".where canvas").focus();
  for (let times = 0; times < 6; times++) await page.keyboard.press("+");
  await page.locator(".where .legend .rest", { hasText: "one to one" }).waitFor();
  const { x, y, width, height } = await page.locator(".where canvas").boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.locator(".where .tip", { hasText: /Rank/ }).waitFor();
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 40, y + height / 2 + 40, { steps: 4 });
  await page.mouse.up();
  await page.locator(".where .about", { hasText: "Selected for all views" }).waitFor();
  for (const order of ["node", "region"]) await page.locator(".where select").selectOption(order);
  for (const measure of ["Bytes", "Latency"]) await press(page, measure);
  await page.locator(".where .legend", { hasText: "not known" }).waitFor();
});

test("where::nothing_known_and_a_single_region_have_sentences", async (t) => {
  const none = await where(t, 8, "yet");
  await none.locator("#view", { hasText: "Nothing of it was recorded." }).waitFor();
  const one = await where(t, 16, "one");
  await one.locator(".where .about", { hasText: "All ranks are one region" }).waitFor();
  const unknown = await where(t, 64, "unknown");
  await unknown.locator(".where .about", { hasText: "No latency is known yet" }).waitFor();
});

test("where::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await where(t, 64, "slow", { viewport: SMALL });
  await until("ranks and links in colour", async () => (await colours(page)) > 500);
  await checkAll(page, [
    ["graph", () => press(page, "Graph")],
    ["latency", () => press(page, "Latency"), () => press(page, "Regions")],
    ["a region", () => page.locator(".where button.rank").first().click(), () => page.keyboard.press("Escape")],
    ["matrix", () => press(page, "Matrix"), () => press(page, "Graph")],
  ]);
});

test("where::ranks_that_the_verdict_blames_are_marked", async (t) => {
  const { url } = await replay(t, await stolen());
  const page = await open(t, `${url}#tab=where`);
  const marks = page.locator(".where .side .cause");
  await until("marks in the table", async () => (await marks.count()) > 0);
  // The whole list is in the verdict; each mark has those of its region.
  const titles = await marks.evaluateAll((all) => all.map(({ title }) => title));
  for (const title of titles) assert.match(title, /^The verdict blames ranks? [\d\u2013, \u2026()a-z]+ of it for CPU contention$/u);
  await page.locator(".where .legend").getByText("blamed for CPU contention").waitFor();
  await until("ranks and links in colour", async () => (await colours(page)) > 2000);
  const ring = await page.locator(".where .legend .ring").evaluate((element) => getComputedStyle(element).borderTopColor.match(/\d+/g).map((part) => Number(part).toString(16).padStart(2, "0")).join(""));
  await until("rings", async () => count(await shot(page, ".where .picture canvas"), near(`#${ring}`, 20)).pixels > 20);
  await columnsFit(page);
});

test("where::pictures", async (t) => {
  for (const ranks of [64, 512, 2000]) {
    const page = await where(t, ranks);
    await until("ranks and links in colour", async () => (await colours(page)) > 500);
    await shoot(page, `where-graph-${ranks}`);
    await press(page, "Latency");
    await shoot(page, `where-latency-${ranks}`);
    await press(page, "Matrix");
    await until("cells in colour", async () => (await colours(page)) > 100);
    await shoot(page, `where-matrix-${ranks}`);
    await tab(page, "particles");
  }
}, { full: true });
