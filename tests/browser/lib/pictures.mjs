// Pictures of a scene in every size and theme, kept for people to look at; nothing may stick out of the window.

import { strict as assert } from "node:assert";
import { join } from "node:path";
import { LARGE, SMALL } from "./browser.mjs";
import { ARTEFACTS, FULL } from "./paths.mjs";
import { pause } from "./wait.mjs";

const THEMES = ["dark", "light"];
/** In a full run each size in each theme. */
const LOOKS = [LARGE, SMALL].flatMap((size, at) => THEMES.filter((_, other) => FULL || at === other).map((theme) => ({ size, theme })));

/** What of a scene does not fit into the window, in words. */
export async function outside(page, scene) {
  const { scrollWidth, scrollHeight } = await page.evaluate(() => document.documentElement);
  const { width, height } = page.viewportSize();
  const sticking = await page.evaluate(() => [...document.querySelectorAll("button, input, select, h1, h2")].filter((element) => {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || element.closest(".scroll, .inspector, .particles-legend")) return false;
    // The overview, the tabs Causes and Latency, what is drawn in 3D and a comparison scroll up and down.
    const scrolls = element.closest(".overview, .why, .how-rows, .space-side, .compare") !== null;
    return box.right > innerWidth + 1 || box.left < -1 || (!scrolls && (box.bottom > innerHeight + 1 || box.top < -1));
  }).map((element) => element.getAttribute("aria-label") ?? element.textContent));
  const words = [];
  if (scrollWidth > width || scrollHeight > height) words.push(`${scene}: the page is ${scrollWidth}x${scrollHeight}`);
  if (sticking.length > 0) words.push(`${scene}: outside are ${sticking.join(", ")}`);
  return words;
}

/** The scene in all looks; or, of one that passes quickly, in the first. */
export async function shoot(page, scene, { passing = false } = {}) {
  const found = [];
  for (const { size, theme } of passing ? LOOKS.slice(0, 1) : LOOKS) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size);
    // The legend follows a theme within a quarter of a second.
    await pause(400);
    const look = `${scene}-${size.width}x${size.height}-${theme}`;
    await page.screenshot({ animations: "disabled", path: join(ARTEFACTS, `${look}.png`) });
    found.push(...await outside(page, look));
  }
  await page.setViewportSize(LARGE);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(found, []);
}
