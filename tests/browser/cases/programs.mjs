// External programs beside the page: what they say is shown, and the clock is one.

import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open, SMALL } from "../lib/browser.mjs";
import { seek, showTimeline, time, untilMode, untilState } from "../lib/page.mjs";
import { steady } from "../lib/product.mjs";
import { connect } from "../lib/program.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

test("programs::what_they_say_is_shown_and_the_clock_is_one", async (t) => {
  const running = await steady(t, "programs");
  const page = await open(t, running.url, { viewport: SMALL });
  await untilState(page, /^live/);
  await showTimeline(page);
  const program = await connect(t, running.url, "finder");
  const button = page.getByRole("button", { name: /annotation/ });
  assert.equal(await button.count(), 0);
  // Calls are there from MPI_Init on, which may take a second on a busy machine.
  await until("3 s of the run are known", async () => {
    program.say({ do: "live" });
    return program.heard.some(({ kind, until_ns: known }) => kind === "clock" && known > 3e9);
  });

  // What it says is text, whatever it looks like.
  program.say({ do: "annotate", time_ns: 25e8, until_ns: 26e8, rank: 1, text: "<img src=x onerror=alert(1)> look here", colour: "#ff8800" });
  program.say({ do: "series", name: "load", unit: "%", time_ns: [1e8, 2e8, 3e8], value: [10, 40, 20] });
  await until("both are on the page", async () => /1 annotation, 1 series/.test(await button.innerText().catch(() => "")));
  await button.click();
  const list = page.getByRole("dialog", { name: /other programs/ });
  const words = await list.innerText();
  for (const expected of ["<img src=x onerror=alert(1)> look here", "rank 1, finder", "load", "10 % to 40 %, now 20 %"]) {
    assert.ok(words.includes(expected), `${expected} is not in ${words}`);
  }
  assert.equal(await list.locator("img").count(), 0);

  // The list leads to the moment, for the program too.
  await list.locator("li button").click();
  await until("the page is there", async () => (await time(page)) === 25e8);
  await until("the program heard of it", async () => program.heard.some(({ kind, time_ns: at }) => kind === "clock" && at === 25e8));
  await seek(page, "2.2");
  await until("the program is there", async () => program.heard.some(({ kind, time_ns: at }) => kind === "clock" && at === 22e8));
  program.say({ do: "step", by_ns: 1e8 });
  await until("the page follows the program", async () => (await time(page)) === 23e8);
  await untilMode(page, "paused");

  // In step with the clock, both ways.
  program.say({ do: "subscribe", id: 7, what: "calls", pace: "clock" });
  await until("it is accepted", async () => program.heard.some(({ kind }) => kind === "subscribed"));
  const rows = (backward) => program.heard
    .filter(({ kind, from_ns: from, to_ns: to }) => kind === "batch" && (to < from) === backward)
    .flatMap(({ calls }) => calls.rank.map((rank, at) => `${rank} ${calls.function[at]} ${calls.start_ns[at]}`));
  // On a busy machine the job may make no call for longer than a step.
  let steps = 0;
  do {
    await page.keyboard.press("ArrowRight");
    const to = 23e8 + ++steps * 1e8;
    await until(`step ${steps}`, async () => (await time(page)) === to);
    await until("all came", async () => program.heard.some(({ kind, to_ns: until }) => kind === "batch" && until === to + 1));
  } while (rows(false).length === 0);
  for (let back = 0; back < steps; back++) await page.keyboard.press("ArrowLeft");
  await until("the same came back", async () => rows(true).length === rows(false).length);
  assert.deepEqual(rows(true).reverse().sort(), rows(false).sort());

  // Hidden, it is in no view.
  await button.click();
  await list.getByRole("checkbox", { name: "finder" }).uncheck();
  await until("it is hidden", async () => (await list.locator("li button").count()) === 0);
  await until("it is kept", async () => existsSync(join(running.recording, "annotations.json")));
});
