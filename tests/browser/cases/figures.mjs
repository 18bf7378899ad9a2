// Figures that leave the page: marks and text as in a paper, without controls, and the numbers of exactly what is drawn.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { open } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { number, untilState } from "../lib/page.mjs";
import { test } from "../lib/runner.mjs";
import { settled, until } from "../lib/wait.mjs";

/** Names in legends, rows and tables are buttons too. */
const CONTROLS = "#views button:not(table button, button.rank, .particles-functions button, .messages-key .functions button), #views option, #views label";

async function saved(page, item) {
  await page.locator(".share > button").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item }).click()]);
  return readFileSync(await download.path());
}

/** What an SVG holds, as a browser reads it. */
function read(page, svg) {
  return page.evaluate((text) => {
    const found = new DOMParser().parseFromString(text, "image/svg+xml");
    const count = (name) => found.querySelectorAll(name).length;
    const images = [...found.querySelectorAll("image")].map((image) => ({ width: Number(image.getAttribute("width")), href: image.getAttribute("href") }));
    return {
      broken: count("parsererror"), foreign: count("foreignObject, script, button, select"), marks: count("path, rect, circle, polyline, line"), images,
      texts: [...found.querySelectorAll("text")].map((each) => each.textContent.trim()), withoutSize: found.querySelectorAll("text:not([font-size])").length,
    };
  }, svg.toString());
}

const pixelsAcross = (page, href) => page.evaluate((source) => new Promise((resolve) => {
  const image = new Image();
  image.onload = () => resolve(image.naturalWidth);
  image.src = source;
}), href);

/** What tells that a view is drawn, and how many bitmaps its figure may have. */
const VIEWS = [
  { id: "where", label: "Where", images: 0, ready: (page) => page.locator(".where table tbody tr").first().waitFor() },
  { id: "how", label: "How", images: 0, ready: (page) => page.locator(".how-row circle").first().waitFor() },
  { id: "messages", label: "Messages", images: 0, ready: (page) => page.locator(".messages-head", { hasText: /calls, each a bar/ }).waitFor() },
  // The map of the whole graph in the corner is one.
  { id: "what", label: "What", images: 1, ready: (page) => page.locator(".pane-head", { hasText: /messages between/ }).waitFor() },
  { id: "particles", label: "Particles", images: 1, ready: (page) => page.locator(".particles-functions button").first().waitFor() },
];

test("figures::have_marks_and_text_and_no_controls", async (t) => {
  const url = await madeUp(t, "--ranks", "16", "--nodes", "2", "--calls", "2000", "--scene", "ended");
  const page = await open(t, `${url}#tab=overview&zoom=10-10.02`);
  await untilState(page, /^ended well/);
  for (const { id, label, images, ready } of VIEWS) {
    await page.locator(`#tab-${id}`).click();
    if (id === "what") await page.getByRole("button", { name: "Single states" }).click();
    await ready(page);
    // The picture that a worker draws comes a moment later.
    let found;
    const fewest = id === "particles" ? 1 : 0;
    await until(() => `${label} is drawn; its figure has ${found.marks} marks, ${found.texts.length} texts, ${found.images.length} images`, async () => {
      found = await read(page, await saved(page, "Save picture as SVG"));
      return found.marks > 20 && found.texts.length > 5 && found.images.length >= fewest && found.images.length <= images;
    });
    assert.equal(found.broken + found.foreign + found.withoutSize, 0, `${label}: ${JSON.stringify(found)}`);
    assert.ok(found.texts[0].startsWith(`${label}: `), found.texts[0]);
    // Axes are in the units that can be chosen: such words are no sign of a control.
    const controls = (await page.locator(CONTROLS).allTextContents()).map((text) => text.trim()).filter((text) => text.length > 1 && !/^[\d.]+ (ns|µs|ms|s)$/.test(text));
    if (["where", "how", "messages"].includes(id)) assert.ok(controls.length > 0, `${label} has no controls to look for`);
    assert.deepEqual(found.texts.filter((text) => controls.includes(text)), [], label);
    if (id === "particles") assert.ok((await pixelsAcross(page, found.images[0].href)) >= 1.99 * found.images[0].width, "the particles are blurred");
  }
});

test("figures::the_numbers_are_those_of_what_is_drawn", async (t) => {
  const url = await madeUp(t, "--ranks", "16", "--nodes", "2", "--calls", "2000", "--scene", "ended");
  const page = await open(t, `${url}#tab=messages&zoom=10-10.02`);
  const head = page.locator(".messages-head", { hasText: /calls, each a bar/ });
  await head.waitFor();
  const [, calls, messages] = /([\d\u2009]+) calls, each a bar; ([\d\u2009]+) messages/.exec(await settled("the heading", () => head.innerText()));
  const rows = async (item) => (await saved(page, item)).toString().trim().split("\r\n").slice(1);
  const listed = await rows("Save calls in view as CSV");
  assert.equal(listed.length, number(calls));
  for (const row of listed) {
    const [rank, , name, start, duration] = row.split(",");
    assert.ok(Number(rank) < 16 && name.startsWith("MPI_"), row);
    assert.ok(Number(start) <= 10.02e9 && Number(start) + Number(duration) >= 10e9, row);
  }
  assert.equal((await rows("Save messages in view as CSV")).length, number(messages));
});
