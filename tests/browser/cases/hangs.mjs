// A hanging job: the overview says who waits for whom, and its ranks lead to the inspector.

import { strict as assert } from "node:assert";
import { open } from "../lib/browser.mjs";
import { inspector, untilState } from "../lib/page.mjs";
import { mpi, replay, run } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const RANKS = 3;
const card = (page) => page.locator(".overview section").filter({ has: page.locator("h2", { hasText: /^Hangs/ }) });

test("hangs::a_deadlock_is_named_and_its_ranks_can_be_picked", async (t) => {
  const running = await run(t, "hangs", mpi(RANKS, "tests/apps/stuck.c", "ring"), ["--hang-after", "1"]);
  const page = await open(t, running.url, { losesServer: true, view: null });
  await untilState(page, /^live/);
  const lines = card(page).locator("ul[aria-label='Who waits for whom'] li");
  await until("the card tells of a deadlock", async () => (await lines.count()) > RANKS);
  assert.match(await lines.nth(0).innerText(), /^Deadlock: 3 ranks wait for each other\./);
  assert.match(await lines.nth(1).innerText(), /^Rank 0 is in MPI_Recv from rank 1, tag 7 at .+: it waits for rank 1\./);
  await page.getByText("The job hangs: ranks wait for each other.").first().waitFor();
  await lines.nth(1).locator("button", { hasText: /^rank 1$/ }).click();
  await until("the inspector shows rank 1", async () => /MPI_Recv/.test((await inspector(page))["In MPI now"] ?? ""));

  // Ended by hand: the recording says how it stood and what the ranks were in.
  await running.stop();
  const shown = await open(t, (await replay(t, running.recording)).url, { view: null });
  await untilState(shown, /^replay$/);
  await card(shown).getByText(/^The job hung from/).waitFor();
  await card(shown).getByText(/ranks were in 3 calls that had not returned/).waitFor();
});
