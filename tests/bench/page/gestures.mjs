// How long the page's main thread is busy in one go while somebody drags, zooms and selects in the pictures of a made-up
// job of many ranks: the longest task of each view, by its CPU time (and by the wall clock). Printed.

import { close, LARGE, launch } from "../../browser/lib/browser.mjs";
import { madeUp } from "../../browser/lib/made_up.mjs";
import { untilState } from "../../browser/lib/page.mjs";
import { pause } from "../../browser/lib/wait.mjs";
import { tasksOf } from "./tasks.mjs";

const RANKS = process.argv[2] ?? "2000";
const NODES = "64";
const ONLY = process.argv.slice(3);
/** Tasks above this are felt. */
const FELT_MS = 50;
/** Where in the window the picture of each view is. */
const CENTRE = { x: 420, y: 420 };
const SETTLE_MS = 8000;
const STEPS = 40;
const VIEWS = [
  { name: "particles", hash: "tab=particles" },
  { name: "where, graph", hash: "tab=where" },
  { name: "where, matrix", hash: "tab=where", button: "Matrix" },
  { name: "what", hash: "tab=what" },
  { name: "what-states", hash: "tab=what&what.view=states" },
  { name: "messages", hash: "tab=messages" },
  { name: "how", hash: "tab=how" },
];

const cleanups = [];
const t = { after: (work) => cleanups.push(work) };
const browser = await launch();
try {
  const url = await madeUp(t, "--ranks", RANKS, "--nodes", NODES, "--scene", "replay");
  for (const view of VIEWS.filter(({ name }) => ONLY.length === 0 || ONLY.includes(name))) {
    const page = await (await browser.newContext({ viewport: LARGE })).newPage();
    await page.goto(`${url}#${view.hash}`);
    await untilState(page, /^replay$/);
    if (view.button) await page.getByRole("button", { name: view.button, exact: true }).first().click();
    await pause(SETTLE_MS);
    const dragged = await tasksOf(browser, page, async () => {
      await page.mouse.move(CENTRE.x, CENTRE.y);
      await page.mouse.down();
      for (let step = 1; step <= STEPS; step++) await page.mouse.move(CENTRE.x + 4 * step, CENTRE.y - step);
      await page.mouse.up();
    });
    const zoomed = await tasksOf(browser, page, async () => {
      for (let step = 0; step < STEPS; step++) await page.mouse.wheel(0, step < STEPS / 2 ? -60 : 60);
    });
    const selected = await tasksOf(browser, page, async () => {
      await page.evaluate(() => (location.hash = `${location.hash.replace(/&range=[^&]*/, "")}&range=12-14`));
      await pause(2000);
      await page.mouse.click(CENTRE.x, CENTRE.y);
    });
    const words = ({ cpu, wall }) => `${Math.max(...cpu).toFixed(0)} ms (wall ${Math.max(...wall).toFixed(0)} ms), ${cpu.filter((ms) => ms > FELT_MS).length} above ${FELT_MS} ms`;
    console.log(`${RANKS} ranks, ${view.name}: dragging ${words(dragged)}; zooming ${words(zoomed)}; selecting ${words(selected)}`);
    await page.close();
  }
} finally {
  for (const work of cleanups) await work();
  await close(browser);
}
