// How long the page's main thread is busy in one go while somebody drags and zooms the pictures of a made-up job of many
// ranks: the longest task of each view, by the wall clock. Printed.

import { close, LARGE, launch } from "../../browser/lib/browser.mjs";
import { madeUp } from "../../browser/lib/made_up.mjs";
import { untilState } from "../../browser/lib/page.mjs";
import { pause } from "../../browser/lib/wait.mjs";

const RANKS = "2000";
const NODES = "64";
/** Where in the window the picture of each view is. */
const CENTRE = { x: 420, y: 420 };
const SETTLE_MS = 8000;
const STEPS = 40;
const VIEWS = [
  { name: "particles", hash: "tab=particles" },
  { name: "where, graph", hash: "tab=where" },
  { name: "where, matrix", hash: "tab=where", button: "Matrix" },
  { name: "what", hash: "tab=what" },
  { name: "messages", hash: "tab=messages" },
  { name: "how", hash: "tab=how" },
];

const cleanups = [];
const t = { after: (work) => cleanups.push(work) };
const browser = await launch();
try {
  const url = await madeUp(t, "--ranks", RANKS, "--nodes", NODES, "--scene", "replay");
  for (const view of VIEWS) {
    const page = await (await browser.newContext({ viewport: LARGE })).newPage();
    await page.addInitScript(() => {
      window.tasksMs = [];
      new PerformanceObserver((list) => window.tasksMs.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: "longtask" });
    });
    await page.goto(`${url}#${view.hash}`);
    await untilState(page, /^replay$/);
    if (view.button) await page.getByRole("button", { name: view.button, exact: true }).first().click();
    await pause(SETTLE_MS);
    const loaded = await page.evaluate(() => window.tasksMs.splice(0));
    await page.mouse.move(CENTRE.x, CENTRE.y);
    await page.mouse.down();
    for (let step = 1; step <= STEPS; step++) await page.mouse.move(CENTRE.x + 4 * step, CENTRE.y - step);
    await page.mouse.up();
    await pause(500);
    const dragged = await page.evaluate(() => window.tasksMs.splice(0));
    await page.keyboard.down("Control");
    for (let step = 0; step < STEPS; step++) await page.mouse.wheel(0, step < STEPS / 2 ? -60 : 60);
    await page.keyboard.up("Control");
    await pause(500);
    const zoomed = await page.evaluate(() => window.tasksMs.splice(0));
    // That there are some while it loads shows that they would be seen.
    const words = (tasks) => (tasks.length > 0 ? `${Math.max(...tasks)} ms the longest of ${tasks.length} above 50 ms` : "none above 50 ms");
    console.log(`${view.name}: loading ${words(loaded)}; dragging ${words(dragged)}; zooming ${words(zoomed)}`);
    await page.close();
  }
} finally {
  for (const work of cleanups) await work();
  await close(browser);
}
