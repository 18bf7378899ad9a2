// Whole views of other programs: tabs in frames that follow the clock and reach nothing.

import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import { open, SMALL, visitor } from "../lib/browser.mjs";
import { seek, untilState } from "../lib/page.mjs";
import { connect } from "../lib/program.mjs";
import { replay } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const tab = (page, name) => page.getByRole("tab", { name });
const frame = (page) => page.frames().find((each) => each !== page.mainFrame() && !each.isDetached());
const words = (page) => frame(page)?.evaluate(() => document.body.innerText).catch(() => "") ?? "";

/** Shows its messages. */
const ECHO = `<!DOCTYPE html><p id="clock"></p><p id="message"></p><script>
  addEventListener("message", ({ data, source }) => {
    if (source !== parent) return;
    if (data.kind === "clock") document.getElementById("clock").textContent = "clock " + data.mode + " " + data.time_ns + " " + JSON.stringify(data.range_ns) + " " + data.theme;
    if (data.kind === "message") document.getElementById("message").textContent = "message " + JSON.stringify(data.data);
  });
</script>`;

test("panels::a_view_of_a_program_follows_the_clock_and_says_when_it_is_gone", async (t) => {
  const { url } = await replay(t, await quiet());
  const page = await open(t, url, { viewport: SMALL });
  await untilState(page, /^replay$/);
  assert.equal(await tab(page, "echo").count(), 0);
  const program = await connect(t, url, "talker");
  program.say({ do: "panel", id: 1, title: "echo", html: ECHO });
  await until("it is confirmed", async () => program.heard.some(({ kind, id }) => kind === "panel" && id === 1));
  // Told before anybody looks at it, it is known to who looks later.
  program.say({ do: "tell_panel", id: 1, data: { old: true } });
  program.say({ do: "tell_panel", id: 1, data: ["<b>text</b>", 2] });
  await tab(page, "echo").click();
  await until("the view has the newest message", async () => /message \["<b>text<\/b>",2\]/.test(await words(page)));
  await seek(page, "0.25");
  await until("the view follows the clock", async () => /clock paused 250000000 null dark/.test(await words(page)));
  // Keys are for the page, not for the field of the time.
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("[");
  // From the system's theme over dark to light.
  await page.keyboard.press("t");
  await page.keyboard.press("t");
  await until("it follows the selection and the theme", async () => /\[250000000,\d+\] light/.test(await words(page)));
  program.say({ do: "tell_panel", id: 1, data: 7 });
  await until("it gets more", async () => /message 7/.test(await words(page)));
  assert.match(await page.locator(".outside-panel .by").innerText(), /the program talker/);

  program.socket.close();
  await page.getByRole("heading", { name: "echo is gone" }).waitFor();
  assert.match(await page.locator(".tab .message").innerText(), /“talker” made it/);
  await tab(page, "Overview").click();
  await until("its tab goes", async () => (await tab(page, "echo").count()) === 0);
});

/** Tries to get out, and says what it got. */
const HOSTILE = (away) => `<!DOCTYPE html><p id="found"></p><script>
  const attempt = async (name, act) => {
    let got = "nothing";
    try { got = String(await act()); } catch (error) { got = "refused"; }
    document.getElementById("found").append(name + "=" + got + "; ");
  };
  (async () => {
    await attempt("cookie", () => document.cookie);
    await attempt("parent", () => parent.document.title);
    await attempt("top", () => { top.location.href = "${away}"; return "moved"; });
    await attempt("storage", () => localStorage.length);
    await attempt("health", () => fetch("../health").then((answer) => answer.text()));
    await attempt("away", () => fetch("${away}").then((answer) => answer.text()));
    await attempt("socket", () => new Promise((resolve, reject) => {
      const socket = new WebSocket("ws://" + location.host + "/feed");
      socket.onopen = () => resolve("open");
      socket.onerror = reject;
    }));
    await attempt("image", () => new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => resolve("loaded");
      image.onerror = reject;
      image.src = "${away}/image.png?secret";
    }));
    await attempt("window", () => (window.open("${away}") === null ? "none" : "opened"));
    document.getElementById("found").append("done");
  })();
</script>`;

test("panels::a_hostile_view_reaches_neither_page_nor_network", async (t) => {
  const reached = [];
  const site = createServer((request, response) => {
    reached.push(request.url);
    response.setHeader("Access-Control-Allow-Origin", "*").end("away");
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  t.after(() => site.close());
  const away = `http://127.0.0.1:${site.address().port}`;
  const { url } = await replay(t, await quiet());
  const program = await connect(t, url, "hostile");
  program.say({ do: "panel", id: 1, title: "hostile", html: HOSTILE(away) });
  program.say({ do: "panel", id: 2, title: "leaves", html: `<!DOCTYPE html><p>stays</p><script>setTimeout(() => { location.href = "${away}/left?secret"; });</script>` });
  await until("both are there", async () => program.heard.filter(({ kind }) => kind === "panel").length === 2);

  // Not by `open`: what the browser says about refused attempts is no fault here.
  const context = await visitor(t, { viewport: SMALL });
  const page = await context.newPage();
  await page.goto(url);
  await tab(page, "hostile").click();
  await until("it tried everything", async () => /done/.test(await words(page)));
  const found = Object.fromEntries((await words(page)).split("; ").filter((part) => part.includes("=")).map((part) => part.split("=")));
  const { window: opened, top, ...others } = found;
  for (const [name, got] of Object.entries(others)) assert.equal(got, "refused", name);
  assert.equal(opened, "none");
  assert.ok(["refused", "moved"].includes(top), top);
  // The page is where it was, and works.
  assert.ok(page.url().startsWith(new URL(url).origin), page.url());
  const refused = page.waitForEvent("console", (message) => /frame-src/.test(message.text()));
  await tab(page, "leaves").click();
  await refused;
  await tab(page, "Figures").click();
  await page.getByRole("table", { name: "Ranks" }).waitFor();
  assert.deepEqual(reached, []);
});
