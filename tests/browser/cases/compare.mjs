// Two recordings on one page: what changed, as `mpiscope compare --json` says it, and both over time.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { LARGE, open, SMALL } from "../lib/browser.mjs";
import { quantity } from "../lib/compare.mjs";
import { table } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count, decodePng, differing } from "../lib/pixels.mjs";
import { compare, compared } from "../lib/product.mjs";
import { even, steady, stretched, uneven } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

async function opened(t, options) {
  const served = await compare(t, await even(), await uneven());
  const page = await open(t, served.url, options);
  await page.locator(".compare .drawn canvas").waitFor();
  return { page, served, truth: compared(await even(), await uneven()) };
}

const near = (shown, value, what) => assert.ok(Math.abs(shown - value) <= 0.00501 * Math.abs(value) + 1e-9, `${what}: the page says ${shown}, the comparison ${value}`);

/** Less than nothing has a sign of its own. */
const seconds = (text) => (text === "0 s" || text === "0" ? 0 : (text.startsWith("\u2212") ? -1 : 1) * quantity(text.replace(/^[+\u2212]/, "")));

test("compare::its_figures_are_those_of_the_json", async (t) => {
  const { page, served, truth } = await opened(t);
  assert.equal((await page.locator(".verdict .sentence").innerText()).replaceAll("\u00a0", " "), truth.answer);
  // In what, and for whom: tests of the report know, which have the CPUs for themselves.
  assert.match(truth.answer, /^B took [\d.]+ s longer than A \(\+\d+ %\), mostly /);
  assert.equal(served.output.split("\n")[0], truth.answer, "the text is printed as well");
  const lengths = await page.locator(".facts b").allInnerTexts();
  near(seconds(lengths[0]), truth.job.duration_s.a, "the length of A");
  near(seconds(lengths[1]), truth.job.duration_s.b, "the length of B");

  const parts = await table(page, "Time of a rank");
  const swatches = await page.locator(".compare .swatch").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.deepEqual([...new Set(swatches)], [10], "swatches are squares, and rows one line");
  const row = (name) => parts.find(({ part }) => part === name);
  for (const [name, key] of [["outside of MPI", "outside"], ["waiting for others", "waiting"], ["in MPI", "total"], ["other calls, CPU wait in MPI", "other"]]) {
    const figure = truth.of_rank[key];
    near(seconds(row(name).A), figure.a, `${name} in A`);
    near(seconds(row(name).B), figure.b, `${name} in B`);
    near(seconds(row(name).change), figure.change.difference, `the change of ${name}`);
  }
  const functions = await table(page, "Functions");
  assert.deepEqual(functions.map((each) => each.function), truth.functions.map(({ name }) => name), "the largest change first");
  assert.equal(functions[0].function, "MPI_Allreduce");
  near(seconds(functions[0].B), truth.functions[0].of_rank.b, "the first function in B");
  assert.match(functions[0].how, /^each [\d.]+x as long, ranks 0, 2\u20133$/);
  const reasons = await page.locator("td.reason").evaluateAll((cells) => cells.map((cell) => {
    const [own, row] = [cell.getBoundingClientRect(), cell.parentElement.getBoundingClientRect()];
    return own.top >= row.top - 1 && own.bottom <= row.bottom + 1 && own.right <= row.right + 1;
  }));
  assert.ok(reasons.length > 1 && reasons.every(Boolean), `reasons stand in their rows: ${reasons}`);
  const places = await table(page, "Call sites");
  assert.equal(places[0]["call site"], truth.sites[0].place);
  assert.equal(places[0].what, "MPI_Allreduce");
  assert.ok((await page.locator(".noise").innerText()) === truth.noise.sentence);
});

const picture = async (page) => decodePng(await page.locator(".compare .drawn").screenshot());

test("compare::both_are_over_one_axis_of_time", async (t) => {
  const { page, truth } = await opened(t);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await until("bars are drawn", async () => count(await picture(page), coloured).pixels > 500);
  const calls = await picture(page);
  await page.getByRole("button", { name: "Time in MPI" }).click();
  await until("another picture", async () => differing(calls, await picture(page)) > 500);
  await page.getByRole("button", { name: "Calls", exact: true }).click();

  // With the keyboard from slot to slot.
  const drawn = page.locator(".compare .drawn");
  await drawn.focus();
  const slot = () => drawn.getAttribute("aria-valuetext");
  const go = async (words) => {
    await page.keyboard.press("ArrowRight");
    return words.test(await slot());
  };
  await page.keyboard.press("ArrowRight");
  assert.match(await slot(), /^0:00:00\.000: /);
  await page.locator(".compare .tip").waitFor();
  // How long MPI_Init takes depends on the machine.
  await until(async () => `a slot in which both communicate; now "${await slot()}"`, () => go(/MPI_Allreduce \d+ in A, \d+ in B/));
  await drawn.blur();
  await until("the tip is gone", async () => (await page.locator(".compare .tip").count()) === 0);

  // Beyond the end of A there is only B. How long MPI_Finalize takes depends on the machine.
  const box = await drawn.boundingBox();
  const tip = page.locator(".compare .tip");
  let right = 0;
  let cells = [];
  const onlyB = async () => {
    right = (right + 8) % (box.width / 4);
    await page.mouse.move(box.x + box.width - right, box.y + box.height * 0.75);
    const rows = (await tip.count()) === 0 ? [] : await tip.locator("tbody tr").all();
    cells = rows.length === 0 ? [] : await rows[0].locator("td").allInnerTexts();
    return cells[0] === "MPI_Allreduce" && cells[1] === "0" && Number(cells[2]) > 0;
  };
  await until(async () => `a slot in which only B communicates; now "${cells.join(" ")}"`, onlyB);
  // Where other programs took the CPUs, A took longer than it should have.
  assert.ok(truth.job.duration_s.b > 1.1 * truth.job.duration_s.a, JSON.stringify(truth.job.duration_s));
  await page.mouse.move(2, 2);
  await shoot(page, "compare");
  await page.locator(".compare").evaluate((element) => { element.scrollTop = element.scrollHeight; });
  await shoot(page, "compare-end");
});

