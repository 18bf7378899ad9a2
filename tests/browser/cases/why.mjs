// The tab Causes in full: the budget in sentences, the three views of messages, expected transfer times, call
// sites, a better placement; each held against what the program says of the same recording.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { quantity } from "../lib/compare.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { inspector, number, table, untilMode, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { PROGRAM } from "../lib/paths.mjs";
import { replay, report } from "../lib/product.mjs";
import { scattered, uneven } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { settled, until } from "../lib/wait.mjs";
import { brush } from "../lib/why.mjs";

const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");
const counts = (text) => plain(text).replace(/(?<=\d) (?=\d{3})/g, "");

async function why(t, recording, options) {
  const { url } = await replay(t, recording);
  const page = await open(t, url, options);
  await untilState(page, /^replay$/);
  await page.keyboard.press("7");
  await page.locator(".why .contents").waitFor();
  return page;
}

const part = (page, name) => page.getByRole("navigation", { name: "Parts of this view" }).getByRole("button", { name, exact: true }).click();
const sentences = async (page) => (await page.locator(".why .view > p").allInnerTexts()).map(counts);
const views = (page) => page.locator(".why .view .time-chart svg path, .why .view .time-chart svg rect").first().waitFor();

test("why::each_part_of_the_view_is_reached_by_keyboard", async (t) => {
  const page = await why(t, await uneven());
  const names = await page.locator(".why .contents button").allInnerTexts();
  assert.deepEqual(names, ["Causes", "What if", "Which ranks", "Waits", "Call sites", "Budget", "Over time", "Three views", "Criteria", "Placement"]);
  for (const name of names) {
    await page.locator(".why .contents button", { hasText: new RegExp(`^${name}$`) }).focus();
    await page.keyboard.press("Enter");
    await until(`the focus is in ${name}`, () => page.evaluate(() => document.activeElement?.id.startsWith("why-") && document.activeElement.getBoundingClientRect().top < innerHeight));
  }
});

test("why::a_run_is_replayed_without_its_causes", async (t) => {
  const recording = await uneven();
  const { whatif, verdict } = report(recording);
  const page = await why(t, recording);
  await part(page, "What if");
  const switches = page.locator("#why-what-if button[role=switch]");
  const isOn = async (at) => (await switches.nth(at).getAttribute("aria-checked")) === "true";
  const causes = ["mapping", "pattern", "background", "cpu"];
  const times = async () => (await page.locator("#why-what-if .value").allInnerTexts()).map(quantity);
  const expected = async () => {
    const removed = [];
    for (const [at, cause] of causes.entries()) if (await isOn(at)) removed.push(cause);
    const found = whatif.without.find((each) => each.causes.length === removed.length && each.causes.every((cause) => removed.includes(cause)));
    return { removed, runS: found ? found.run_s : whatif.recorded_s };
  };
  const agrees = async () => {
    const [recordedS, predictedS] = await times();
    const { removed, runS } = await expected();
    assert.ok(Math.abs(recordedS - whatif.recorded_s) <= 0.006 * recordedS, `${recordedS} is shown, ${whatif.recorded_s} reported`);
    assert.ok(Math.abs(predictedS - runS) <= 0.006 * recordedS, `${predictedS} is shown without ${removed}, ${runS} reported`);
    return removed;
  };
  assert.deepEqual(await agrees(), [verdict.cause]);
  for (const [at, cause] of causes.entries()) {
    assert.equal(await switches.nth(at).isEnabled(), whatif.without.some((each) => each.causes.length === 1 && each.causes[0] === cause), cause);
    if (!(await switches.nth(at).isEnabled())) continue;
    const before = await isOn(at);
    await switches.nth(at).click();
    await until(`${cause} is switched`, async () => (await isOn(at)) !== before);
    await agrees();
  }
});

test("why::a_part_of_the_bar_marks_its_sentence_and_the_reverse", async (t) => {
  const page = await why(t, await uneven());
  const marked = () => page.locator(".why ul.parts li.marked .name").allInnerTexts();
  const bar = page.getByRole("toolbar", { name: "Time in MPI" });
  await bar.locator("button").first().focus();
  assert.deepEqual(await marked(), ["waiting for others"]);
  assert.match(await bar.locator("button").first().getAttribute("aria-label"), /^waiting for others: .*of the ranks\u2019 time/);
  await page.keyboard.press("ArrowRight");
  const [second] = await marked();
  assert.ok(second && second !== "waiting for others", second);
  await page.locator(".why ul.parts li").first().hover();
  assert.equal(await bar.locator("button.marked").count(), 1);
});

