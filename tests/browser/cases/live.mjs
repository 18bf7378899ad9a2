// The live page of a running program, up to its end.

import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "../lib/browser.mjs";
import { figures, legend, shot, table, tab, untilParticles, untilState, plotShot, words } from "../lib/page.mjs";
import { coloured, count } from "../lib/pixels.mjs";
import { folder, mpi, report, run, steady } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";
import { compareFigures, compareFunctions } from "../lib/compare.mjs";

const RANKS = 4;

test("live::a_running_program_is_seen_from_its_particles_to_its_end", async (t) => {
  const running = await steady(t, "live", { ranks: RANKS });
  const page = await open(t, running.url, { losesServer: true });
  await untilParticles(page);
  await untilState(page, /^live/);

  // Particles stand above every rank.
  await until("every rank has particles", async () => {
    const picture = await plotShot(page);
    const slot = picture.width / RANKS;
    const found = Array.from({ length: RANKS }, (_, rank) =>
      count(picture, (r, g, b, x) => x > rank * slot + 4 && x < (rank + 1) * slot - 4 && coloured(r, g, b)).pixels);
    return found.every((each) => each > 20);
  });
  const first = await figures(page);
  await until("the counters grow", async () => {
    const now = await figures(page);
    return now.calls > first.calls + 100 && now.messages > first.messages + 20;
  });
  await untilState(page, /^live$/);
  await until("the timeline has bars", async () => count(await shot(page, ".timeline .plot"), coloured).pixels > 500);
  await until("the legend counts", async () => (await legend(page)).some(({ name, calls }) => name === "MPI_Waitall" && calls > 100));
  assert.match(await words(page), /drawn by/);
  await until("the title says live", async () => /^live/.test(await page.title()));
  assert.equal(await page.locator("header").getByText(`${RANKS} ranks`).count(), 1);

  await running.finish();
  await untilState(page, /^ended well/);
  const truth = report(running.recording);
  await compareFigures(page, truth);
  await tab(page, "figures");
  compareFunctions(await table(page, "Functions"), truth);
  const ranks = await table(page, "Ranks");
  assert.equal(ranks.length, RANKS);
  assert.ok(ranks.every((row) => row.state === "finalized"), JSON.stringify(ranks));
}, { alone: true });

test("live::a_program_that_fails_ends_with_its_exit_status", async (t) => {
  const stopFile = join(folder("fails-stop"), "stop");
  const running = await run(t, "fails", ["sh", "-c", '"$@"; exit 3', "sh", ...mpi(2, "tests/browser/apps/steady.c", stopFile, 200)]);
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^live/);
  writeFileSync(stopFile, "");
  assert.equal(await running.end(), 3);
  await untilState(page, /^ended, exit status 3$/);
  assert.match(await page.locator("[role=status]").first().innerText(), /ended badly .* exit status 3/);
});
