// What people bring along from other tools: one selection that can be undone and sent as a link, finding by name, the next
// call, zooming by keys, tooltips that stay, pictures and tables to take along, two views beside each other.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { open, visitor } from "../lib/browser.mjs";
import { tab, time, timelineX, untilState } from "../lib/page.mjs";
import { decodePng } from "../lib/pixels.mjs";
import { replay, report } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { pause, settled, until } from "../lib/wait.mjs";

const scope = (page) => page.locator(".scope .parts").innerText().then((text) => text.replace(/\s+/g, " "));
const chosen = (page, pattern) => until(async () => `the selection is ${pattern}; it is "${await scope(page)}"`, async () => pattern.test(await scope(page)));
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inspected = (page, pattern) => until(`the inspector shows ${pattern}`, async () => pattern.test(await page.locator(".inspector h2").first().innerText()));

async function opened(t, options = {}) {
  const recording = await quiet();
  const { url } = await replay(t, recording);
  const page = await open(t, url, options);
  await untilState(page, /^replay$/);
  await chosen(page, /Whole run all ranks all functions/);
  return { page, url, recording };
}

async function brush(page, from, to) {
  const [start, end] = [await timelineX(page, from), await timelineX(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

test("habits::what_is_selected_narrows_all_views_is_undone_and_goes_into_the_address", async (t) => {
  const { page, url } = await opened(t);
  await tab(page, "figures");
  const ranks = () => page.locator("table[aria-label=Ranks] tbody tr:not([aria-hidden])").count();
  await until("four ranks", async () => (await ranks()) === 4);

  await brush(page, 0.25, 0.5);
  await chosen(page, /0:00:0\d\.\d+ to 0:00:0\d\.\d+ .* all ranks/);
  await page.keyboard.press("/");
  await page.keyboard.type("1-2");
  await page.keyboard.press("Enter");
  await chosen(page, /Ranks 1–2/);
  await until("two ranks are left", async () => (await ranks()) === 2);
  await page.keyboard.press("/");
  await page.keyboard.type("waitall");
  await page.keyboard.press("Shift+Enter");
  await chosen(page, /MPI_Waitall only/);
  await page.keyboard.press("/");
  await page.keyboard.type("rank 2");
  // The next key is the page's at once, not with the next picture.
  await page.evaluate(() => addEventListener("keydown", () => (globalThis.focusAfter = document.activeElement.tagName), { once: true }));
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => globalThis.focusAfter), "BODY");
  await inspected(page, /Rank 2/);

  // The address says all of it: a colleague sees the same.
  await until("the address has it", async () => /range=.*ranks=1-2&off=.*sel=rank:2/.test(await hash(page)));
  const colleague = await open(t, `${url}${await page.evaluate(() => location.hash)}`);
  await chosen(colleague, /0:00:0\d\.\d+ to 0:00:0\d\.\d+ .*Ranks 1–2.*MPI_Waitall only/);
  await inspected(colleague, /Rank 2/);
  assert.equal(await scope(colleague), await scope(page));
  assert.equal(await colleague.locator("#tab-figures").getAttribute("aria-selected"), "true");
  await colleague.close();

  // Back step by step, and forth again.
  await page.keyboard.press("u");
  await until("nothing is inspected any more", async () => !/Rank 2/.test(await page.locator(".inspector h2").first().innerText()));
  await page.keyboard.press("u");
  await chosen(page, /Ranks 1–2.*all functions/);
  await page.keyboard.press("Control+z");
  await chosen(page, /0:00:0\d.*all ranks all functions/);
  await page.locator(".scope button", { hasText: "Undo" }).click();
  await chosen(page, /Whole run all ranks all functions/);
  assert.equal(await page.locator(".scope button", { hasText: "Undo" }).isDisabled(), true);
  await page.keyboard.press("Shift+u");
  await page.keyboard.press("Shift+u");
  await chosen(page, /0:00:0\d.*Ranks 1–2.*all functions/);
  await page.locator(".scope button", { hasText: "Clear all" }).click();
  await chosen(page, /Whole run all ranks all functions/);
});

test("habits::keys_go_to_the_next_call_zoom_pan_and_fit", async (t) => {
  const { page } = await opened(t);
  await page.keyboard.press("/");
  await page.keyboard.type("3");
  await page.keyboard.press("Shift+Enter");
  await chosen(page, /Rank 3/);
  await page.keyboard.press("Home");
  await until("at the start", async () => (await time(page)) === 0);
  // From call to call, and the same way back.
  const at = async () => Number(/[#&]t=([\d.]+)/.exec(await hash(page))?.[1] ?? Number.NaN);
  await until("the address has the time", async () => (await at()) === 0);
  const there = [0];
  for (let step = 0; step < 6; step++) {
    await page.keyboard.press(".");
    await until(`a call begins after ${there.at(-1)}`, async () => (await at()) > there.at(-1));
    there.push(await at());
  }
  for (let step = 5; step > 0; step--) {
    await page.keyboard.press(",");
    await until(`the call before is at ${there[step]}`, async () => (await at()) === there[step]);
  }

  const zoom = async () => /zoom=([\d.]+)-([\d.]+)/.exec(await hash(page))?.slice(1).map(Number) ?? null;
  await brush(page, 0.4, 0.6);
  await page.keyboard.press("f");
  const fitted = await until("the range fills the axis", zoom);
  const length = ([from, to]) => to - from;
  await page.keyboard.press("w");
  await until("half of it is left", async () => Math.abs(length(await zoom()) / length(fitted) - 0.5) < 0.02);
  const before = await zoom();
  await page.keyboard.press("d");
  await until("later", async () => (await zoom())[0] > before[0]);
  await page.keyboard.press("a");
  await until("and earlier again", async () => Math.abs((await zoom())[0] - before[0]) < 1e-3);
  await page.keyboard.press("s");
  await page.keyboard.press("0");
  await until("the whole run", async () => (await zoom()) === null);
  await page.keyboard.press("?");
  await page.locator("dialog[open] #help-title").waitFor();
  assert.match(await page.locator("dialog[open]").innerText(), /call before, next call/);
  // One thing at a time: the help, what is inspected, the range.
  for (let times = 0; times < 3; times++) await page.keyboard.press("Escape");
  await chosen(page, /Whole run Rank 3/);
});

test("habits::tooltips_stay_views_stand_beside_each_other_and_that_is_remembered", async (t) => {
  const context = await visitor(t);
  const { page } = await opened(t, { context });
  const at = await timelineX(page, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.locator(".timeline .tip").waitFor();
  // Finer counts may still come.
  const shown = await settled("the tooltip", () => page.locator(".timeline .tip").innerText());
  await page.keyboard.press("p");
  await page.mouse.move(at.x + 200, at.y);
  await until("another tooltip is shown", async () => (await page.locator(".timeline .tip").innerText()) !== shown);
  assert.equal(await page.locator(".pin .tip").innerText(), shown);
  await page.keyboard.press("Escape");
  await until("nothing is kept", async () => (await page.locator(".pin").count()) === 0);

  await tab(page, "where");
  await page.locator("[aria-label='A second view beside this one']").selectOption("figures");
  await page.locator("table[aria-label=Functions]").waitFor();
  await page.getByRole("button", { name: "Matrix" }).click();
  await page.keyboard.press("i");
  await until("the inspector is away", async () => (await page.locator(".inspector").count()) === 0);
  await until("the address says so", async () => /shell\.inspector=hidden/.test(await hash(page)) && /shell\.beside=figures/.test(await hash(page)) && /where\.face=matrix/.test(await hash(page)));
  // Another page of the same visitor, at the plain address.
  const again = await open(t, new URL("/", page.url()).href, { context, view: null });
  await untilState(again, /^replay$/);
  await tab(again, "where");
  await again.locator("canvas.matrix").waitFor();
  await again.locator("table[aria-label=Functions]").waitFor();
  assert.equal(await again.locator(".inspector").count(), 0);
});

test("habits::every_view_goes_along_as_a_picture_and_as_tables", async (t) => {
  const { page, recording } = await opened(t, { acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  const expected = report(recording);
  const take = async (item) => {
    await page.locator(".share > button").click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item, exact: true }).click()]);
    return { bytes: readFileSync(await download.path()), name: download.suggestedFilename() };
  };
  await tab(page, "figures");
  await page.locator("table[aria-label=Functions] tbody tr").first().waitFor();
  const { bytes, name } = await take("Save functions as CSV");
  assert.match(name, /functions\.csv$/);
  const [heads, ...rows] = bytes.toString().trim().split("\r\n").map((line) => line.split(","));
  const shown = Object.fromEntries(rows.map((row) => [row[0], Number(row[heads.indexOf("calls")])]));
  assert.deepEqual(shown, Object.fromEntries(expected.functions.map((each) => [each.name, each.calls])));

  await page.locator(".share > button").click();
  await page.getByRole("menuitem", { name: "Copy ranks as CSV", exact: true }).click();
  await until("the table is in the clipboard", async () => (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\r\n").length === 5);

  for (const id of await page.locator("[role=tab]").evaluateAll((tabs) => tabs.map((each) => each.id.replace("tab-", "")))) {
    await tab(page, id);
    await pause(800);
    const png = await take("Save picture as PNG");
    const { width, height } = decodePng(png.bytes);
    assert.ok(width > 1000 && height > 500, `${id}: ${width} by ${height}`);
    let parsed;
    // The heading has two; those of the view may take a while.
    await until(() => `${id} has words in its picture; it has ${parsed.texts} texts ${parsed.error}`, async () => {
      parsed = await page.evaluate((text) => {
        const made = new DOMParser().parseFromString(text, "image/svg+xml");
        return { error: made.querySelector("parsererror")?.textContent ?? "", texts: made.querySelectorAll("text").length, scripts: made.querySelectorAll("script,foreignObject").length };
      }, (await take("Save picture as SVG")).bytes.toString());
      return parsed.error !== "" || parsed.texts > 2;
    });
    assert.equal(parsed.error, "", id);
    assert.equal(parsed.scripts, 0);
  }
});
