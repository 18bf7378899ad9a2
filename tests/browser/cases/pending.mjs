// The tab Pending: what is in flight at the moment of the clock, compared with the messages of the recording.

import { strict as assert } from "node:assert";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { number, seek, tab, table, untilMode, untilState } from "../lib/page.mjs";
import { shoot } from "../lib/pictures.mjs";
import { coloured, count, decodePng } from "../lib/pixels.mjs";
import { messagesOf, replay, steady } from "../lib/product.mjs";
import { scattered, wide } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const clock = (ns) => {
  const s = Math.floor(ns / 1e9);
  return `0:00:${String(s).padStart(2, "0")}.${String(ns % 1e9).padStart(9, "0")}`;
};
const plain = (text) => text.replace(/[\u2009\u202f]/g, "").replace(/\u00a0/g, " ");
const heading = async (page) => plain(await page.locator(".pending-head h2").innerText());
const facts = async (page) => (await page.locator(".pending-head p").allInnerTexts()).map(plain).join(" ");
const rows = (page) => table(page, "Messages in flight");
const inFlight = (messages, ns) => messages.filter(({ send_ns, recv_ns }) => send_ns <= ns && ns < recv_ns);

async function untilMoment(page, ns) {
  const shown = () => page.locator(".pending-head").getAttribute("data-at-ns");
  await until(async () => `the moment ${ns}; the page has ${await shown()}`, async () => (await shown()) === String(ns));
}

async function pending(t, recording, options = {}) {
  const { url } = await replay(t, recording);
  const page = await open(t, url, options);
  await untilState(page, /^replay$/);
  await tab(page, "pending");
  return page;
}

/** What the page shows at a moment is what the rows of the recording say. */
async function compare(page, messages, ns) {
  await seek(page, clock(ns));
  await untilMoment(page, ns);
  const expected = inFlight(messages, ns);
  assert.match(await heading(page), expected.length === 0 ? /^No message is in flight at/ : new RegExp(`^${expected.length} messages? in flight at`));
  const pairs = new Map();
  for (const { src, dst, bytes, send_ns } of expected) {
    const before = pairs.get(`${src} ${dst}`) ?? { messages: 0, bytes: 0, since: Infinity };
    pairs.set(`${src} ${dst}`, { messages: before.messages + 1, bytes: before.bytes + bytes, since: Math.min(before.since, send_ns) });
  }
  const shown = await rows(page);
  assert.ok(pairs.size === 0 || shown.length > 0, "there are rows");
  for (const row of shown) {
    const pair = pairs.get(`${row.from} ${row.to}`);
    assert.ok(pair, `nothing is in flight from ${row.from} to ${row.to} at ${ns}`);
    assert.equal(number(row.messages), pair.messages);
    assert.equal(row.since, clock(pair.since).slice(0, -3));
  }
  const isAll = pairs.size === 0 || (await page.locator("table[aria-label='Messages in flight']").getAttribute("aria-rowcount")) === String(pairs.size + 1);
  assert.ok(isAll, `the table has all ${pairs.size} pairs`);
  const oldest = Math.min(...expected.map(({ send_ns }) => send_ns));
  if (shown.length > 0) assert.equal(shown[0].since, clock(oldest).slice(0, -3), "the oldest comes first");
  return expected.length;
}

test("pending::is_what_the_recording_says_forward_and_backward", async (t) => {
  const recording = await scattered();
  const messages = messagesOf(recording, 1, 2);
  const page = await pending(t, recording);
  // Just after sends, just before and at receives: forward, then back over the same ones and others between.
  const chosen = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => messages[Math.floor(part * messages.length)]).sort((one, other) => one.send_ns - other.send_ns);
  const moments = chosen.flatMap(({ send_ns, recv_ns }) => [send_ns, recv_ns - 1, recv_ns]).filter((ns) => ns > 1.2e9 && ns < 1.8e9);
  assert.ok(moments.length >= 3, `there are moments: ${moments}`);
  const seen = [];
  for (const ns of [...moments, ...[...moments].reverse()]) seen.push(await compare(page, messages, ns));
  assert.ok(seen.some((found) => found > 0), "something was in flight");
  assert.deepEqual(seen.slice(moments.length).reverse(), seen.slice(0, moments.length));
});

test("pending::follows_a_clock_that_plays_both_ways", async (t) => {
  const page = await pending(t, await scattered());
  await seek(page, "0:00:02.000");
  await untilMoment(page, 2e9);
  const at = async () => / at 0:00:(\d+\.\d+)$/.exec(await heading(page))?.[1];
  // Slowly: time must not come to an end before somebody looks.
  for (let times = 0; times < 2; times++) await page.keyboard.press("<");
  for (const [key, wanted, is] of [["l", "forward", (now) => now > 2.2], ["j", "backward", (now) => now < 2.1]]) {
    await page.keyboard.press(key);
    await untilMode(page, wanted);
    await until(`the moment moves ${wanted}`, async () => is(Number(await at())));
  }
});