test("why::sentences_of_the_budget_say_what_the_report_says", async (t) => {
  const page = await why(t, await uneven());
  const { budget } = report(await uneven());
  const [waiting] = await page.locator(".why ul.parts").first().locator("li").allInnerTexts();
  const [, figure, reason] = /(?:of it ([\d.]+ \w+)|most of it) while those who were waited for (computed longer|waited for a CPU)/.exec(plain(waiting)) ?? [];
  // On a busy machine those who have more to do wait for a CPU for most of it.
  const { compute, no_core: cpuWait } = budget.waiting_by;
  const isCpu = reason === "waited for a CPU";
  const expectedS = isCpu ? cpuWait : compute - cpuWait;
  // What is taken off the waiting may make it more than all of it: then the row of what was waited for has the figure.
  assert.equal(figure === undefined, expectedS > budget.waiting_s, waiting);
  const row = page.locator(".why ul.parts").nth(1).locator("li", { hasText: isCpu ? "they waited for a CPU" : "they were computing" });
  const most = figure ?? (await row.first().locator(".value").innerText());
  assert.ok(Math.abs(quantity(plain(most)) - expectedS) <= 0.00501 * expectedS, `${waiting}, ${most}, not ${expectedS} s`);
});

test("why::the_three_views_count_what_the_report_counts", async (t) => {
  const page = await why(t, await scattered());
  await part(page, "Three views");
  await views(page);
  const { totals } = report(await scattered());
  let shown = "";
  await until(() => `messages between nodes as in the report; it says "${shown}"`, async () => {
    [shown] = await sentences(page);
    return shown.includes(`${totals.inter_messages} of ${totals.inter_messages + totals.intra_messages}`);
  });
  assert.ok(shown.includes(`${((100 * totals.inter_messages) / totals.messages).toFixed(1)} % of the messages`), shown);
  // Of a part of the run there are fewer.
  await brush(page, 0.25, 0.5);
  await until(() => `a part of the messages; it says "${shown}"`, async () => {
    [shown] = await sentences(page);
    const [, inter, all] = /: (\d+) of (\d+)/.exec(shown) ?? [];
    return Number(all) > 0 && Number(inter) < totals.inter_messages / 2;
  });
  await page.locator(".why .views h2", { hasText: "selected range" }).waitFor();
  await shoot(page, "why-views");
  await page.locator(".why .view .link").first().click();
  await until("the rank that is furthest is in the inspector", async () => (await inspector(page)).Process !== undefined);
});

test("why::criteria_are_those_of_the_report", async (t) => {
  const page = await why(t, await scattered());
  await part(page, "Criteria");
  const slider = page.getByRole("slider", { name: "Criteria by size of messages" });
  await slider.waitFor();
  const { criteria } = report(await scattered());
  assert.ok(criteria.length > 0);
  assert.equal(Number(await slider.getAttribute("aria-valuemax")), criteria.length - 1);
  await slider.focus();
  for (let at = 0; at < criteria.length; at++) {
    const text = plain(await slider.getAttribute("aria-valuetext"));
    const [, scope, median, normal, samples] = /^(between|within) nodes, .*: median ([\d. ]+ [\wµ]+)(?:, normal up to ([\d. ]+ [\wµ]+))? of ([\d ]+) samples?/.exec(text) ?? [];
    const isSame = (ns, words) => (ns === null) === (words === undefined) && (ns === null || Math.abs(ns / 1e9 - quantity(words)) <= 0.00501 * quantity(words) + 1e-9);
    const expected = criteria.find((each) => each.samples === number(samples) && (each.scope === "inter") === (scope === "between") && isSame(each.median_ns, median) && isSame(each.normal_ns, normal));
    assert.ok(expected, `${text} is not in the report`);
    await page.keyboard.press("ArrowRight");
  }
  // A chart that was drawn anew meanwhile has lost it.
  await slider.focus();
  await page.locator(".why .criteria .tip").waitFor();
  assert.match(await page.locator(".why .criteria h2").innerText(), /final/);
  await shoot(page, "why-criteria");
});

test("why::call_sites_are_those_of_the_report_and_lead_to_their_longest_wait", async (t) => {
  const page = await why(t, await uneven());
  await part(page, "Call sites");
  const { sites } = report(await uneven());
  const rows = await table(page, "Call sites");
  const expected = sites.filter(({ waiting_s: value }) => value > 0).sort((one, other) => other.waiting_s - one.waiting_s);
  assert.ok(rows.length > 0 && expected.length > 0);
  for (const [at, row] of rows.slice(0, expected.length).entries()) {
    const seconds = quantity(plain(row.waited));
    assert.ok(Math.abs(seconds - expected[at].waiting_s) <= 0.00501 * seconds + 1e-9, `${row.waited} is not ${expected[at].waiting_s} s`);
    if (expected[at].place) assert.ok(rows.some((each) => each["call site"] === expected[at].place), expected[at].place);
  }
  await page.locator("table[aria-label='Call sites'] tbody button").first().focus();
  await page.keyboard.press("Enter");
  await until("the place is in the inspector", async () => (await inspector(page))["Waited there"] === rows[0].waited);
  await untilMode(page, "paused");
  await page.locator(".inspector button", { hasText: "Only these ranks" }).click();
  await page.locator(".why section.range h2", { hasText: /^Selected ranks? / }).waitFor();
  await page.getByRole("button", { name: "All ranks" }).first().click();
  await until("all ranks again", async () => (await page.locator(".why section.range").count()) === 0);
});

