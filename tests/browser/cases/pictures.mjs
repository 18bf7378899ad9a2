// Pictures of the page in every state, size and theme, kept for people to look at; nothing may stick out of the window.

import { strict as assert } from "node:assert";
import { open } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { drag, stillPicture, tab, untilMode, untilParticles, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { replay, run, steady } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

test("pictures::waiting_for_a_program_that_has_not_started_mpi", async (t) => {
  const running = await run(t, "waiting", ["sleep", "300"]);
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^waiting$/);
  await page.getByText("Waiting for the job").waitFor();
  await shoot(page, "waiting");
});

test("pictures::from_the_first_seconds_to_the_end", async (t) => {
  const running = await steady(t, "pictures", { rate: 400 });
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^live/);
  await shoot(page, "first-seconds", { passing: true });
  await untilParticles(page);
  await until("the first seconds are over", async () => !/First seconds/.test(await page.locator("[role=status]").first().innerText()));
  await shoot(page, "live");
  await page.keyboard.press("k");
  await untilMode(page, "paused");
  await shoot(page, "paused");
  await page.keyboard.press("End");
  await untilMode(page, "live");
  await tab(page, "figures");
  await shoot(page, "figures");
  await tab(page, "particles");

  process.kill(running.child.pid, "SIGSTOP");
  process.kill(await running.daemon(), "SIGKILL");
  await untilState(page, /^connection lost$/);
  await shoot(page, "lost");
  process.kill(running.child.pid, "SIGCONT");
  await untilState(page, /^live/);
  await running.finish();
  await untilState(page, /^ended well/);
  await untilParticles(page);
  await shoot(page, "ended");
});

test("pictures::a_recording_in_its_middle", async (t) => {
  const { url } = await replay(t, await quiet());
  const page = await open(t, url);
  await untilState(page, /^replay$/);
  await page.locator(".particles-plot").waitFor();
  await drag(page, 1, 0.6);
  await untilParticles(page);
  await stillPicture(page);
  await shoot(page, "replay");
  await page.keyboard.press("?");
  await shoot(page, "help");
}, { full: true });

test("pictures::sixteen_ranks", async (t) => {
  const running = await steady(t, "sixteen", { ranks: 16, rate: 50 });
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^live/);
  await page.locator("header").getByText("16 ranks").waitFor();
  await untilParticles(page);
  await shoot(page, "16-ranks");
}, { full: true });

test("pictures::a_thousand_ranks", async (t) => {
  const url = await madeUp(t, "--ranks", "1024", "--calls", "40000", "--seconds", "20", "--scene", "ended");
  const page = await open(t, url);
  await untilState(page, /^ended well/);
  await page.locator("header").getByText("1\u2009024 ranks").waitFor();
  await untilParticles(page);
  await stillPicture(page);
  await shoot(page, "1024-ranks");
  await tab(page, "figures");
  await page.locator("table[aria-label=Ranks][aria-rowcount='1025']").waitFor();
  assert.ok((await page.locator("table[aria-label=Ranks] tbody tr").count()) < 100, "only the rows in sight are drawn");
  await shoot(page, "1024-ranks-figures");
});

test("pictures::several_nodes_and_one_is_silent", async (t) => {
  const url = await madeUp(t, "--ranks", "12", "--nodes", "3", "--calls", "4000", "--scene", "silent", "--silence", "600");
  const page = await open(t, url);
  await untilState(page, /^live/);
  await tab(page, "figures");
  await page.locator("table[aria-label=Ranks] button.rank", { hasText: /^9$/ }).click();
  await page.locator(".inspector dd", { hasText: "node3" }).waitFor();
  await shoot(page, "silent-node-figures");
}, { full: true });