test("pending::opens_groups_of_a_large_job_down_to_ranks", async (t) => {
  const recording = await wide();
  const page = await pending(t, recording);
  const messages = messagesOf(recording, 0.5, 0.6);
  const { send_ns: ns } = messages[Math.floor(messages.length / 2)];
  await seek(page, clock(ns));
  await untilMoment(page, ns);
  const expected = inFlight(messages, ns).length;
  assert.match(await heading(page), new RegExp(`^${expected} messages? in flight at`));
  const canvas = page.locator(".pending canvas");
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  const spoken = () => page.locator(".pending [aria-live]").innerText().then(plain);
  await until("the first node is spoken", async () => /^\S+ \(32 ranks\), at /.test(await spoken()));
  await page.keyboard.press("o");
  await page.getByRole("button", { name: "Close all" }).waitFor();
  await until("the moment with ranks", async () => {
    await page.keyboard.press("ArrowRight");
    return /^rank \d+, at /.test(await spoken());
  });
  await until(() => `the address says what is open; it is ${page.url()}`, () => /pending\.open=0-32/.test(page.url()));
  assert.match(await heading(page), new RegExp(`^${expected} messages? in flight at`));
  // A rank is selected for all views; what is counted is then its own.
  const [, rank] = /^rank (\d+),/.exec(await spoken());
  await page.keyboard.press("Enter");
  const own = inFlight(messages, ns).filter(({ src, dst }) => src === Number(rank) || dst === Number(rank)).length;
  await until("the messages of the rank", async () => new RegExp(`^(${own === 0 ? "No" : own}) messages? from or to the selected ranks`).test(await heading(page)));
  await page.getByRole("button", { name: "All ranks", exact: true }).click();
  await canvas.focus();
  await page.keyboard.press("Backspace");
  await page.getByRole("button", { name: "Close all" }).waitFor({ state: "detached" });
});

test("pending::a_row_selects_ranks_for_all_views", async (t) => {
  const recording = await scattered();
  const page = await pending(t, recording);
  const messages = messagesOf(recording, 1, 1.2);
  const ns = messages.find(({ send_ns, recv_ns }) => send_ns > 1.05e9 && inFlight(messages, send_ns).length > 1 && recv_ns > send_ns).send_ns;
  await seek(page, clock(ns));
  await untilMoment(page, ns);
  const [{ from, to }] = await rows(page);
  await page.locator(".pending .side button.rank").first().focus();
  await page.keyboard.press("Enter");
  await until("the ranks are selected", async () => / from or to the selected ranks /.test(await heading(page)));
  const selected = [Number(from), Number(to)].sort((one, other) => one - other);
  const words = selected[1] === selected[0] + 1 ? `${selected[0]}-${selected[1]}` : selected.join(",");
  await until(() => `the address has ranks ${words}; it is ${page.url()}`, () => page.url().includes(`ranks=${words}`));
});

test("pending::sends_without_a_receive_are_in_flight_while_the_job_runs", async (t) => {
  const started = await steady(t, "pending", { ranks: 2, source: "tests/browser/apps/pending.c" });
  const page = await open(t, started.url);
  await untilState(page, /^live$/);
  await tab(page, "pending");
  await until(async () => `three in flight; the heading is "${await heading(page)}"`, async () => /^3 messages in flight at/.test(await heading(page)));
  assert.match(await facts(page), /^3 without a receive so far\. 300 B; the oldest for .*: rank 0 to 1, 100 B, sent 0:00:/);
  const [row] = await rows(page);
  assert.deepEqual([row.from, row.to, row.messages, row.size], ["0", "1", "3", "300 B"]);
  await started.finish();
  // The recording has their receives: at the same moments they are in flight, and none is without one.
  const messages = messagesOf(started.recording, 0, 600);
  assert.equal(messages.length, 3);
  const after = await pending(t, started.recording);
  for (const ns of [Math.min(...messages.map(({ recv_ns }) => recv_ns)) - 1, Math.max(...messages.map(({ recv_ns }) => recv_ns))]) await compare(after, messages, ns);
  assert.doesNotMatch(await facts(after), /without a receive/);
});

test("pending::pictures", async (t) => {
  for (const [name, recording] of [["16", await scattered()], ["512", await wide()]]) {
    const page = await pending(t, recording);
    const { send_ns: ns } = messagesOf(recording, 0.5, 0.52).at(-1);
    await seek(page, clock(ns));
    await untilMoment(page, ns);
    await until("edges in the pixels", async () => count(decodePng(await page.screenshot({ clip: await page.locator(".pending canvas").boundingBox() })), coloured).pixels > 50);
    await shoot(page, `pending-${name}`);
    await page.context().close();
  }
}, { full: true });

test("pending::nothing_serious_for_the_checker_of_accessibility", async (t) => {
  const recording = await scattered();
  const page = await pending(t, recording);
  const { send_ns: ns } = messagesOf(recording, 1, 1.1).at(-1);
  await page.setViewportSize(SMALL);
  await checkAll(page, [
    ["the graph", async () => {
      await seek(page, clock(ns));
      await untilMoment(page, ns);
    }],
    ["a group", async () => {
      await page.locator(".pending canvas").focus();
      await page.keyboard.press("ArrowRight");
    }],
    ["nothing in flight", async () => {
      await seek(page, "0:00:00.000");
      await page.locator(".pending .picture h2", { hasText: "No message is in flight" }).waitFor();
    }],
  ]);
});
