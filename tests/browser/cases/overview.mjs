// The overview: what a page opens with, its figures against those of the report, and a hanging job.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { quantity } from "../lib/compare.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { number, timeText, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { replay, report, steady } from "../lib/product.mjs";
import { even, uneven } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const section = (page, title) => page.locator(".overview section").filter({ has: page.locator("h2", { hasText: new RegExp(`^${title}`) }) });
const plain = (text) => text.replace(/[\u00a0\u202f\u2009]/g, " ");

/** The run's figures: value and note by name. */
const figures = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".run-figures > div")].map((each) => {
  const note = each.querySelector("small")?.textContent ?? "";
  const all = each.querySelector("dd").textContent;
  return [each.querySelector("dt").textContent, { value: all.slice(0, all.length - note.length), note }];
})));

async function overview(t, words, options = {}) {
  return open(t, await madeUp(t, "--calls", "2000", ...words), { view: null, ...options });
}

test("overview::a_recording_opens_with_it_and_has_the_figures_of_the_report", async (t) => {
  const page = await open(t, (await replay(t, await uneven())).url, { view: null });
  await untilState(page, /^replay$/);
  await page.locator("#tab-overview[aria-selected=true]").waitFor();
  const { totals, functions, job, budget, verdict } = report(await uneven());
  const shown = await figures(page);
  const near = (text, value, what) => assert.ok(Math.abs(quantity(text) - value) <= 0.00501 * value + 1e-9, `${what}: the page says ${text}, the report ${value}`);
  assert.equal(number(shown.Ranks.value), job.ranks);
  assert.equal(number(shown.Calls.value), totals.calls);
  assert.equal(number(shown.Messages.value), totals.messages);
  assert.equal(shown.Lost.value === "no call" ? 0 : number(shown.Lost.value.replace(/ calls?$/, "")), totals.lost_calls);
  near(shown["In MPI"].value, functions.reduce((sum, each) => sum + each.seconds, 0), "time in MPI");
  near(shown["Longest call"].value, Math.max(...functions.map((each) => each.max_ns)) / 1e9, "the longest call");
  const sentence = plain(await section(page, "Why").locator("p").innerText());
  const time = "([\\d. ]*\\d (?:ns|us|\u00b5s|ms|s))";
  const split = new RegExp(`^Of \\d+ ranks. ${time}, ${time} \\(.*?\\) were outside MPI(?:, ${time} \\(.*?\\) after ranks had finished,)? and ${time} \\(`).exec(sentence);
  assert.ok(split, sentence);
  const [ranksS, outsideS, , waitingS] = split.slice(1).map((text) => (text ? quantity(text.trim()) : 0));
  // Too little for a word in the sentence has its part of the bar.
  const titles = await section(page, "Why").locator(".stacked i").evaluateAll((parts) => parts.map(({ title }) => title));
  const [, finished] = /^finished: (.*?),/.exec(titles.find((title) => title.startsWith("finished: ")) ?? "") ?? [];
  const finishedS = finished ? quantity(plain(finished).trim()) : 0;
  const all = verdict.avoidable_s / verdict.share;
  for (const [value, wanted, what] of [[ranksS, all, "the ranks' time"], [outsideS + finishedS, all - budget.total_s, "outside MPI"], [waitingS, budget.waiting_s, "waiting"]]) {
    assert.ok(Math.abs(value - wanted) <= 0.00501 * wanted, `${what}: the page says ${value}, the report ${wanted}; ${sentence}`);
  }
  await section(page, "What to do").getByRole("button", { name: "All advice" }).click();
  await page.locator("#tab-why[aria-selected=true]").waitFor();
  await page.locator("#why-advice:focus").waitFor();
});

