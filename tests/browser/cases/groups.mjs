// Views of a whole run: shares of time in Messages, groups in Graph, the critical path under the timeline.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { inspector, shot, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count } from "../lib/pixels.mjs";
import { replay } from "../lib/product.mjs";
import { dense, stolen, uneven, wide } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const PICTURE = ".messages-rows .picture";
const facts = (page) => page.locator(".messages-head p").first().innerText();
/** What the tip begins with: it is there with the move of the pointer, or not at all. */
const tipHead = (page) => page.evaluate(() => document.querySelector(".messages .tip b")?.textContent ?? "");

async function opened(t, recording, hash, options) {
  const { url } = await replay(t, recording);
  const page = await open(t, `${url}#${hash}`, options);
  await untilState(page, /^replay$/);
  return page;
}

const shares = (page) => until(async () => `exact sums in the heading; it says "${await facts(page).catch(String)}"`, async () => /exact sums of all calls/.test(await facts(page)));

/** The height of a row of few ranks. */
const ROW = 40;

/** The dark theme's colour of load imbalance, #cd5db5. */
function isImbalance({ width, channels, data }, x, y) {
  const at = channels * (y * width + x);
  return Math.abs(data[at] - 0xcd) < 12 && Math.abs(data[at + 1] - 0x5d) < 12 && Math.abs(data[at + 2] - 0xb5) < 12;
}

test("groups::messages_shows_the_disturbed_rank_at_full_range", async (t) => {
  const page = await opened(t, await dense(), "tab=messages");
  await shares(page);
  await until("shares in the pixels", async () => count(await shot(page, PICTURE), coloured).pixels > 1000, 30_000);
  // Rank 1 has more to do: the others wait for it, in the colour of load imbalance.
  const waiting = (picture, rank) => {
    let pixels = 0;
    for (let y = 22 + rank * ROW + 4; y < 22 + (rank + 1) * ROW - 4; y++) for (let x = 80; x < picture.width - 40; x++) pixels += isImbalance(picture, x, y) ? 1 : 0;
    return pixels;
  };
  let found = [];
  await until(() => `pixels of waiting for work by rank: ${found.join(", ")}`, async () => {
    const picture = await shot(page, PICTURE);
    found = [0, 1, 2, 3].map((rank) => waiting(picture, rank));
    return [0, 2, 3].every((rank) => found[rank] > 1000 && found[rank] > 4 * found[1]);
  }, 30_000);
});

test("groups::rows_fold_and_open", async (t) => {
  const page = await opened(t, await stolen(), "tab=messages");
  await shares(page);
  const rows = async () => Number(/^(?:[\d\u2009]+ of )?([\d\u2009]+) ranks/.exec(await facts(page))?.[1]);
  assert.equal(await rows(), 64);
  const fold = page.locator(".messages-bar").getByLabel("Fold");
  await fold.selectOption("node");
  const box = await page.locator(PICTURE).boundingBox();
  const head = async (y) => {
    await page.mouse.move(box.x + 30, box.y + y);
    return tipHead(page);
  };
  await until("the head of a node's ranks", async () => /^ranks 0\u201315$/.test(await head(40)));
  await page.mouse.click(box.x + 30, box.y + 40);
  await until("the node's ranks one by one", async () => /^Rank \d+$/.test(await head(30)));
  await fold.selectOption("similar");
  await until("ranks that behave alike", async () => /^ranks? /i.test(await head(30)));
});

