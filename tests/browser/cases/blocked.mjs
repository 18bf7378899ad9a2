// A rank that waits in a receive is seen: its particle rises, above it and no other.

import { strict as assert } from "node:assert";
import { open } from "../lib/browser.mjs";
import { inspector, legend, plotShot, tab, untilParticles, untilState } from "../lib/page.mjs";
import { count, near } from "../lib/pixels.mjs";
import { steady } from "../lib/product.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const RANKS = 4;

/** Rank 0 waits in MPI_Recv, after a number of them that did not wait. */
async function waiting(t, before) {
  const running = await steady(t, "blocked", { ranks: RANKS, rate: 100, source: "tests/browser/apps/waits.c", words: [before] });
  const page = await open(t, running.url, { losesServer: true });
  await untilState(page, /^live/);
  return { running, page };
}

/** Pixels of what hangs for seconds, above rank 0 and above the others. */
async function high(page) {
  const picture = await plotShot(page);
  const slot = picture.width / RANKS;
  // Others are held up for a part of a second on a busy machine, and the history keeps a faint point of each such call.
  const bright = (r, g, b, x, y) => y < picture.height * 0.2 && Math.max(r, g, b) > 150 && Math.max(r, g, b) - Math.min(r, g, b) > 25;
  return {
    own: count(picture, (r, g, b, x, y) => x < slot && bright(r, g, b, x, y)),
    others: count(picture, (r, g, b, x, y) => x >= slot && bright(r, g, b, x, y)),
  };
}

/** Points at the particle high above rank 0 and reads what it says. */
async function pointed(page) {
  const box = await page.locator(".particles-plot").boundingBox();
  const { own } = await high(page);
  await page.mouse.move(box.x + 52 + own.meanX, box.y + 22 + own.meanY);
  const tip = page.locator(".particles-tip");
  return (await tip.isVisible()) ? tip.innerText() : "";
}

test("blocked::a_receive_that_waits_rises_above_its_rank", async (t) => {
  const { running, page } = await waiting(t, 3);
  await untilParticles(page);
  await until(async () => `the inspector counts calls inside MPI; it has ${JSON.stringify(await inspector(page))}`, async () => Number.parseInt((await inspector(page))["In MPI now"] ?? "0", 10) >= 1);

  // By the words: rank 0 is in MPI_Recv, longer and longer.
  await tab(page, "figures");
  await page.locator("table[aria-label=Ranks] button.rank", { hasText: /^0$/ }).click();
  const inside = async () => (await inspector(page))["In MPI now"] ?? "";
  const seconds = async () => Number(/^MPI_Recv for ([\d.]+) s$/.exec(await inside())?.[1] ?? Number.NaN);
  await until(async () => `rank 0 is in MPI_Recv for seconds; it says "${await inside()}"`, async () => (await seconds()) > 1);
  const first = await seconds();
  await until("it stays there", async () => (await seconds()) > first + 1);
  await page.locator("table[aria-label=Ranks] button.rank", { hasText: /^1$/ }).click();
  assert.doesNotMatch(await inside(), /MPI_Recv/);

  // By the pixels: high up, above rank 0 and no other; pointed at, it says what it is.
  await tab(page, "particles");
  await page.keyboard.press("Escape");
  let seen;
  await until(() => `a particle high above rank 0 alone; seen ${JSON.stringify(seen)}`, async () => {
    seen = await high(page);
    return seen.own.pixels > 10 && seen.others.pixels === 0;
  });
  let low = seen.own.meanY;
  let tip = "";
  await until(() => `the tooltip names it; it says "${tip}"`, async () => /MPI_Recv/.test((tip = await pointed(page))) && /still inside/.test(tip));
  await until(() => `it rises above ${low}; seen ${JSON.stringify(seen)}`, async () => {
    seen = await high(page);
    // A call that lasts ten times as long gets a longer axis, on which it begins further below.
    low = Math.max(low, seen.own.meanY);
    return seen.own.pixels > 10 && seen.own.meanY < low - 0.5;
  });

  // The message comes: the receive is a call like others, as long as it waited.
  await running.finish();
  await untilState(page, /^ended well/);
  assert.equal((await inspector(page))["In MPI now"], undefined);
  // The legend is drawn a few times a second, of a job that ended once.
  let recv;
  await until(() => `four receives in the legend; it has ${JSON.stringify(recv)}`, async () => {
    recv = (await legend(page)).find(({ name }) => name === "MPI_Recv");
    return recv?.calls === 4;
  });
  await until("it stands at its duration, in its colour", async () => {
    const picture = await plotShot(page);
    return count(picture, (r, g, b, x, y) => y < picture.height * 0.35 && x < picture.width / RANKS && near(recv.colour, 90)(r, g, b)).pixels > 4;
  });
}, { alone: true });

test("blocked::the_first_receive_of_a_run_is_seen_as_well", async (t) => {
  const { page } = await waiting(t, 0);
  await until("calls inside MPI are counted", async () => Number.parseInt((await inspector(page))["In MPI now"] ?? "0", 10) >= 1);
  let tip = "";
  await until(() => `the tooltip names it; it says "${tip}"`, async () => /MPI_Recv/.test((tip = await pointed(page))));
});
