// Several pages of one run: the shared clock, and letting go of it.

import { strict as assert } from "node:assert";
import { open, SMALL } from "../lib/browser.mjs";
import { mode, nanoseconds, seek, tab, time, timeText, untilMode, untilParticles, untilState } from "../lib/page.mjs";
import { steady } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { settled, until } from "../lib/wait.mjs";

const follow = (page) => page.locator("label", { hasText: "Follow the shared clock" });

test("shared::what_one_page_pauses_is_paused_on_those_that_follow", async (t) => {
  const running = await steady(t, "shared");
  const one = await open(t, running.url, { viewport: SMALL });
  const two = await open(t, running.url, { viewport: SMALL });
  for (const page of [one, two]) {
    await untilState(page, /^live/);
    await untilMode(page, "live");
    await until("two pages follow", async () => /2 of 2/.test(await follow(page).innerText()));
  }

  await one.getByRole("button", { name: "Pause" }).click();
  for (const page of [one, two]) await untilMode(page, "paused");
  const both = async () => [await timeText(one), await timeText(two)];
  await until(async () => `both stand at one time; they stand at ${await both()}`, async () => {
    const [first, second] = await settled("the time of both", both);
    return first === second;
  }, 10_000);
  await until("what the job does meanwhile is counted", async () => /\+.* calls since/.test(await two.locator(".meanwhile").innerText().catch(() => "")));
  await untilParticles(two);

  // Seeking on the other one moves both.
  await seek(two, "1.5");
  for (const page of [one, two]) await until("both are there", async () => (await time(page)) === 1.5e9);

  // Whoever lets go stays where it is, and is not followed.
  await two.keyboard.press("c");
  await until("one page follows", async () => !(await follow(two).locator("input").isChecked()) && /1 of 2/.test(await follow(one).innerText()));
  await one.getByRole("button", { name: "Live", exact: true }).click();
  await untilMode(one, "live");
  await until("time goes on there", async () => (await time(one)) > 3e9);
  assert.equal(await mode(two), "paused");
  assert.equal(await time(two), 1.5e9);
  await seek(two, "1");
  await until("its own clock moves", async () => (await time(two)) === 1e9);
  assert.equal(await mode(one), "live");

  // Following again takes it back to now; so does End by itself.
  await two.keyboard.press("c");
  await untilMode(two, "live");
  await two.keyboard.press("k");
  for (const page of [one, two]) await untilMode(page, "paused");
  await two.keyboard.press("End");
  for (const page of [one, two]) await untilMode(page, "live");
  const now = nanoseconds(await timeText(one));
  await until("both go on", async () => (await time(one)) > now + 3e8 && (await time(two)) > now + 3e8);
});

test("shared::what_is_typed_outlives_a_move_of_the_clock", async (t) => {
  const running = await steady(t, "typed");
  const one = await open(t, running.url, { viewport: SMALL });
  const two = await open(t, running.url, { viewport: SMALL });
  for (const page of [one, two]) await untilState(page, /^live/);
  await tab(one, "messages");
  const field = one.getByRole("textbox", { name: "Ranks" });
  await field.fill("0-");
  await seek(two, "0.5");
  await until("the clock of the page moves", async () => (await time(one)) === 0.5e9);
  assert.equal(await field.inputValue(), "0-");
  await field.pressSequentially("1");
  await one.keyboard.press("Enter");
  await one.locator(".scope", { hasText: /0\u20131/ }).waitFor();
});

test("shared::functions_hidden_on_one_page_are_hidden_on_the_other", async (t) => {
  const running = await steady(t, "hidden");
  const one = await open(t, running.url, { viewport: SMALL });
  const two = await open(t, running.url, { viewport: SMALL });
  const button = (page) => page.locator(".particles-functions button", { hasText: "MPI_Irecv" });
  for (const page of [one, two]) await button(page).waitFor();
  await button(one).click();
  for (const page of [one, two]) await until("it is hidden", async () => (await button(page).getAttribute("aria-pressed")) === "false");
  await button(two).click();
  for (const page of [one, two]) await until("it is shown", async () => (await button(page).getAttribute("aria-pressed")) === "true");
});