test("groups::a_searched_rank_is_marked_and_in_sight", async (t) => {
  const page = await opened(t, await wide(), "tab=messages");
  await page.locator(PICTURE).waitFor();
  await until("rows", async () => count(await shot(page, PICTURE), coloured).pixels > 100);
  for (let step = 0; step < 4; step++) await page.getByRole("button", { name: "Higher rows", exact: true }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("rank 500");
  await page.keyboard.press("Enter");
  await until("the rank in the inspector", async () => /500/.test(await page.locator(".inspector h2").first().innerText()));
  const box = await page.locator(PICTURE).boundingBox();
  await until("its row at the lower edge", async () => {
    for (let y = box.height - 2; y > 22; y -= 4) {
      await page.mouse.move(box.x + 30, box.y + y);
      if ((await tipHead(page)) === "Rank 500") return true;
    }
    return false;
  });
});

test("groups::held_rows_stay_while_other_views_are_zoomed", async (t) => {
  const page = await opened(t, await uneven(), "tab=messages");
  const heading = () => page.locator(".messages-head h2").innerText();
  await page.locator(PICTURE).waitFor();
  await until("a heading", async () => (await heading()).length > 0);
  const before = await heading();
  await page.locator(".messages").getByRole("button", { name: "Hold", exact: true }).click();
  await page.locator(".timeline").getByRole("button", { name: "Zoom in", exact: true }).click();
  await until("the zoom of all views", () => page.evaluate(() => location.hash.includes("zoom=")));
  assert.equal(await heading(), before);
  await page.locator(".messages").getByRole("button", { name: "Hold", exact: true }).click();
  await until("another time in the heading", async () => (await heading()) !== before);
});

test("groups::what_opens_with_the_critical_path_and_groups", async (t) => {
  const page = await opened(t, await stolen(), "tab=what");
  await page.locator(".groups-graph .state").first().waitFor();
  await until("the parts of the path", async () => (await page.locator("table[aria-label='What the critical path is made of'] tr").count()) > 1);
  const parts = await page.locator("table[aria-label='What the critical path is made of'] td:first-child").allInnerTexts();
  assert.ok(parts.length <= 6 && parts.every((text) => /%$/.test(text.trim())), parts.join());
  const [states, links] = [await page.locator(".groups-graph .state").count(), await page.locator(".groups-graph .link").count()];
  assert.ok(states <= 12 * 16 && states >= 4, `${states} states`);
  assert.ok(links > 0 && links <= 40, `${links} links`);
  await page.locator(".groups-graph .group").first().click();
  await page.getByRole("button", { name: "All ranks", exact: true }).first().waitFor();
  await until("groups of the opened one", async () => /^Rank|\u2013/.test(await page.locator(".groups-graph .group text").first().textContent()));
});

test("groups::a_click_on_the_path_leads_to_the_call", async (t) => {
  const page = await opened(t, await uneven(), "tab=overview");
  const row = page.locator(".path-row");
  await until("the path in the pixels", async () => count(await shot(page, ".path-row"), coloured).pixels > 200);
  const { x, y, width, height } = await row.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.locator(".path-row .tip").waitFor();
  assert.match(await page.locator(".path-row .tip b").innerText(), /^Rank \d+: /);
  await page.mouse.click(x + width / 2, y + height / 2);
  await until("the call in the inspector", async () => "Rank" in (await inspector(page)) && "Start" in (await inspector(page)));
});

test("groups::patterns_are_listed_and_drawn", async (t) => {
  const page = await opened(t, await stolen(), "tab=particles&particles.patterns=shown");
  const first = page.locator(".patterns li button").first();
  await first.waitFor();
  assert.match(await first.innerText(), /^(Disparate|Slanted|Logarithmic|Noisy|Horizontal) MPI_\w+\s+ranks \d.*strength [\d.]+\s?%$/s);
  await first.click();
  await until("a line over the particles", () => page.evaluate(() => {
    const canvas = document.querySelector(".patterns-over");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value > 0);
  }));
  await first.click();
  assert.equal(await first.getAttribute("aria-pressed"), "false");
});

test("groups::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await opened(t, await stolen(), "tab=what", { viewport: SMALL });
  const go = (hash, ready) => async () => {
    await page.evaluate((to) => (location.hash = to), hash);
    await ready();
  };
  const states = () => page.locator(".groups-graph .state").first().waitFor();
  await checkAll(page, [["groups", go("tab=what", states)], ["shares", go("tab=messages", () => shares(page))]]);
});

test("groups::pictures", async (t) => {
  const page = await opened(t, await stolen(), "tab=what");
  await page.locator(".groups-graph .state").first().waitFor();
  await until("the path", async () => (await page.locator(".groups-parts tr").count()) > 1);
  await shoot(page, "groups-what");
  await page.evaluate(() => (location.hash = "tab=messages"));
  await shares(page);
  await shoot(page, "groups-messages");
}, { full: true });
