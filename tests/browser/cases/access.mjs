// What the automatic checker of accessibility finds, on every view in both themes.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { open, SMALL } from "../lib/browser.mjs";
import { madeUp } from "../lib/made_up.mjs";
import { tab, timelineX, untilParticles, untilState } from "../lib/page.mjs";
import { replay, steady } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical violations, in words. */
async function violations(page) {
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, help, nodes }) =>
      `${id} (${impact}): ${help}\n${nodes.slice(0, 5).map(({ html, failureSummary }) => `    ${html}\n      ${failureSummary.replaceAll("\n", "\n      ")}`).join("\n")}`);
}

async function checkAll(page, views) {
  const faults = [];
  for (const theme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, enter, leave] of views) {
      await enter();
      // Colours that are on their way to others are not judged.
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map((each) => each.finished)));
      for (const fault of await violations(page)) faults.push(`${name}, ${theme}: ${fault}`);
      await leave?.();
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

test("access::nothing_serious_on_a_recording", async (t) => {
  const { url } = await replay(t, await quiet());
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^recording$/);
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
      const { x, y } = await timelineX(page, 0.5);
      await page.mouse.move(x, y);
      await page.locator(".timeline .tip").waitFor();
    }, () => page.mouse.move(5, 5)],
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