test("overview::it_is_quiet_when_there_is_nothing_to_say", async (t) => {
  const page = await open(t, (await replay(t, await even())).url, { view: null });
  await untilState(page, /^replay$/);
  const { verdict, cpu_shortage: shortage } = report(await even());
  if (verdict?.cause === "none") await section(page, "What to do").getByText(shortage ? /^Start (at most|no more) / : "Nothing has to be done").waitFor();
  else await section(page, "What to do").locator("p").first().waitFor();
  assert.equal(await section(page, "Hangs").count(), 0);
  const made = await overview(t, ["--ranks", "64", "--verdict", "none", "--regions", "calm", "--scene", "replay"]);
  await section(made, "What to do").getByText("Nothing has to be done").waitFor();
  await made.locator(".verdict .sentence", { hasText: "No avoidable time above 2 %" }).waitFor();
});

test("overview::a_running_job_has_figures_before_it_has_a_verdict", async (t) => {
  const running = await steady(t, "overview");
  const page = await open(t, running.url, { view: null, losesServer: true });
  await untilState(page, /^live/);
  await until("calls are counted", async () => number((await figures(page)).Calls.value) > 100);
  const rate = async () => (await figures(page))["Rate now"];
  await until(async () => `calls a second; it says ${JSON.stringify(await rate())}`, async () => /^[\d.]+( k)? calls\/s$/.test(plain((await rate()).value)));
  await section(page, "Hangs").locator("p").waitFor();
  await running.finish();
  await untilState(page, /^ended well/);
  await until("the mean of the whole run", async () => Boolean((await figures(page))["Mean rate"]));
  assert.equal(await section(page, "Hangs").count(), 0);
});

test("overview::a_hang_is_shown_by_function_and_rank", async (t) => {
  const page = await overview(t, ["--ranks", "64", "--nodes", "8", "--scene", "hang"]);
  const card = section(page, "Hangs");
  await card.getByText(/No call began for \d+ s.*: 56 of 64 ranks are in MPI_Barrier, .*; 7 in MPI_Waitall, .*; rank 17 is in no MPI call: do the others wait for it\?/).waitFor();
  assert.equal(await card.locator(".longest li").count(), 5);
  await page.locator(".notice.warn", { hasText: /The job may hang: no call began for \d+ s, and 63 of 64 ranks are inside one/ }).waitFor();
  await page.locator("#tab-figures").click();
  await page.locator(".notice button", { hasText: "Show where" }).click();
  await card.locator(".longest button", { hasText: "rank" }).first().click();
  await page.locator(".inspector h2", { hasText: /^Rank \d+/ }).waitFor();
});

test("overview::each_part_leads_on", async (t) => {
  const page = await overview(t, ["--ranks", "64", "--nodes", "8", "--scene", "replay"]);
  await page.locator(".overview .regions li:not(.between) button", { hasText: "16\u201323" }).click();
  await page.locator("#tab-where[aria-selected=true]").waitFor();
  await page.locator(".inspector h2", { hasText: "Region of ranks 16\u201323" }).waitFor();
  for (const [title, id] of [["Why", "why"], ["How", "how"], ["The run", "figures"]]) {
    await page.locator("#tab-overview").click();
    await section(page, title).locator("button.more").click();
    await page.locator(`#tab-${id}[aria-selected=true]`).waitFor();
  }
  await page.locator("#tab-overview").click();
  const chart = page.locator(".overview .time-chart");
  // Drawn, it listens.
  await chart.locator("circle").first().waitFor();
  const before = await timeText(page);
  const { x, y, width } = await chart.boundingBox();
  await page.mouse.click(x + width / 2, y + 60);
  await until("the clock is elsewhere", async () => (await timeText(page)) !== before);
});

test("overview::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const page = await overview(t, ["--ranks", "64", "--nodes", "8", "--scene", "hang"], { viewport: SMALL });
  await page.locator(".overview .stacked").waitFor();
  await checkAll(page, [["overview", () => page.locator(".overview circle").first().waitFor()]]);
});

test("overview::pictures", async (t) => {
  for (const [name, words] of [["4", ["--ranks", "4", "--verdict", "none", "--regions", "calm"]], ["64", ["--ranks", "64", "--nodes", "8"]], ["2000", ["--ranks", "2000"]]]) {
    const page = await overview(t, [...words, "--scene", "replay"]);
    await page.locator(".overview circle").first().waitFor();
    await shoot(page, `overview-${name}`);
  }
}, { full: true });
