// Runs tests, several at a time, and says how they went, in the words that cargo's tests use.

import { appendFileSync } from "node:fs";
import { inspect } from "node:util";
import { FULL, SKIPPED } from "./paths.mjs";
import { Patience } from "./patience.mjs";

const tests = [];
const LIMIT_MS = 300_000;
const LOOK_EVERY_MS = 1000;
/** At most this number of failed tests is tried once more, alone; where more fail it is no chance. The full check tries none. */
const MOST_TRIED_AGAIN = FULL ? 0 : 3;
/** How many tests run at a time. */
const WORKERS = Number(process.env.MPISCOPE_TEST_JOBS ?? 2);

class Skip extends Error {}

/** Ends a test that cannot be made here. */
export function skip(reason) {
  throw new Skip(reason);
}

/**
 * `body` gets what belongs to this one test: `after(act)` is done when it is over, last one first; `check(act)` is
 * done before that, and may fail the test. `alone`: nothing else may run meanwhile. `full`: only the full check runs it, or
 * who names it.
 */
export function test(name, body, { limitMs = LIMIT_MS, alone = false, full = false } = {}) {
  tests.push({ name, body, limitMs, alone, full });
}

async function runOne({ body, limitMs }, worker) {
  const ends = [];
  const checks = [];
  let timer;
  const tooLong = new Promise((_, reject) => {
    const patience = new Patience(limitMs);
    timer = setInterval(() => {
      if (patience.isOver()) reject(new Error(`it took longer than ${limitMs / 1000} s`));
    }, LOOK_EVERY_MS);
  });
  const failures = [];
  let skipped = null;
  const attempt = async (act) => {
    try {
      await act();
    } catch (error) {
      if (error instanceof Skip) skipped = error.message;
      else failures.push(error);
    }
  };
  const work = async () => {
    await body({ worker, after: (act) => ends.push(act), check: (act) => checks.push(act) });
    for (const check of checks) await check();
  };
  await attempt(() => Promise.race([work(), tooLong]));
  clearInterval(timer);
  for (const end of ends.reverse()) await attempt(end);
  return { failures, skipped: failures.length > 0 ? null : skipped };
}

function explain(error) {
  return error instanceof Error ? (error.stack ?? error.message) : inspect(error);
}

/** Runs those whose names hold one of the words (all without words); the exit status. */
export async function runAll(words) {
  const chosen = tests.filter(({ name, full }) => (words.length === 0 ? FULL || !full : words.some((word) => name.includes(word))));
  console.log(`\nrunning ${chosen.length} tests`);
  const failed = [];
  let passed = 0;
  let skips = 0;
  const begin = performance.now();
  const runNext = async (each, worker) => {
    const startMs = performance.now();
    const { failures, skipped } = await runOne(each, worker);
    const took = `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
    if (failures.length > 0) {
      failed.push({ name: each.name, failures });
      console.log(`test ${each.name} ... FAILED (${took})`);
    } else if (skipped !== null) {
      skips++;
      // Where the tests in Rust note theirs; ./deploy/test counts the lines.
      appendFileSync(SKIPPED, `browser ${each.name}: ${skipped}\n`);
      console.log(`test ${each.name} ... skipped\nSKIPPED: browser ${each.name}: ${skipped}`);
    } else {
      passed++;
      console.log(`test ${each.name} ... ok (${took})`);
    }
  };
  /** A test that passes alone counts, but is listed with what it failed with beside others. */
  const runAgain = async () => {
    if (failed.length > MOST_TRIED_AGAIN) return;
    for (const first of failed.splice(0)) {
      console.log(`test ${first.name} is tried again, alone; it had failed:\n${first.failures.map(explain).join("\n")}\n`);
      const failedBefore = failed.length;
      await runNext(chosen.find(({ name }) => name === first.name), 0);
      if (failed.length === failedBefore) console.log(`UNSTABLE: browser ${first.name}: ${String(first.failures[0]).split("\n")[0]}`);
    }
  };
  const shared = chosen.filter(({ alone }) => !alone);
  await Promise.all(Array.from({ length: WORKERS }, async (_, worker) => {
    for (let each = shared.shift(); each; each = shared.shift()) await runNext(each, worker);
  }));
  for (const each of chosen.filter(({ alone }) => alone)) await runNext(each, 0);
  await runAgain();
  if (failed.length > 0) {
    console.log("\nfailures:\n");
    for (const { name, failures } of failed) console.log(`---- ${name}\n${failures.map(explain).join("\n")}\n`);
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const word = failed.length > 0 ? "FAILED" : "ok";
  console.log(
    `\ntest result: ${word}. ${passed} passed; ${failed.length} failed; ${skips} ignored; 0 measured; ` +
      `${tests.length - chosen.length} filtered out; finished in ${seconds}s`,
  );
  return failed.length > 0 ? 1 : 0;
}
