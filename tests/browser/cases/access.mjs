// What the automatic checker of accessibility finds, on every view in both themes.

import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { showTimeline, tab, timelineX, untilParticles, untilState } from "../lib/page.mjs";
import { replay, steady } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";

test("access::nothing_serious_on_a_recording", async (t) => {
  const { url } = await replay(t, await quiet());
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^replay$/);
  await untilParticles(page);
  const escape = () => page.keyboard.press("Escape");
  await checkAll(page, [
    ["particles", () => tab(page, "particles")],
    ["figures", () => tab(page, "figures")],
    ["help", () => page.keyboard.press("?"), escape],
    ["a rank", () => page.locator("table[aria-label=Ranks] button.rank").first().click(), escape],
    ["a range", async () => {
      await page.keyboard.press("Home");
      await page.keyboard.press("[");
      await page.keyboard.press("End");
      await page.keyboard.press("]");
      await page.locator(".inspector dt", { hasText: "Calls started" }).waitFor();
    }, escape],
    ["the timeline's tooltip", async () => {
      await showTimeline(page);
      const { x, y } = await timelineX(page, 0.5);
      await page.mouse.move(x, y);
      await page.locator(".timeline .tip").waitFor();
    }, async () => {
      await page.mouse.move(5, 5);
      await page.keyboard.press("h");
    }],
  ]);
});

test("access::nothing_serious_while_live", async (t) => {
  const running = await steady(t, "access");
  const page = await open(t, running.url, { viewport: SMALL });
  await untilState(page, /^live/);
  await untilParticles(page);
  await checkAll(page, [
    ["particles", () => tab(page, "particles")],
    ["figures", () => tab(page, "figures")],
    ["paused", () => page.keyboard.press("k"), () => page.keyboard.press("End")],
  ]);
});

test("access::nothing_serious_while_a_node_is_silent", async (t) => {
  const url = await madeUp(t, "--ranks", "12", "--nodes", "3", "--calls", "2000", "--scene", "silent", "--silence", "600");
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^live/);
  await page.locator("[role=status]", { hasText: "node3 silent" }).waitFor();
  await checkAll(page, [
    ["figures", () => tab(page, "figures")],
    ["a silent rank", () => page.locator("table[aria-label=Ranks] button.rank", { hasText: /^11$/ }).click(), () => page.keyboard.press("Escape")],
  ]);
});
