// The tab 3D of a simulated job of many ranks, in a browser whose graphics processor is played by the CPU: from the click to
// its first points, the longest task of the main thread while labelled points turn, and what the shader of the points costs
// beside a trivial one. Printed with spread.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { close, LARGE, launch } from "../../browser/lib/browser.mjs";
import { untilState } from "../../browser/lib/page.mjs";
import { OWN, PROGRAM } from "../../browser/lib/paths.mjs";
import { replay } from "../../browser/lib/product.mjs";
import { pause, until } from "../../browser/lib/wait.mjs";
import { watchPoints } from "./points.mjs";
import { tasksOf } from "./tasks.mjs";

const { values } = parseArgs({ options: {
  ranks: { type: "string", default: "16384" }, repeat: { type: "string", default: "15" }, gpu: { type: "string", default: "emulated" },
} });
/** Tasks above this are felt. */
const FELT_MS = 50;
const STEPS = 60;
const ROUNDS = 21;
const LAYOUTS = ["sphere", "block", "plane"];

const ends = [];
const t = { after: (act) => ends.push(act) };

function recording(ranks) {
  const out = join(OWN, `space-${ranks}`);
  if (!existsSync(join(out, "manifest.json"))) {
    const nodes = Math.ceil(ranks / 8);
    const words = ["synth", "--pattern", "halo3d", "--ranks", ranks, "--nodes", nodes, "--seconds", 2, "--rate", 25 * ranks, "--disturb", "slow-rack", "-o", out];
    execFileSync(PROGRAM, words.map(String), { stdio: "ignore" });
  }
  return out;
}

function spread(list, digits = 0) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(digits);
  return `${at(0.5)} (least ${at(0)}, quartiles ${at(0.25)} and ${at(0.75)}, most ${at(1)}; ${list.length} times)`;
}

async function opened(url, hash) {
  const context = await (await launch(values.gpu)).newContext({ viewport: LARGE, colorScheme: "dark" });
  const page = await context.newPage();
  await page.addInitScript(watchPoints);
  await page.goto(`${url}#${hash}`);
  await untilState(page, /^replay$/);
  return page;
}

/** A new visitor each time: nothing of the view is in the browser's cache. */
async function openings(url) {
  const all = [];
  for (let opening = 0; opening < Number(values.repeat); opening++) {
    const page = await opened(url, "tab=overview");
    await page.locator("#tab-space").waitFor();
    // What the first view asks for is there.
    await page.waitForLoadState("networkidle");
    await pause(1500);
    await page.locator("#tab-space").click();
    all.push(await until("points in colour", () => page.evaluate(() => globalThis.__points.first && { ...globalThis.__points.first })));
    await page.context().close();
  }
  return all;
}

async function turning(url, layout) {
  const page = await opened(url, `tab=space&space.layout=${layout}`);
  await until("points in colour", () => page.evaluate(() => globalThis.__points.first));
  await page.locator(".space-picture canvas[data-engine]").waitFor();
  await pause(3000);
  const { x, y, width, height } = await page.locator(".space-picture > .host").boundingBox();
  const turn = async () => {
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    for (let step = 1; step <= STEPS; step++) await page.mouse.move(x + width / 2 + 4 * step, y + height / 2 - step);
    await page.mouse.up();
  };
  const { cpu, wall } = await tasksOf(await launch(values.gpu), page, turn);
  await page.context().close();
  return `longest task ${Math.max(...cpu).toFixed(0)} ms of CPU time (wall ${Math.max(...wall).toFixed(0)} ms), ${cpu.filter((ms) => ms > FELT_MS).length} above ${FELT_MS} ms`;
}

async function shader(url, layout) {
  const page = await opened(url, `tab=space&space.layout=${layout}`);
  await page.locator(".space-picture canvas[data-engine]").waitFor();
  await until("points in colour", () => page.evaluate(() => globalThis.__points.first));
  await page.evaluate((rounds) => (globalThis.__points.rounds = rounds), ROUNDS);
  // Any move draws anew.
  await page.locator(".space-picture > .host").press("ArrowLeft");
  const rounds = await until("the rounds of both shaders", () => page.evaluate(() => globalThis.__points.shader));
  await page.context().close();
  return `${spread(rounds.map(([own, trivial]) => own / trivial), 2)}; a draw takes ${spread(rounds.map(([own]) => own), 1)} ms`;
}

try {
  const { url } = await replay(t, recording(Number(values.ranks)));
  const openedMs = await openings(url);
  console.log(`${values.ranks} ranks, GPU ${values.gpu}, load of this machine ${loadavg()[0].toFixed(1)} on ${cpus().length} processors`);
  console.log(`from the click to the first points, ms: ${spread(openedMs.map(({ points }) => points))}`);
  console.log(`from the click to points in colour, ms: ${spread(openedMs.map(({ colour }) => colour))}; drawn by ${[...new Set(openedMs.map(({ by }) => by))].join(", or ")}`);
  for (const layout of LAYOUTS) console.log(`turning ${layout}: ${await turning(url, layout)}`);
  for (const layout of LAYOUTS) console.log(`shader of ${layout}, times a trivial one: ${await shader(url, layout)}`);
} finally {
  for (const end of ends.reverse()) await end();
  await close();
}
