// A recording on the page: the report's figures, and the same calls whichever way its time is reached.

import { strict as assert } from "node:assert";
import { compareFigures, compareFunctions } from "../lib/compare.mjs";
import { LARGE, open, SMALL } from "../lib/browser.mjs";
import { coloured, count, differing } from "../lib/pixels.mjs";
import { drag, inspector, legend, mode, nanoseconds, number, plotShot, shot, state, stillPicture, tab, table, time, timelineX, timeText, untilMode, untilParticles, untilState } from "../lib/page.mjs";
import { replay, report } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { settled, until } from "../lib/wait.mjs";

async function opened(t) {
  const recording = await quiet();
  const { url } = await replay(t, recording);
  const page = await open(t, url);
  await untilState(page, /^replay$/);
  await page.locator(".particles-plot").waitFor();
  return { page, recording, truth: report(recording) };
}

/** The calls that the keyboard meets from the middle of the plot, in words. */
async function walk(page) {
  const plot = page.locator(".particles-plot");
  await plot.focus();
  await page.keyboard.press("Escape");
  const met = [];
  for (const key of ["ArrowUp", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"]) {
    await page.keyboard.press(key);
    met.push(await page.locator(".particles-spoken").innerText());
  }
  await page.keyboard.press("Escape");
  await plot.blur();
  return met;
}

/** Waits until the plot is that of a picture before: its history may come late. */
async function untilSame(page, picture, when) {
  let pixels;
  await until(() => `the same picture ${when}; ${pixels} pixels differ`, async () => (pixels = differing(picture, await plotShot(page))) === 0, 30_000);
}

test("replay::its_numbers_are_those_of_the_report", async (t) => {
  const { page, truth } = await opened(t);
  await compareFigures(page, truth);
  assert.equal(await state(page), "replay");
  await until("the legend has the report's counts", async () => {
    const shown = Object.fromEntries((await legend(page)).map(({ name, calls }) => [name, calls]));
    return truth.functions.every(({ name, calls, polls }) => shown[name] === calls + polls);
  });
  // Opened at its end; that is as long as the report says.
  assert.ok(Math.abs((await time(page)) / 1e9 - truth.job.duration_s) < 0.01, `${await timeText(page)} is not ${truth.job.duration_s} s`);
  await tab(page, "figures");
  compareFunctions(await table(page, "Functions"), truth);
  const ranks = await table(page, "Ranks");
  assert.deepEqual(ranks.map((row) => Number(row.rank)).sort((a, b) => a - b), truth.job.nodes.flatMap((node) => node.ranks));
});

test("replay::the_cursor_dragged_away_and_back_shows_the_same_calls", async (t) => {
  const { page } = await opened(t);
  await until("the timeline has bars", async () => count(await shot(page, ".timeline .plot"), coloured).pixels > 500);
  const a = 0.62;
  await drag(page, 1, a);
  await untilMode(page, "paused");
  await untilParticles(page);
  const first = { ...(await stillPicture(page)), calls: await walk(page), picture: await plotShot(page) };
  assert.ok(first.calls.every((text) => /^MPI_\w+, rank \d, .* started at /.test(text)), first.calls.join("\n"));
  assert.match(first.words, /^all [\d\u2009]+ calls of this moment/);
  for (const away of [0.35, 0.02]) {
    await drag(page, a, away);
    await until("the cursor is elsewhere", async () => (await timeText(page)) !== first.time);
    const other = await stillPicture(page);
    assert.notEqual(other.print, first.print);
    await drag(page, away, a);
    await until(() => "the cursor is back", async () => (await timeText(page)) === first.time);
    const again = await stillPicture(page);
    assert.deepEqual(await walk(page), first.calls);
    assert.equal(again.words, first.words);
    await untilSame(page, first.picture, `after a visit to ${away}`);
  }
});

test("replay::a_reload_shows_the_same_moment", async (t) => {
  const { page } = await opened(t);
  await drag(page, 1, 0.5);
  await untilMode(page, "paused");
  await untilParticles(page);
  const first = { ...(await stillPicture(page)), calls: await walk(page), picture: await plotShot(page) };
  // Not one that the cursor passed on its way.
  const addressNs = () => 1e9 * Number(/[#&]t=([\d.]+)/.exec(page.url())?.[1] ?? Number.NaN);
  await until(() => `the address holds the time ${first.time}; it is ${page.url()}`, () => Math.abs(addressNs() - nanoseconds(first.time)) <= 1e6);
  await page.reload();
  await page.locator(".particles-plot").waitFor();
  await until(() => "the same time", async () => (await timeText(page)) === first.time);
  await untilParticles(page);
  const again = await stillPicture(page);
  assert.deepEqual(await walk(page), first.calls);
  assert.equal(again.words, first.words);
  await untilSame(page, first.picture, "after a reload");
});

test("replay::time_plays_forward_and_backward_and_stops_at_the_ends", async (t) => {
  const { page, truth } = await opened(t);
  await drag(page, 1, 0.4);
  await untilMode(page, "paused");
  const start = await time(page);
  // Slowly: time must not come to an end before somebody looks.
  await page.locator("select.rate").selectOption({ label: "x0.2" });
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await untilMode(page, "forward");
  await until("time goes forward", async () => (await time(page)) > start + 2e8);
  await page.getByRole("button", { name: "Play backward" }).click();
  await untilMode(page, "backward");
  const turned = await time(page);
  await until("time goes backward", async () => (await time(page)) < turned - 2e8);
  await page.getByRole("button", { name: "Pause" }).click();
  await untilMode(page, "paused");
  // The server has the last word about where it stopped.
  const stopped = await settled("the time after a pause", () => timeText(page));
  const step = page.getByRole("button", { name: /^Forward by/ });
  await step.click();
  await until("a step forward", async () => Math.abs((await time(page)) - nanoseconds(stopped) - 1e8) < 2e6);
  await page.locator("select.rate").selectOption({ label: "x5" });
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await until("it stops at the end", async () => ["paused", "live"].includes(await mode(page)) && Math.abs((await time(page)) / 1e9 - truth.job.duration_s) < 0.01);
  await page.getByRole("button", { name: "Play backward" }).click();
  await until("it stops at the start", async () => (await mode(page)) === "paused" && (await time(page)) === 0);
});

/** Where on the page the timeline's tallest bar is; the cursor at its end is none. */
async function tallestBar(page) {
  const [start, end] = [await timelineX(page, 0), await timelineX(page, 0.98)];
  const { x } = await page.locator(".timeline .plot").boundingBox();
  const picture = await shot(page, ".timeline .plot");
  let tallest = { pixels: 0 };
  for (let column = Math.ceil(start.x - x); column < end.x - x; column++) {
    const { pixels } = count(picture, (red, green, blue, at) => at === column && coloured(red, green, blue));
    if (pixels > tallest.pixels) tallest = { pixels, x: x + column };
  }
  assert.ok(tallest.pixels > 0, "the timeline has no bars");
  return { x: tallest.x, y: start.y };
}

test("replay::the_wheel_zooms_and_a_double_click_shows_all", async (t) => {
  const { page } = await opened(t);
  const whole = page.getByRole("button", { name: "Whole run", exact: true });
  assert.ok(await whole.isDisabled());
  await until("the timeline has bars", async () => count(await shot(page, ".timeline .plot"), coloured).pixels > 500);
  // Not simply in the middle: on a busy machine the ranks may be without a CPU there.
  const tall = await tallestBar(page);
  await page.mouse.move(tall.x, tall.y);
  await page.mouse.wheel(0, -1200);
  await until("zoomed in", async () => await whole.isEnabled());
  await until("finer counts come", async () => /calls started in each [\d.]+ (µs|ms)/.test(await page.locator(".timeline .value").innerText()));
  await until("it has bars", async () => count(await shot(page, ".timeline .plot"), coloured).pixels > 200);
  await page.mouse.dblclick(tall.x, tall.y);
  await until("all is shown", async () => await whole.isDisabled());
});

test("replay::a_range_is_counted_as_the_calls_in_it", async (t) => {
  const { page, truth } = await opened(t);
  const box = await page.locator(".timeline .plot").boundingBox();
  const y = box.y + 8;
  await page.mouse.move((await timelineX(page, 0)).x + 1, y);
  await page.mouse.down();
  await page.mouse.move((await timelineX(page, 1)).x + 8, y, { steps: 8 });
  await page.mouse.up();
  await until("the range is selected", async () => (await page.locator(".inspector h2").allInnerTexts()).some((text) => text.includes("Selected range")));
  // All but the first pixel, in which the launcher was still at work.
  const counted = async () => number((await inspector(page))["Calls started"] ?? "NaN");
  const rows = async () => (await page.locator(".inspector .bars > div").allInnerTexts()).join("; ").replaceAll("\n", " ");
  await until(async () => `the range holds ${truth.totals.calls} calls; it says ${await counted()}: ${await rows()}`, async () => (await counted()) === truth.totals.calls, 15_000);
});

test("replay::a_second_recording_that_programs_receive_is_named", async (t) => {
  const recording = await quiet();
  const { url } = await replay(t, recording, "--with", recording, "--align", "start");
  const name = recording.replace(/^.*\//, "");
  for (const viewport of [LARGE, SMALL]) {
    const page = await open(t, url, { viewport, view: "overview" });
    await untilState(page, /^replay$/);
    const second = page.locator(".scope .second");
    assert.equal(await second.innerText(), `programs also receive ${name}`);
    assert.match(await second.getAttribute("title"), /mpiscope compare/);
    assert.ok(await second.evaluate((shown) => shown.scrollWidth <= shown.clientWidth), "all of it is there to read");
  }
});