test("why::a_placement_is_the_programs_own", async (t) => {
  const page = await why(t, await scattered());
  await part(page, "Placement");
  const { remap } = report(await scattered());
  const change = page.locator(".why .change").first();
  await change.waitFor();
  const [before, after] = (await change.locator(".value").allInnerTexts()).map(number);
  assert.deepEqual([before, after], [remap.inter_messages_before, remap.inter_messages_after]);
  assert.ok(after < before);
  // Where little is to be gained the files are folded away.
  const folded = page.locator("#why-placement summary");
  if ((await folded.count()) > 0) await folded.click();
  for (const [format, label] of [["rankfile", /^Save the rankfile/], ["machinefile", /^Save the machine file/], ["slurm", /^Save the host list/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label }).click()]);
    const text = execFileSync(PROGRAM, ["remap", await scattered(), "--format", format], { stdio: ["ignore", "pipe", "ignore"] }).toString();
    assert.equal(readFileSync(await download.path(), "utf8"), text, format);
  }
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: /^Copy the command line for the rankfile/ }).click();
  const line = await page.locator(".why .files .command").first().innerText();
  await until("the command line is in the clipboard", async () => (await page.evaluate(() => navigator.clipboard.readText())) === line);
  assert.match(line, /--rankfile/);
  await shoot(page, "why-placement");
});

test("why::the_ranks_it_comes_from_are_those_of_the_report_and_lead_to_them", async (t) => {
  const { sources, gathered } = report(await uneven());
  const page = await why(t, await uneven());
  const source = sources.find(({ cause }) => cause === "pattern");
  const rows = await table(page, "Ranks with load imbalance");
  assert.deepEqual(rows.map((row) => row.rank), source.ranks.map(({ rank }) => `rank ${rank}`));
  assert.equal(source.ranks[0].rank, 1);
  assert.ok(Math.abs(quantity(rows[0]["above balanced work \u2193"] ?? rows[0]["above balanced work"]) - source.ranks[0].seconds) <= 0.006 * source.ranks[0].seconds, JSON.stringify(rows[0]));
  const calls = await table(page, "Waits by call");
  assert.equal(calls.length, gathered.length);
  assert.ok(calls[0]["in which call"].startsWith(gathered[0].function), JSON.stringify(calls[0]));
  await page.locator("table[aria-label='Ranks with load imbalance'] button.rank").first().click();
  await page.locator(".inspector h2", { hasText: /^rank 1(Clear)?$/i }).waitFor();
});

test("why::one_node_has_no_placement_and_says_so", async (t) => {
  const page = await why(t, await uneven());
  await part(page, "Placement");
  await page.locator("#why-placement p", { hasText: /node/ }).first().waitFor();
  assert.equal(await page.locator("#why-placement .files").count(), 0);
});

test("why::nothing_moves_while_it_is_live", async (t) => {
  const url = await madeUp(t, "--ranks", "64", "--nodes", "8", "--calls", "2000", "--seconds", "40");
  const page = await open(t, `${url}#tab=why`);
  await untilState(page, /^live/);
  await page.keyboard.press("7");
  await views(page);
  await page.locator(".why .files").waitFor();
  await page.getByRole("slider", { name: "Criteria by size of messages" }).waitFor();
  const heights = () => page.evaluate(() => [...document.querySelectorAll(".why section")].map((section) => Math.round(section.getBoundingClientRect().height)));
  const first = await settled("the heights", heights);
  const before = await sentences(page);
  await until("newer figures", async () => JSON.stringify(await sentences(page)) !== JSON.stringify(before));
  assert.deepEqual(await heights(), first);
});

test("why::nothing_serious_for_those_who_cannot_see_it", async (t) => {
  const url = await madeUp(t, "--ranks", "64", "--nodes", "8", "--calls", "2000", "--scene", "replay", "--verdict", "placement");
  const page = await open(t, `${url}#tab=why`, { viewport: SMALL });
  await page.keyboard.press("7");
  await views(page);
  await checkAll(page, [
    ["the tab Causes in full", () => page.locator(".why .files").waitFor()],
    ["a place", () => page.locator("table[aria-label='Call sites'] tbody button").first().click(), () => page.keyboard.press("Escape")],
  ]);
});
