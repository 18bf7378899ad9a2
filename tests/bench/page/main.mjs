// Figures of the page, printed and kept in target/tests-browser/artefacts/figures.json.

import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { close, LARGE, launch } from "../../browser/lib/browser.mjs";
import { legend, untilParticles, untilState } from "../../browser/lib/page.mjs";
import { ARTEFACTS } from "../../browser/lib/paths.mjs";
import { mpi, run } from "../../browser/lib/product.mjs";
import { pause, until } from "../../browser/lib/wait.mjs";
import { watch } from "./watch.mjs";

const RANKS = 4;
/** A mark that is drawn later than this after its end has faded too far to differ from history. */
const LATEST_MS = 1350;
/** Shorter ones, of ranks that were late themselves, do not stand above the crowd. */
const SHORTEST_NS = 3e6;
const { values } = parseArgs({ options: {
  seconds: { type: "string", default: "60" }, calls: { type: "string", default: "20000" }, repeat: { type: "string", default: "10" },
  gpu: { type: "string", default: "none" },
} });
const seconds = Number(values.seconds);
const calls = Number(values.calls);
const ends = [];
const t = { after: (act) => ends.push(act) };

function spread(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (part) => Number((sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN).toFixed(1));
  return { samples: sorted.length, least: at(0), median: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
}

async function open(url, options) {
  const context = await (await launch(values.gpu)).newContext({ viewport: LARGE, colorScheme: "dark" });
  const page = await context.newPage();
  await page.addInitScript(watch, options);
  await page.goto(url);
  return page;
}

const seen = (page) => page.evaluate(() => globalThis.__seen);

/** What is fetched up to the first view, as it is and packed. */
async function bundle(page) {
  const urls = await page.evaluate(() => [location.origin + "/", ...performance.getEntriesByType("resource").map(({ name }) => name)]);
  let plain = 0;
  let packed = 0;
  for (const url of urls.filter((each) => !each.endsWith("/health") && each.startsWith("http"))) {
    const body = await page.evaluate(async (from) => [...new Uint8Array(await (await fetch(from)).arrayBuffer())], url);
    plain += body.length;
    packed += gzipSync(Buffer.from(body), { level: 9 }).length;
  }
  return { files: urls.length, plain_kB: plain / 1000, gzip_kB: packed / 1000 };
}

/** performance.now() of a page at CLOCK_MONOTONIC 0, and how uncertain that is; in milliseconds. */
async function clockOf(page) {
  let best = { offMs: 0, uncertainMs: Infinity };
  for (let tries = 0; tries < 200; tries++) {
    const before = Number(process.hrtime.bigint()) / 1e6;
    const there = await page.evaluate(() => performance.now());
    const after = Number(process.hrtime.bigint()) / 1e6;
    if (after - before < 2 * best.uncertainMs) best = { offMs: there - (before + after) / 2, uncertainMs: (after - before) / 2 };
  }
  return best;
}

async function firstPicture(url, repeat) {
  const all = [];
  for (let opening = 0; opening < repeat; opening++) {
    const page = await open(url, { colour: null, slots: 1 });
    await until("the first particles", async () => (await seen(page))?.first);
    all.push((await seen(page)).first);
    await page.context().close();
  }
  return spread(all);
}

async function longTasks(url) {
  const page = await open(url, { colour: null, slots: 0 });
  await untilState(page, /^live/);
  await untilParticles(page);
  await pause(2000);
  const begin = await page.evaluate(() => {
    globalThis.__frames = 0;
    const count = () => {
      globalThis.__frames++;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    return performance.now();
  });
  await pause(seconds * 1000);
  const { tasks, frames, tookMs, heapMB } = await page.evaluate((from) => ({
    tasks: globalThis.__seen.longTasks.filter(({ startTime }) => startTime >= from).map(({ duration }) => duration),
    frames: globalThis.__frames,
    tookMs: performance.now() - from,
    heapMB: performance.memory.usedJSHeapSize / 1e6,
  }), begin);
  const result = { seconds: tookMs / 1000, over_50_ms: tasks.length, ...spread(tasks), frames_a_second: (frames / tookMs) * 1000, heapMB };
  const files = await bundle(page);
  await page.context().close();
  return { result, files };
}

async function latency(running, colour) {
  const page = await open(running.url, { colour, slots: RANKS });
  await untilState(page, /^live/);
  await untilParticles(page);
  // History as faint as it can be, to look different from particles.
  await page.locator("input[aria-label='Least opacity of the history']").fill("0.02");
  await pause(2000);
  const clock = await clockOf(page);
  const from = running.output.length;
  await pause(2 * seconds * 1000);
  const marks = running.output.slice(from).split("\n").filter((line) => line.startsWith("mark ")).map((line) => line.split(" ").map(Number));
  await pause(2000);
  const again = await clockOf(page);
  const found = await seen(page);
  const words = await page.locator(".particles-status").innerText();
  await page.context().close();
  const drawn = [];
  const shown = [];
  let unseen = 0;
  let unclear = 0;
  for (const [, rank, endNs, durationNs] of marks.filter((mark) => mark.length === 4 && mark.every((each, at) => at === 0 || Number.isFinite(each)))) {
    const endMs = endNs / 1e6 + clock.offMs;
    const taken = found.marks.some(({ slot, drawnMs, goneMs }) => slot === rank && drawnMs < endMs - 5 && goneMs > endMs - 5);
    const mark = found.marks.find(({ slot, drawnMs }) => slot === rank && drawnMs >= endMs - 5 && drawnMs < endMs + LATEST_MS);
    // Something else of this colour stood there already, or it was too short to stand out.
    if (taken || durationNs < SHORTEST_NS) unclear++;
    else if (!mark) unseen++;
    else {
      drawn.push(mark.drawnMs - endMs);
      shown.push(mark.nextMs - endMs);
    }
  }
  return {
    drawn_ms: spread(drawn), next_frame_ms: spread(shown), marks: marks.length, unclear, unseen, clock_uncertain_ms: Math.max(clock.uncertainMs, again.uncertainMs),
    clock_drift_ms: again.offMs - clock.offMs, frames: found.frames, watching_ms_a_frame: found.costMs / found.frames, words,
  };
}

const figures = { calls_a_second: calls, ranks: RANKS, processors: cpus().length, gpu: values.gpu, load: loadavg()[0] };
const tell = (name, value) => {
  figures[name] = value;
  console.log(`${name}: ${JSON.stringify(value, (_, each) => (typeof each === "number" ? Number(each.toFixed(2)) : each))}`);
};
try {
  const running = await run(t, "marks", mpi(RANKS, "tests/bench/page/marks.c", 8 * seconds + 180, calls));
  const page = await open(running.url, { colour: null, slots: 0 });
  await until("marks are made", async () => (await legend(page)).some(({ name, calls: made }) => name === "MPI_Bcast" && made > 4));
  const { colour } = (await legend(page)).find(({ name }) => name === "MPI_Bcast");
  await page.context().close();
  tell("first_picture_ms", await firstPicture(running.url, Number(values.repeat)));
  const { result, files } = await longTasks(running.url);
  tell("bundle", files);
  tell("long_tasks_ms", result);
  tell("call_end_to_pixels", await latency(running, colour));
  console.log(`load of this machine: ${figures.load.toFixed(1)} before, ${loadavg()[0].toFixed(1)} at the end, on ${figures.processors} processors`);
} finally {
  for (const end of ends.reverse()) await end();
  await close();
}
writeFileSync(join(ARTEFACTS, "figures.json"), `${JSON.stringify(figures, null, 2)}\n`);