test("compare::both_are_on_one_clock_by_turn_or_by_phase", async (t) => {
  const served = await compare(t, await steady(), await stretched());
  const page = await open(t, served.url);
  const drawn = page.locator(".compare .drawn");
  await drawn.waitFor();
  const truth = compared(await steady(), await stretched()).alignment;
  assert.equal(truth.by, "turn");
  const way = (name) => page.getByRole("button", { name, exact: true });
  const reason = () => page.locator(".compare .align [role=status]").innerText();
  const sentences = async () => (await page.locator(".compare .stretches li").allInnerTexts()).map((text) => text.replaceAll("\u00a0", " "));
  assert.equal(await way("Turn").getAttribute("aria-pressed"), "true", "the page begins as the report");
  assert.equal(await reason(), truth.reason);
  assert.deepEqual(await sentences(), truth.stretches.map(({ sentence }) => sentence));
  const [most] = truth.stretches;
  assert.ok(most.first <= 101 && most.last >= 150, JSON.stringify(most));
  // More than a few turns beside those that were made longer belong to it only if most of them really took longer.
  for (const [first, last] of [[most.first, 96], [155, most.last]]) {
    const beside = truth.sections.filter(({ number }) => number >= first && number <= last);
    const longer = beside.filter((of) => of.b_to_ns - of.b_from_ns > of.a_to_ns - of.a_from_ns);
    assert.ok(2 * longer.length >= beside.length, `${longer.length} of turns ${first} to ${last}`);
  }

  // From the sentence to its place: the slot of the first of these turns.
  await until("bars are drawn", async () => count(await picture(page), coloured).pixels > 500);
  await page.locator(".compare .stretches button").first().click();
  const words = await drawn.getAttribute("aria-valuetext");
  const [, turn, own] = /\(turn (\d+), B at ([\d:.]+), /.exec(words) ?? [];
  const turnsOfSlot = (300 * 0.1e9) / truth.sections.at(-1).a_to_ns;
  assert.ok(Math.abs(Number(turn) - most.first) <= turnsOfSlot + 2, `${words}, not turn ${most.first}`);
  assert.match(own, /^0:00:0\d\.\d{3}$/);

  const aligned = await drawn.boundingBox();
  await way("Start").click();
  await until("no row of losses", async () => (await drawn.boundingBox()).height < aligned.height);
  assert.deepEqual(await sentences(), []);
  await until("bars from the start", async () => count(await picture(page), coloured).pixels > 500);
  await way("Phase").click();
  await until("phases", async () => /^Aligned by phase, as named with MPI_Pcontrol: all 3 matched\.$/.test(await reason()));
  assert.match((await sentences())[0], /^phase middle took [\d.]+ (ms|s) more/);
  await shoot(page, "compare-aligned");
  await checkAll(page, [
    ["aligned by phase", () => way("Phase").click()],
    ["aligned by turn", () => way("Turn").click()],
    ["a small window", () => page.setViewportSize(SMALL), () => page.setViewportSize(LARGE)],
  ]);
});

test("compare::what_cannot_be_aligned_says_why", async (t) => {
  const { page } = await opened(t);
  const drawn = page.locator(".compare .drawn");
  await page.getByRole("button", { name: "Phase", exact: true }).click();
  const why = page.locator(".compare .align [role=status]");
  await until("the reason", async () => (await why.innerText()) === "The runs cannot be aligned by phase. The program names no phases with MPI_Pcontrol.");
  assert.equal(await drawn.isVisible(), false, "no picture that would be of something else");
  await page.getByRole("button", { name: "Turn", exact: true }).click();
  await drawn.waitFor();
  assert.match(await why.innerText(), /marked by MPI_Allreduce at .*uneven.*: turns 1 to 800 matched\.$/);
});

test("compare::nothing_serious_for_those_who_cannot_see_it", async (t) => {
  const { page } = await opened(t, { viewport: SMALL });
  await checkAll(page, [
    ["a comparison", () => page.locator(".compare").evaluate((element) => { element.scrollTop = 0; })],
    ["time in MPI", () => page.getByRole("button", { name: "Time in MPI" }).click()],
    ["the end", () => page.locator(".compare").evaluate((element) => { element.scrollTop = element.scrollHeight; })],
    ["the keys", async () => {
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    }, () => page.keyboard.press("Escape")],
    ["a large window", () => page.setViewportSize(LARGE), () => page.setViewportSize(SMALL)],
  ]);
});
