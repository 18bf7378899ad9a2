// Call paths: which functions led to the calls of MPI, with callers, callees and source.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL, visitor } from "../lib/browser.mjs";
import { link } from "../lib/links.mjs";
import { number, tab, table, untilState } from "../lib/page.mjs";
import { mpi, replay, report, run } from "../lib/product.mjs";
import { pathed, quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";
import { brush } from "../lib/why.mjs";

const RANKS = 4, STEPS = 300;
const functions = (page) => table(page, "Functions on call paths");
const choose = (page, name) => page.locator(".paths-body").getByRole("button", { name, exact: true }).first().click();
const facts = (page) => page.locator(".paths-bar .facts").innerText();

/** The number of calls in the line above the picture. */
async function callsAbove(page) {
  return number(/in ([\d\s\u2009]+) MPI calls?/.exec(await facts(page))?.[1] ?? "NaN");
}

async function opened(t, recording, options) {
  const running = await replay(t, recording);
  const page = await open(t, running.url, { view: "paths", ...options });
  await untilState(page, /^replay$/);
  const { calls } = report(recording).totals;
  await until("all calls are in the picture", async () => (await callsAbove(page)) === calls);
  return { page, running, calls };
}

test("paths::functions_have_callers_callees_and_source", async (t) => {
  const recording = await pathed();
  const { page, calls } = await opened(t, recording);
  const rows = new Map((await functions(page)).map((row) => [row.function, number(row.calls)]));
  assert.equal(rows.get("main"), calls);
  assert.equal(rows.get("solve"), 2 * RANKS * STEPS);
  assert.equal(rows.get("exchange"), RANKS * (STEPS + STEPS / 10));
  assert.equal(rows.get("refine"), RANKS * 4 * (STEPS / 20));
  assert.ok(!rows.has("_start"));
  // As many as the report says of the functions of MPI.
  for (const { name, calls: reported } of report(recording).functions) assert.equal(rows.get(name), reported, name);

  await choose(page, "exchange");
  const neighbours = async () => (await table(page, "Callers and callees of exchange")).map((row) => [row.how, row.function, number(row.calls)]);
  await until("exchange has its callers", async () => (await neighbours()).length === 3);
  assert.deepEqual(new Set((await neighbours()).map(String)), new Set([["called by", "solve", RANKS * STEPS], ["called by", "write_results", RANKS * (STEPS / 10)], ["calls", "MPI_Sendrecv", RANKS * (STEPS + STEPS / 10)]].map(String)));
  // The line that makes the call is marked, with all the time of its function.
  const line = page.locator(".paths .source tr.current");
  await line.waitFor();
  assert.match(await line.innerText(), /T_Sendrecv\(border/);
  assert.match(await line.locator(".time").innerText(), /^[\d.]+/);
  await checkAll(page, [["call paths", async () => undefined]]);
});

test("paths::the_picture_is_gone_through_by_keys_and_inverted", async (t) => {
  const { page } = await opened(t, await pathed(), { viewport: SMALL });
  const heading = () => page.locator(".paths-body h2").first().innerText();
  await page.locator(".flame").focus();
  await page.keyboard.press("ArrowDown");
  await until("main is chosen", async () => (await heading()).startsWith("main()"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Show all", exact: true }).waitFor();
  await page.locator(".flame").focus();
  await page.keyboard.press("Escape");
  await until("all functions are listed", async () => (await heading()).startsWith("Functions"));
  assert.equal(await page.getByRole("button", { name: "Show all", exact: true }).count(), 0);
  await page.getByRole("button", { name: "Inverted", exact: true }).click();
  await page.locator(".flame").focus();
  await page.keyboard.press("ArrowDown");
  await until("the top is a function of MPI", async () => (await heading()).startsWith("MPI_"));
  // Its source is that of who calls it.
  await page.locator(".paths .source tr.current").waitFor();
  await checkAll(page, [["inverted call paths", async () => undefined]]);
});

test("paths::figures_follow_the_selection_and_the_clock", async (t) => {
  const { page, calls } = await opened(t, await pathed());
  await brush(page, 0.5, 0.8);
  await until("fewer calls are in the picture", async () => (await callsAbove(page)) < calls);
  const brushed = await callsAbove(page);
  await tab(page, "figures");
  const counted = async () => (await table(page, "Functions")).reduce((sum, row) => sum + number(row.calls), 0);
  await until("the figures say the same", async () => (await counted()) === brushed);
  await page.keyboard.press("Escape");
  await tab(page, "paths");
  await page.getByRole("button", { name: /^The clock.s moment$/ }).click();
  await until("the moment is shown", async () => (await facts(page)).startsWith("At the clock"));
  const before = await facts(page);
  await page.keyboard.press("Home");
  await until("the moment moves with the clock", async () => (await facts(page)) !== before);
});

test("paths::without_recorded_paths_calls_stand_under_their_function", async (t) => {
  const { page } = await opened(t, await quiet());
  assert.match(await page.locator(".paths > .note").innerText(), /run --call-paths/);
  const names = (await functions(page)).map((row) => row.function);
  assert.ok(names.some((name) => name.startsWith("MPI_")) && names.some((name) => !name.startsWith("MPI_")), names.join());
});

test("paths::a_link_shows_paths_and_no_source", async (t) => {
  const { page, running } = await opened(t, await pathed());
  const address = await link(page, "Ana");
  const reader = await open(t, address, { context: await visitor(t), view: "paths" });
  await untilState(reader, /^replay$/);
  await reader.locator(".paths-body").getByRole("button", { name: "exchange", exact: true }).first().click();
  await reader.getByText("Only the owner of the run", { exact: false }).waitFor();
  assert.equal(await reader.locator(".paths .source").count(), 0);
  assert.ok(running.url.includes("token"));
});

test("paths::they_grow_while_the_job_runs", async (t) => {
  const running = await run(t, "paths", mpi(RANKS, "tests/apps/paths.c", 20000, 1000), ["--call-paths"]);
  const page = await open(t, running.url, { view: "paths" });
  await untilState(page, /^live/);
  const solved = async () => number((await functions(page)).find((row) => row.function === "solve")?.calls ?? "0");
  await page.getByRole("table", { name: "Functions on call paths" }).waitFor();
  await until("solve calls MPI", async () => (await solved()) > 0);
  const before = await solved();
  await until("it calls more", async () => (await solved()) > before);
});
