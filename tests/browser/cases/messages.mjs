// The tab Messages: rows of ranks over time, calls as bars, messages as arrows; by pointer, by keys and as a table.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { inspector, number, shot, tab, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count, fingerprint } from "../lib/pixels.mjs";
import { messagesOf, replay, report } from "../lib/product.mjs";
import { crowded, quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const PICTURE = ".messages-rows .picture";
const facts = (page) => page.locator(".messages-head p").first().innerText();
const click = (page, name) => page.locator(".messages").getByRole("button", { name, exact: true }).click();
const headingIs = (page, pattern) => until(async () => `the heading says ${pattern}; it says "${await facts(page).catch(String)}"`, async () => pattern.test(await facts(page)), 30_000);

async function drawn(page) {
  await page.locator(PICTURE).waitFor();
  await until("bars in the pixels", async () => count(await shot(page, PICTURE), coloured).pixels > 100, 30_000);
}

/** Some 60 ms of 16 ranks: bars and arrows that can be distinguished. */
async function messages(t, place = "zoom=12-12.06", ...words) {
  const url = await madeUp(t, "--scene", "replay", "--calls", "2000", "--ranks", "16", "--nodes", "4", ...words);
  const page = await open(t, `${url}#tab=messages&${place}`);
  await untilState(page, /^replay$/);
  await page.locator("#tab-messages[aria-selected=true]").waitFor();
  await headingIs(page, /calls?, /);
  await drawn(page);
  return page;
}

test("messages::a_recording_has_its_ranks_its_calls_and_its_messages", async (t) => {
  const recording = await quiet();
  const { url } = await replay(t, recording);
  const truth = report(recording);
  const page = await open(t, url);
  await untilState(page, /^replay$/);
  await tab(page, "messages");
  const ranks = truth.job.nodes.flatMap((node) => node.ranks).length;
  await headingIs(page, new RegExp(`^${ranks} ranks?; .*exact sums of all calls`));
  await click(page, "Causes");
  await headingIs(page, /messages?$/);
  await drawn(page);
  assert.ok(truth.totals.messages > 0);
  const arrows = number(/; (?:[\d\u2009]+ of )?([\d\u2009]+) messages?$/.exec(await facts(page))?.[1] ?? "0");
  assert.ok(arrows > 0 && arrows <= truth.totals.messages, `${arrows} of ${truth.totals.messages} messages`);
});

test("messages::says_what_is_drawn_and_draws_less_from_far_away", async (t) => {
  const page = await messages(t);
  assert.match(await facts(page), /^16 ranks; \d+ calls, each a bar; \d+ messages$/);
  await click(page, "None");
  await headingIs(page, /no arrows$/);
  await page.evaluate(() => (location.hash = "tab=messages&zoom=5-25"));
  await headingIs(page, /exact sums of all calls/);
  await click(page, "Causes");
  await headingIs(page, /how much of the time was spent in MPI; no arrows$/);
  await click(page, "Causes");
  await page.evaluate(() => (location.hash = "tab=messages&zoom=12.5500000-12.5500041"));
  await page.getByText(/^No call of any rank between/).waitFor();
});

test("messages::w_and_s_zoom_at_the_pointer_also_after_a_click", async (t) => {
  const page = await messages(t);
  const zoom = async () => /zoom=([\d.]+)-([\d.]+)/.exec(await page.evaluate(() => location.hash))?.slice(1).map(Number) ?? [0, 0];
  const { x, y, width, height } = await page.locator(PICTURE).boundingBox();
  await page.mouse.click(x + width / 4, y + height / 2);
  const part = (width / 4 - 56) / (width - 68);
  const [from, to] = await zoom();
  const pointed = from + part * (to - from);
  const inPlace = async (factor) => {
    const [first, last] = await zoom();
    return Math.abs((last - first) / (to - from) - factor) < 0.02 && Math.abs((pointed - first) / (last - first) - part) < 0.01;
  };
  await page.keyboard.press("w");
  await until("half of it, and what was pointed at in its place", () => inPlace(0.5));
  await page.keyboard.press("s");
  await until("all of it again", () => inPlace(1));
});

test("messages::keys_go_from_call_to_call_and_select", async (t) => {
  const page = await messages(t);
  await page.locator(PICTURE).focus();
  const spoken = async () => page.locator(".messages .unseen").innerText();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await spoken(), /^Rank 1, MPI_Irecv from 0:00:12\.\d{9}, \d/);
  const first = await spoken();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await spoken(), first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await spoken(), first);
  await page.keyboard.press("Enter");
  await until("the call in the inspector", async () => (await inspector(page)).Rank === "1");
  assert.ok(first.includes((await inspector(page)).Start), `${first} is not ${(await inspector(page)).Start}`);
  await click(page, "Table");
  const rows = page.locator("table[aria-label='Calls of rank 1'] tbody tr:not([aria-hidden])");
  await rows.first().waitFor();
  assert.match(await rows.first().innerText(), /^MPI_Irecv/);
});

