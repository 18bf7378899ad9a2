// The tab Latency: how latency went by region, as the feed tells it of a real run, and of made-up ones that are larger.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL, visitor } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { inspector, nanoseconds, shot, untilMode, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count } from "../lib/pixels.mjs";
import { PROGRAM } from "../lib/paths.mjs";
import { folder, replay } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";
import { receivedFindings } from "../lib/why.mjs";

const press = (page, name) => page.locator(".how-bar button", { hasText: new RegExp(`^${name}`) }).click();
const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");
const names = async (page) => (await page.locator(".how-head button.rank, .how-head h3").allInnerTexts()).map((name) => name.trim());
const handle = (page, end) => page.locator(`.how-range .handle[aria-label^=${end}]`);
const rangeRows = async (page) => Object.fromEntries(Object.entries(await inspector(page)).filter(([name]) => ["From", "To", "Length"].includes(name)));

/** The recording of a simulated job whose messages between nodes are slow for a while. */
function modelled() {
  const out = join(folder("how"), "recording");
  execFileSync(PROGRAM, ["synth", "--pattern", "halo3d", "--ranks", "16", "--nodes", "4", "--seconds", "6", "--rate", "20000", "--style", "blocking", "--disturb", "background-traffic", "-o", out], { stdio: "ignore" });
  return out;
}

async function how(t, words, options = {}) {
  return open(t, await madeUp(t, "--calls", "2000", ...words), { view: "how", ...options });
}

test("how::a_recording_shows_the_windows_of_the_feed", async (t) => {
  const { url } = await replay(t, modelled());
  const context = await visitor(t);
  const received = receivedFindings(context);
  const page = await open(t, url, { context, view: "how" });
  await untilState(page, /^replay$/);
  await until("what was found", () => received.length > 0);
  const { evolution } = received.at(-1);
  assert.ok(evolution.regions.length > 1 && evolution.regions.every(({ exact }) => exact > 0), JSON.stringify(evolution));
  await until("a row for each region", async () => (await names(page)).length === evolution.regions.length);
  const circles = () => page.locator(".how-row circle:not([class*=marked])").count();
  const known = evolution.regions.reduce((sum, { points, provisional }) => sum + [...points.exact, ...provisional.exact].filter((each) => each > 0).length, 0);
  const marks = () => page.locator(".how-row .mark circle").count();
  const shown = async () => (await circles()) - (await marks());
  // Charts are drawn once they know how wide they are.
  await until(async () => `${known} windows; there are ${await shown()}`, async () => (await shown()) === known);
  const about = plain(await page.locator(".how-bar p").innerText());
  const messages = evolution.regions.reduce((sum, region) => sum + region.messages, 0);
  assert.equal(Number(/of ([\d ]+) messages exact/.exec(about)[1].replaceAll(" ", "")), messages);
  assert.match(about, /· final ·/);
  const kinds = evolution.regions.flatMap(({ segments }) => segments.map(({ kind }) => kind)).filter((kind) => kind !== "rest");
  assert.equal(await page.locator(".how-row .band").count(), kinds.length);
  await shoot(page, "how-recording");
});

