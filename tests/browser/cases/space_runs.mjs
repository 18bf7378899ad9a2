// The tab 3D with programs that make a grid or name phases, compared with what they print and with the recording.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { open } from "../lib/browser.mjs";
import { untilState } from "../lib/page.mjs";
import { PROGRAM } from "../lib/paths.mjs";
import { mpi, replay, report, Run } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { drawn, words } from "../lib/space.mjs";
import { until } from "../lib/wait.mjs";


/** A program that ended, as its recording; what it printed. */
async function recorded(t, name, command) {
  const started = new Run(command, name, ["--no-dashboard"]);
  t.after(() => started.stop());
  assert.equal(await started.end(), 0, started.errors);
  return started;
}

async function shown(t, recording, settings) {
  const { url } = await replay(t, recording);
  const page = await open(t, `${url}#tab=space&${settings}`);
  await untilState(page, /^replay$/);
  return page;
}

/** Changes settings of the view, as a link to it does. */
const set = (page, settings) => page.evaluate((wanted) => (location.hash = `tab=space&${wanted}`), settings);

test("space::a_grid_of_the_program_is_offered_and_has_each_rank_where_mpi_puts_it", async (t) => {
  const { output, recording } = await recorded(t, "grid", mpi(12, "tests/browser/apps/grid.c", 3, 2, 2));
  const places = [...output.matchAll(/^at (\d+) (\d+) (\d+) (\d+)$/gm)].map(([, ...numbers]) => numbers.map(Number));
  assert.equal(places.length, 12);
  // The order of the grid is not that of the world: a layout by rank would not do.
  assert.notDeepEqual(places[0].slice(1), [0, 0, 0]);
  const page = await shown(t, recording, "space.layout=plane");
  await drawn(page, /12 ranks, plane/);
  const grid = page.locator(".space-side .thumbs button", { hasText: /^grid$/ });
  await grid.waitFor();
  assert.doesNotMatch(await grid.getAttribute("class"), /lacking/);
  await grid.click();
  await drawn(page, /12 ranks, grid/);
  for (const [rank, x, y, z] of places) {
    await set(page, `space.layout=grid&space.slice-x=${x}&space.slice-y=${y}&space.slice-z=${z}`);
    await drawn(page, new RegExp(`Slice x = ${x}(\\.0+)?, y = ${y}(\\.0+)?, z = ${z}(\\.0+)?: 1 rank`));
    // The next rank that is drawn is the only one.
    await page.locator(".space-picture > .host").press("n");
    await until(`the inspector shows rank ${rank}`, async () => new RegExp(`^Rank ${rank}\\b`).test(await page.locator(".inspector h2").first().innerText()));
  }
});

test("space::without_a_grid_the_layout_says_so", async (t) => {
  const page = await shown(t, await quiet(), "space.layout=sphere");
  await drawn(page, /4 ranks, sphere/);
  const grid = page.locator(".space-side .thumbs button.lacking", { hasText: /^grid$/ });
  assert.match(await grid.getAttribute("title"), /This run lacks what it asks for/);
  await grid.click();
  await drawn(page, /All ranks are at one place: this run lacks what the layout asks for/);
});

/** The calls of a recording between the marks of a phase, by rank and function. */
function phaseCalls(recording) {
  const [head, ...rows] = execFileSync(PROGRAM, ["export", recording, "--format", "csv", "--table", "calls", "-o", "-"], { maxBuffer: 1 << 26 }).toString().trim().split(/\r?\n/);
  const names = head.split(",");
  const calls = rows.map((row) => Object.fromEntries(row.split(",").map((value, at) => [names[at], value]))).sort((one, other) => one.start_ns - other.start_ns);
  const isOpen = new Set();
  return calls.filter(({ rank, function_name: name, tag }) => {
    if (name === "MPI_Pcontrol" && tag === "3") isOpen.add(rank);
    if (name === "MPI_Pcontrol" && tag === "-3") isOpen.delete(rank);
    return name !== "MPI_Pcontrol" && isOpen.has(rank);
  });
}

test("space::figures_of_a_phase_are_those_of_its_calls", async (t) => {
  const ROUNDS = 20;
  const RANKS = 4;
  const { recording } = await recorded(t, "phases", mpi(RANKS, "tests/apps/phases.c", ROUNDS));
  const calls = phaseCalls(recording);
  const { functions, totals } = report(recording);
  const functionNumber = (name) => calls.find((call) => call.function_name === name).function;
  const page = await shown(t, recording, "space.face=bars&space.color=calls");
  await drawn(page, /4 ranks; calls: 2\d\d to 2\d\d/);
  await page.getByLabel(/^Phase/).selectOption({ label: "solve the system" });
  await drawn(page, /calls in phase solve the system: /);
  const phase = await page.getByLabel(/^Phase/).inputValue();
  const face = (settings) => set(page, `space.face=bars&${settings}`);
  // One function, in the phase and in all: the report has the latter.
  const sends = functionNumber("MPI_Send");
  await face(`space.color=calls&space.function=${sends}&space.phase=${phase}`);
  const inPhase = calls.filter((call) => call.function_name === "MPI_Send").length / RANKS;
  assert.equal(inPhase, ROUNDS);
  await drawn(page, new RegExp(`calls of MPI_Send in phase solve the system: ${inPhase} to ${inPhase}, mean ${inPhase}`));
  await face(`space.color=calls&space.function=${sends}&space.phase=all`);
  const inAll = functions.find(({ name }) => name === "MPI_Send").calls / RANKS;
  assert.equal(inAll, 2 * ROUNDS);
  await drawn(page, new RegExp(`calls of MPI_Send: ${inAll} to ${inAll}, mean ${inAll}`));
  // Half of the messages are of the phase.
  await face(`space.color=sent&space.phase=${phase}`);
  await drawn(page, new RegExp(`messages sent in phase solve the system: ${ROUNDS} to ${ROUNDS}`));
  await face("space.color=sent&space.phase=all");
  await drawn(page, new RegExp(`messages sent: ${totals.messages / RANKS} to ${totals.messages / RANKS}`));
  // Time: to three digits, as the page has it.
  const waits = calls.filter((call) => call.function_name === "MPI_Wait");
  const meanMs = waits.reduce((sum, { start_ns: from, end_ns: to }) => sum + (to - from), 0) / RANKS / 1e6;
  await face(`space.color=mpi_time&space.function=${functionNumber("MPI_Wait")}&space.phase=${phase}`);
  await drawn(page, /time in MPI_Wait in phase solve the system/);
  const [, mean, unit] = /mean ([\d.]+)\s(ms|s|\u00b5s|us)/.exec(await words(page));
  const shownMs = Number(mean) * { s: 1000, ms: 1, us: 1e-3, "\u00b5s": 1e-3 }[unit];
  assert.ok(Math.abs(shownMs - meanMs) <= 0.006 * meanMs, `${shownMs} ms on the page, ${meanMs} ms in the recording`);
});
