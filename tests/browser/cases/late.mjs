// Pages that come late or are slow have the same state as those that were there all the time.

import { strict as assert } from "node:assert";
import { compareFigures, compareFunctions } from "../lib/compare.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { figures, inspector, legend, shot, showTimeline, tab, table, untilMode, untilParticles, untilState } from "../lib/page.mjs";
import { coloured, count } from "../lib/pixels.mjs";
import { report, steady } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

/** What piles up for a page that does not read, and how much more happens while one is slow. */
const FROZEN_CALLS = 12_000;

/** The columns of the timeline that have bars. */
async function bars(page) {
  const { pixels, left, right, ...rest } = count(await shot(page, ".timeline .plot"), coloured);
  return { pixels, left, right, height: rest.bottom - rest.top };
}

test("late::pages_that_come_late_or_were_frozen_know_all", async (t) => {
  const running = await steady(t, "late");
  const early = await open(t, running.url, { losesServer: true, viewport: SMALL });
  const frozen = await open(t, running.url, { losesServer: true, viewport: SMALL });
  for (const page of [early, frozen]) {
    await untilState(page, /^live/);
    await showTimeline(page);
  }

  // The page's own thread is stopped; what the server sends piles up.
  const debug = await frozen.context().newCDPSession(frozen);
  await debug.send("Debugger.enable");
  await debug.send("Debugger.pause");
  const before = (await figures(early)).calls;
  await until("another page than the frozen one goes on", async () => (await figures(early)).calls > before + FROZEN_CALLS);
  await debug.send("Debugger.disable");
  await until("the page catches up", async () => (await figures(frozen)).calls >= (await figures(early)).calls - 3000 && (await figures(frozen)).calls > before);
  await untilState(frozen, /^live/);
  await untilMode(frozen, "live");
  await untilParticles(frozen);

  // A page on a machine that is twenty times slower, for a while.
  await debug.send("Emulation.setCPUThrottlingRate", { rate: 20 });
  const slowSince = (await figures(early)).calls;
  await until("the job goes on", async () => (await figures(early)).calls > slowSince + FROZEN_CALLS / 2);
  await debug.send("Emulation.setCPUThrottlingRate", { rate: 1 });

  const late = await open(t, running.url, { losesServer: true, viewport: SMALL });
  await untilState(late, /^live/);
  await showTimeline(late);
  assert.ok((await figures(late)).calls > before, "the late page starts with all that was");
  await untilParticles(late);
  await until("the late page's timeline is that of the first", async () => {
    const [mine, first] = [await bars(late), await bars(early)];
    return Math.abs(mine.left - first.left) < 12 && mine.pixels > 0.8 * first.pixels;
  });

  await running.finish();
  const truth = report(running.recording);
  for (const page of [early, frozen, late]) {
    await untilState(page, /^ended well/);
    await compareFigures(page, truth);
  }
  const rows = [];
  for (const page of [early, frozen, late]) {
    await until("the legend has the report's counts", async () => {
      const shown = Object.fromEntries((await legend(page)).map(({ name, calls }) => [name, calls]));
      return truth.functions.every(({ name, calls, polls }) => shown[name] === calls + polls);
    });
    rows.push({ legend: await legend(page), inspector: await inspector(page) });
    await tab(page, "figures");
    compareFunctions(await table(page, "Functions"), truth);
    rows.at(-1).ranks = await table(page, "Ranks");
  }
  assert.deepEqual(rows[1], rows[0], "the page that was frozen differs");
  assert.deepEqual(rows[2], rows[0], "the late page differs");
});
