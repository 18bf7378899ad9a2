// What the page keeps while a made-up job runs and somebody goes from view to view: after each minute on the same view,
// with all collected that nobody holds. Printed, and kept in target/tests-browser/artefacts/memory.json; fails where
// what scripts hold grows.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { close, LARGE, launch } from "../../browser/lib/browser.mjs";
import { madeUp } from "../../browser/lib/made_up.mjs";
import { tab, untilState } from "../../browser/lib/page.mjs";
import { ARTEFACTS } from "../../browser/lib/paths.mjs";
import { pause } from "../../browser/lib/wait.mjs";

const VIEWS = ["overview", "particles", "where", "how", "what", "messages", "why", "figures"];
/** Where it is measured, and how long the page has to let go of what it showed before. */
const REST = "overview";
const REST_MS = 3000;
/** A run that goes on has more stretches and windows each minute; a few of them are listed. */
const FLAT_KB_A_MINUTE = 50;
/** What is no script's: programs that the engine compiles for itself, and what the browser knows of documents and requests. */
const NOT_HELD = new Set(["code", "native", "hidden", "synthetic", "object shape"]);
const { values } = parseArgs({ options: {
  minutes: { type: "string", default: "10" }, every: { type: "string", default: "20" },
  ranks: { type: "string", default: "64" }, nodes: { type: "string", default: "8" }, scene: { type: "string", default: "live" },
} });
const minutes = Number(values.minutes);

/** What a user does in a view: points at things, zooms in and out, picks one. */
async function use(page) {
  const box = await page.locator("#view").boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  for (let step = 1; step < 8; step++) await page.mouse.move(...at(step / 8, 0.3 + 0.05 * step), { steps: 3 });
  await page.mouse.wheel(0, -300);
  await page.mouse.click(...at(0.4, 0.5));
  await page.mouse.wheel(0, 300);
  await page.keyboard.press("Escape");
}

/** The bytes of all that scripts hold: things, lists, words, functions. */
async function heldBytes(session) {
  const chunks = [];
  const take = ({ chunk }) => chunks.push(chunk);
  session.on("HeapProfiler.addHeapSnapshotChunk", take);
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  session.off("HeapProfiler.addHeapSnapshotChunk", take);
  const { snapshot: { meta }, nodes } = JSON.parse(chunks.join(""));
  const [type, size, step] = [meta.node_fields.indexOf("type"), meta.node_fields.indexOf("self_size"), meta.node_fields.length];
  let sum = 0;
  for (let at = 0; at < nodes.length; at += step) if (!NOT_HELD.has(meta.node_types[type][nodes[at + type]])) sum += nodes[at + size];
  return sum;
}

/**
 * Megabytes: what scripts hold; the heap, which has their programs as well; buffers of numbers; and all that the process of
 * the page has, its workers as well.
 */
async function measure(page, session, system) {
  for (let round = 0; round < 3; round++) await session.send("HeapProfiler.collectGarbage");
  const heap = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  const rss = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0));
  return {
    held_MB: (await heldBytes(session)) / 1e6, heap_MB: heap.usedSize / 1e6, buffers_MB: (heap.backingStorageSize ?? Number.NaN) / 1e6, process_MB: Math.max(...rss) / 1e3,
    nodes, listeners: jsEventListeners, workers: page.workers().length,
  };
}

/** The slope of a line through values that are one minute apart. */
function perMinute(list) {
  const middle = (list.length - 1) / 2;
  const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
  const above = list.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
  return above / list.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
}

const ends = [];
const url = await madeUp({ after: (act) => ends.push(act) }, "--ranks", values.ranks, "--nodes", values.nodes, "--scene", values.scene);
const browser = await launch();
const page = await (await browser.newContext({ viewport: LARGE, colorScheme: "dark" })).newPage();
const faults = [];
page.on("pageerror", (error) => faults.push(String(error)));
await page.goto(url);
if (values.scene === "live") await untilState(page, /^live/);
const session = await page.context().newCDPSession(page);
const system = await browser.newBrowserCDPSession();
const samples = [];
const startMs = performance.now();
for (let at = 0; samples.length < minutes; at++) {
  await tab(page, VIEWS[at % VIEWS.length]);
  const shownMs = performance.now();
  await pause(1000);
  await use(page);
  await pause(Math.max(0, Math.min(shownMs + Number(values.every) * 1000, startMs + (samples.length + 1) * 60_000) - performance.now()));
  if (performance.now() < startMs + (samples.length + 1) * 60_000) continue;
  await tab(page, REST);
  await pause(REST_MS);
  samples.push(await measure(page, session, system));
  console.log(`${samples.length} min: ${JSON.stringify(samples.at(-1), (_, each) => (typeof each === "number" ? Number(each.toFixed(2)) : each))}`);
}
// All views were open once by then.
const settled = samples.slice(Math.ceil((VIEWS.length * Number(values.every)) / 60));
const growth = Object.fromEntries(["held_MB", "heap_MB", "buffers_MB", "process_MB", "nodes", "listeners"].map((name) => [name, perMinute(settled.map((sample) => sample[name]))]));
const isFlat = growth.held_MB * 1000 < FLAT_KB_A_MINUTE;
if (settled.length > 1) console.log(`a minute, from minute ${samples.length - settled.length + 1} on: ${JSON.stringify(growth, (_, each) => (typeof each === "number" ? Number(each.toFixed(3)) : each))}`);
console.log(settled.length < 2 ? "too short to say what grows" : `what scripts hold ${isFlat ? "does not grow" : "grows"}`);
for (const fault of faults) console.log(`thrown: ${fault}`);
writeFileSync(join(ARTEFACTS, "memory.json"), JSON.stringify({ ...values, samples, growth }, null, 1));
await page.context().close();
for (const end of ends.reverse()) await end();
await close();
process.exit(isFlat && faults.length === 0 ? 0 : 1);