test("messages::a_message_is_pointed_at_and_selected", async (t) => {
  const page = await messages(t);
  const { x, y, width, height } = await page.locator(PICTURE).boundingBox();
  // The tip is there with the next frame after a move of the pointer, or not at all.
  const isMessage = () => page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    return /^Message from/.test(document.querySelector(".messages .tip b")?.textContent ?? "");
  });
  const find = async () => {
    for (let right = 60; right < width - 20; right += 4) {
      for (let down = 40; down < height - 10; down += 37) {
        await page.mouse.move(x + right, y + down);
        if (await isMessage()) return true;
      }
    }
    return false;
  };
  assert.ok(await find(), "no arrow is under the pointer anywhere");
  await page.mouse.down();
  await page.mouse.up();
  const rows = await inspector(page);
  assert.match(await page.locator(".inspector h2").first().innerText(), /^Message from \d+ to \d+/);
  assert.deepEqual(Object.keys(rows).slice(0, 3), ["From", "To", "Bytes"]);
  await page.getByRole("button", { name: "Show in Graph" }).click();
  await page.locator("#tab-what[aria-selected=true]").waitFor();
});

test("messages::rows_are_sorted_moved_and_chosen", async (t) => {
  const page = await messages(t);
  const before = fingerprint(await shot(page, PICTURE));
  await page.locator(PICTURE).focus();
  for (const key of ["ArrowDown", "Alt+ArrowDown"]) await page.keyboard.press(key);
  await until("another picture", async () => fingerprint(await shot(page, PICTURE)) !== before);
  await click(page, "Put back");
  assert.equal(await page.getByRole("button", { name: "Put back" }).count(), 0);
  await page.getByRole("textbox", { name: "Ranks" }).fill("0-3, 9");
  await page.keyboard.press("Enter");
  await headingIs(page, /^5 ranks; /);
  await page.getByRole("textbox", { name: "Ranks" }).fill("twelve");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("neither a rank nor a range").waitFor();
  await page.getByRole("textbox", { name: "Ranks" }).fill("");
  await page.keyboard.press("Enter");
  await headingIs(page, /^16 ranks; /);
  await page.getByLabel("Rows by").selectOption("region");
  await drawn(page);
});

test("messages::the_wheel_zooms_and_dragging_brushes", async (t) => {
  const page = await messages(t);
  const { x, y } = await page.locator(PICTURE).boundingBox();
  await page.mouse.move(x + 400, y + 120);
  const heading = await page.locator(".messages-head h2").innerText();
  await page.mouse.wheel(0, -240);
  await until("a shorter time in sight", async () => (await page.locator(".messages-head h2").innerText()) !== heading);
  await page.mouse.down();
  await page.mouse.move(x + 600, y + 140, { steps: 4 });
  await page.mouse.up();
  await page.locator(".inspector h2", { hasText: "Selected range" }).waitFor();
  const now = await page.locator(PICTURE).boundingBox();
  await page.mouse.dblclick(now.x + 500, now.y + now.height - 10);
  await until("the whole run", async () => /^0:00:00\.000\sto/.test(await page.locator(".messages-head h2").innerText()));
});

test("messages::pictures", async (t) => {
  const page = await messages(t);
  await shoot(page, "messages");
  await click(page, "Latency");
  await shoot(page, "messages-latency");
}, { full: true });

test("messages::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await messages(t);
  await page.setViewportSize(SMALL);
  await checkAll(page, [
    ["the rows", () => drawn(page)],
    ["a call", async () => {
      await page.locator(PICTURE).focus();
      for (const key of ["ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    }, () => page.keyboard.press("Escape")],
    ["latency", () => click(page, "Latency"), () => click(page, "Latency")],
    ["the table", () => click(page, "Table"), () => click(page, "Table")],
  ]);
});

test("messages::the_slowest_one_is_found_by_its_name", async (t) => {
  const recording = await crowded();
  const { criteria } = report(recording);
  const medianOf = ({ bytes, inter }) => criteria.find((of) => of.scope === (inter === "true" ? "inter" : "intra") && of.size_from <= bytes && bytes < of.size_to)?.median_ns;
  const latencies = messagesOf(recording, 0, 60)
    .filter(({ exact }) => exact === "true")
    .map((message) => ({ ...message, latency: message.t_msg_ns / medianOf(message) }))
    .filter(({ latency }) => latency > 0)
    .sort((one, other) => other.latency - one.latency);
  const [worst] = latencies;
  const page = await open(t, (await replay(t, recording)).url);
  await untilState(page, /^replay$/);
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Find" }).fill("slowest message");
  await page.keyboard.press("Enter");
  await until("the inspector shows a message", async () => (await inspector(page)).Received !== undefined);
  const found = await inspector(page);
  assert.deepEqual([number(found.From.replace("rank", "")), number(found.To.replace("rank", ""))], [worst.src, worst.dst]);
  assert.ok(Math.abs(Number(/[\d.]+/.exec(found["Latency L"])[0]) - worst.latency) < 0.01 * worst.latency, `${found["Latency L"]}, not ${worst.latency}`);
});