test("how::a_window_leads_to_its_range_and_to_what_happened_then", async (t) => {
  const page = await how(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"]);
  await page.locator(".how-row").first().waitFor();
  const [worst] = await names(page);
  assert.equal(worst, "Ranks 16\u201323");
  assert.match(await page.locator(".how-head").first().innerText(), /above its average to the end from 0:00:\d\d/);
  const plot = page.locator(".how-plot").first();
  await plot.focus();
  for (let times = 0; times < 30; times++) await page.keyboard.press("ArrowRight");
  const words = await plot.getAttribute("aria-valuetext");
  await page.keyboard.press("Enter");
  await page.locator(".inspector h2", { hasText: worst }).waitFor();
  const rows = await inspector(page);
  assert.ok(words.includes(`Latency L ${rows["Latency L"]}`), `${words} is not ${rows["Latency L"]}`);
  await page.locator(".inspector button", { hasText: "Only this range" }).click();
  await until("the range of the window", async () => (await rangeRows(page)).Length === "100 ms");
  assert.equal(nanoseconds((await rangeRows(page)).From), nanoseconds(rows.Window));
  await page.locator(".inspector button", { hasText: "Only these ranks" }).click();
  await until("one row", async () => (await names(page)).length === 1);
  await press(page, "All ranks");
  await until("all rows", async () => (await names(page)).length > 1);
  await page.locator(".inspector button", { hasText: "What happened then" }).click();
  await page.locator("#tab-what[aria-selected=true]").waitFor();
});

test("how::a_click_on_a_circle_shows_it_and_beside_it_goes_there", async (t) => {
  const page = await how(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"]);
  const circle = page.locator(".how-row .time-chart circle").nth(40);
  await circle.waitFor();
  const { x, y, width, height } = await circle.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.locator(".how .tip", { hasText: "Latency L" }).waitFor();
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.locator(".inspector dt", { hasText: "Latency L" }).waitFor();
  const box = await page.locator(".how-plot").first().boundingBox();
  // Above all circles of the quiet beginning.
  await page.mouse.click(box.x + 56 + 0.1 * (box.width - 68), box.y + 8);
  await untilMode(page, "paused");
});

test("how::links_and_orders_are_a_switch_away", async (t) => {
  const page = await how(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"]);
  await press(page, "By rank");
  await until("the first ranks first", async () => (await names(page))[0] === "Ranks 0\u20137");
  await press(page, "Between");
  await until("links", async () => (await names(page)).every((name) => name.startsWith("Between ")) && (await names(page)).length > 0);
  assert.match(plain(await page.locator(".how-bar p").innerText()), /12 345 messages between regions that are not shown/);
});

test("how::the_handles_of_the_range_go_by_windows", async (t) => {
  const page = await how(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"]);
  await handle(page, "Begin").focus();
  await page.keyboard.press("ArrowRight");
  await until("one window is left out", async () => (await rangeRows(page)).From === "0:00:00.100000");
  await page.keyboard.press("Shift+ArrowRight");
  await until("ten more", async () => (await rangeRows(page)).From === "0:00:01.100000");
  const { To: end } = await rangeRows(page);
  await handle(page, "End").focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await until("the end moves", async () => nanoseconds((await rangeRows(page)).To) === nanoseconds(end) - 1e9);
  const box = await handle(page, "Begin").boundingBox();
  await page.mouse.move(box.x + 5, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 205, box.y + 8, { steps: 5 });
  await page.mouse.up();
  await until("dragged", async () => nanoseconds((await rangeRows(page)).From) > 2e9);
  await page.keyboard.press("Home");
  await page.keyboard.press("End");
});

test("how::what_is_not_known_has_a_sentence", async (t) => {
  const unknown = await how(t, ["--ranks", "64", "--regions", "unknown", "--scene", "live"]);
  await unknown.locator("#view", { hasText: "No latency over time is known yet" }).waitFor();
  const none = await how(t, ["--ranks", "8", "--evolution", "none", "--scene", "live"]);
  await none.locator("#view", { hasText: "No latency over time yet" }).waitFor();
  const nodes = await how(t, ["--ranks", "64", "--nodes", "4", "--regions", "yet", "--scene", "live"]);
  await nodes.locator(".how-bar p", { hasText: "By nodes, until regions are known" }).waitFor();
  await nodes.locator(".how-row circle.hollow").first().waitFor();
});

test("how::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await how(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"], { viewport: SMALL });
  await until("circles in colour", async () => count(await shot(page, ".how-rows"), coloured).pixels > 200);
  await checkAll(page, [
    ["inside", () => press(page, "Inside")],
    ["between", () => press(page, "Between"), () => press(page, "Inside")],
    ["a window", async () => {
      await page.locator(".how-plot").first().focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
    }, () => page.keyboard.press("Escape")],
  ]);
});

test("how::pictures", async (t) => {
  for (const ranks of [4, 64, 2000]) {
    const page = await how(t, ["--ranks", String(ranks), "--scene", "replay"]);
    await page.locator(".how-row circle").first().waitFor();
    await shoot(page, `how-${ranks}`);
  }
}, { full: true });
