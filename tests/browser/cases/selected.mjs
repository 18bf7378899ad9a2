// All views show what is selected, with the figures that the report has for it.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { compareFunctions, nearly } from "../lib/compare.mjs";
import { inspector, number, tab, table, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { PROGRAM, ROOT } from "../lib/paths.mjs";
import { replay } from "../lib/product.mjs";
import { scattered, uneven } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

/** A simulated job, and a real run. */
const RECORDINGS = [
  { name: "simulated", make: scattered, ranks: 16, lengthS: 5, seed: 7 },
  { name: "real", make: uneven, ranks: 4, lengthS: 2, seed: 11 },
];

/** The same numbers from 0 to 1 in every run of the tests. */
function* numbers(seed) {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** A range of time and, by turns, some ranks or all, and some functions or all. */
function selections(count, { ranks: rankCount, lengthS, seed }) {
  const random = numbers(seed);
  const next = () => random.next().value;
  return Array.from({ length: count }, (_, at) => {
    const [one, other] = [next(), next()].map((part) => (part * lengthS).toFixed(6));
    const [from, to] = Number(one) < Number(other) ? [one, other] : [other, one];
    const first = Math.floor(next() * rankCount);
    const last = first + Math.floor(next() * (rankCount - first));
    return { from, to, ranks: at % 2 === 0 ? `${first}-${last}` : null, hides: at % 3 === 1 ? next() : null };
  });
}

function reportOf(recording, { from, to, ranks }) {
  const words = ["report", recording, "--json", "--from", from, "--to", to, ...(ranks ? ["--rank", ranks] : [])];
  return JSON.parse(execFileSync(PROGRAM, words, { maxBuffer: 64 << 20 }).toString());
}

/** The tiles of the overview, without the notes beside them. */
const tiles = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".run-figures > div")].map((tile) =>
  [tile.querySelector("dt").textContent, tile.querySelector("dd").firstChild.textContent])));

/** Numbers of functions, as an address has them. */
function idOf(name) {
  const table = readFileSync(join(ROOT, "collector/calls.toml"), "utf8");
  const found = new RegExp(`name = "${name}"[^\\[]*?\\bid = (\\d+)`).exec(table);
  assert.ok(found, `${name} is in the table of calls`);
  return Number(found[1]);
}

async function select(page, url, { from, to, ranks }, off) {
  const clear = page.locator(".scope button", { hasText: "Clear all" });
  if ((await clear.count()) > 0) await clear.click();
  await page.goto(`${url}#tab=overview&range=${from}-${to}${ranks ? `&ranks=${ranks}` : ""}${off === null ? "" : `&off=${off}`}`);
}

for (const recording of RECORDINGS) {
  test(`selected::every_view_and_the_report_have_the_same_figures_${recording.name}`, (t) => compareAll(t, recording));
}

async function compareAll(t, of) {
  const recording = await of.make();
  const { url } = await replay(t, recording);
  const page = await open(t, url, { view: "overview" });
  await untilState(page, /^replay$/);
  for (const selection of selections(3, of)) {
    const want = reportOf(recording, selection);
    const { totals } = want;
    // The report has all functions; without one, its sums are less by that.
    const hidden = selection.hides === null || want.functions.length < 2 ? null : want.functions[Math.floor(selection.hides * want.functions.length)];
    await select(page, url, selection, hidden && idOf(hidden.name));
    const calls = totals.calls - (hidden?.calls ?? 0);
    let shown = {};
    await until(() => `${JSON.stringify(selection)}: the tiles show ${JSON.stringify(shown)}, the report ${JSON.stringify(totals)} without ${JSON.stringify(hidden)}`, async () => {
      shown = await tiles(page);
      // While figures are on their way, some tiles have none.
      const isWhole = ["In MPI", "Payload"].every((name) => (shown[name] ?? "") !== "");
      return isWhole && number(shown.Calls ?? "") === calls && number(shown.Messages ?? "") === totals.messages;
    });
    const inMpiS = want.functions.reduce((sum, { seconds }) => sum + seconds, 0) - (hidden?.seconds ?? 0);
    nearly(shown["In MPI"], inMpiS, "time in MPI");
    nearly(shown.Payload, totals.bytes, "payload");
    assert.equal(number(shown.Ranks), want.ranks.length);
    assert.equal(number((await inspector(page))["Calls started"]), calls, "the inspector");
    const waiting = page.locator('.overview .stacked i[title^=waiting]:not([title^="waiting for a CPU"])');
    if (want.budget.waiting_s > 0) {
      const [, waitingS] = /: ([^,]+),/.exec(await waiting.getAttribute("title"));
      nearly(waitingS.replaceAll("\u00a0", " "), want.budget.waiting_s, "waiting");
    } else await until("no part for waiting", async () => (await waiting.count()) === 0);
    await tab(page, "figures");
    compareFunctions(await table(page, "Functions"), want);
    const rows = await table(page, "Ranks");
    assert.deepEqual(rows.map(({ rank }) => Number(rank)), want.ranks.map(({ rank }) => rank));
    for (const [at, { calls: ofRank, sent, received }] of want.ranks.entries()) {
      const row = rows[at];
      assert.deepEqual([row.sent, row.received].map(number), [sent, received], `rank ${row.rank}`);
      if (!hidden) assert.equal(number(row.calls), ofRank, `rank ${row.rank}`);
    }
    assert.equal(rows.reduce((sum, row) => sum + number(row.calls), 0), calls, "the ranks' calls");
    await tab(page, "where");
    const regions = await table(page, "Regions");
    assert.equal(regions.length, want.regions.length);
    for (const { ranks, latency, messages, exact, delayed } of want.regions) {
      const row = regions.find((each) => each.ranks.split(/[\u2013,]/)[0] === String(ranks[0]));
      if (latency === null) continue;
      assert.ok(Math.abs(Number(row.L) - latency) < 0.006 * Math.max(1, latency), `L of ${row.ranks}: ${row.L}, not ${latency}`);
      const share = Number(/[\d.]+/.exec(row.delayed)?.[0] ?? 0) / 100;
      assert.ok(Math.abs(share - delayed / (exact * messages)) < 0.006, `delayed of ${row.ranks}: ${row.delayed}, not ${delayed} of ${exact * messages}`);
    }
  }
}

test("selected::figures_name_what_they_are_of", async (t) => {
  const { url } = await replay(t, await scattered());
  const page = await open(t, `${url}#tab=overview&range=1-2&ranks=0-3`, { viewport: SMALL });
  await untilState(page, /^replay$/);
  const notes = page.locator(".overview .selected-note");
  const notesOf = async (words) => (await notes.allInnerTexts()).filter((text) => text === words).length;
  await until("each part says it", async () => (await notesOf("of the selection")) === 4);
  assert.match((await notes.nth(1).getAttribute("title")).replaceAll("\u00a0", " "), /^0:00:01\.000 to 0:00:02\.000, 1\.00 s; ranks 0\u20133$/);
  assert.equal(await notesOf("of the whole run"), 1, "what is over time");
  await shoot(page, "selected-overview");
  await checkAll(page, [["figures", () => tab(page, "figures")], ["where", () => tab(page, "where")], ["overview", () => tab(page, "overview")]]);
  await page.locator(".scope button", { hasText: "Clear all" }).click();
  await until("the whole run again", async () => (await notes.count()) === 0);
});
