// The connection is lost, and found again.

import { strict as assert } from "node:assert";
import { open, SMALL } from "../lib/browser.mjs";
import { drag, figures, notice, showTimeline, state, stillPicture, timeText, untilParticles, untilState } from "../lib/page.mjs";
import { replay, steady } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

test("lost::a_page_says_so_and_goes_on_when_the_daemon_is_back", async (t) => {
  const running = await steady(t, "lost");
  const page = await open(t, running.url, { losesServer: true, viewport: SMALL });
  await untilState(page, /^live/);
  await untilParticles(page);
  const before = await figures(page);
  // Whoever would start the daemon again holds its breath meanwhile.
  process.kill(running.child.pid, "SIGSTOP");
  process.kill(await running.daemon(), "SIGKILL");
  await untilState(page, /^connection lost$/);
  await until("it says that it tries again", async () => /job may well go on.*Trying again/s.test(await notice(page)));
  await until("the button for the impatient", async () => (await page.getByRole("button", { name: "Try now" }).count()) > 0);
  assert.ok((await figures(page)).calls >= before.calls, "what was known stays");
  process.kill(running.child.pid, "SIGCONT");
  await untilState(page, /^live/);
  const after = await figures(page);
  assert.ok(after.calls >= before.calls, `${before.calls} calls before, ${after.calls} after`);
  await until("the counters grow", async () => (await figures(page)).calls > after.calls + 500);
  await untilParticles(page);
  await running.finish();
  await untilState(page, /^ended well/);
});

test("lost::an_ended_recording_stays_readable", async (t) => {
  const served = await replay(t, await quiet());
  const page = await open(t, served.url, { losesServer: true, viewport: SMALL });
  await untilState(page, /^replay$/);
  await showTimeline(page);
  await untilParticles(page);
  await drag(page, 1, 0.5);
  await stillPicture(page);
  await served.stop("SIGINT");
  await until("it says that the server is gone", async () => /cannot be reached/.test(await notice(page)));
  assert.equal(await state(page), "replay");
  assert.ok((await figures(page)).calls > 0);
  await untilParticles(page);
  assert.match(await timeText(page), /^0:00:0/);
});
