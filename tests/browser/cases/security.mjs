// Who may see the page: whoever has its token, and no other site that the same browser shows.

import { strict as assert } from "node:assert";
import { createServer, request } from "node:http";
import { open, visitor } from "../lib/browser.mjs";
import { untilState } from "../lib/page.mjs";
import { replay } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";

function get(url, headers = {}) {
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers }, (response) => {
      let body = "";
      response.on("data", (bytes) => (body += bytes));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asking.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: response.headers, body: "" });
    });
    asking.on("error", reject);
    asking.end();
  });
}

const UPGRADE = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };

async function served(t) {
  const { url } = await replay(t, await quiet());
  const { origin, port, searchParams } = new URL(url);
  const token = searchParams.get("token");
  return { url, origin, port, token, cookie: `mpiscope_${port}=${token}` };
}

test("security::only_the_token_opens_the_page_and_only_the_page_the_feed", async (t) => {
  const { url, origin, port, token, cookie } = await served(t);
  for (const path of ["/", "/health", "/feed", "/assets/x.js", `/?token=${"0".repeat(32)}`]) {
    assert.equal((await get(origin + path)).status, 403, path);
  }
  assert.equal((await get(`${origin}/feed`, { ...UPGRADE, Origin: origin })).status, 403, "the feed without the cookie");
  assert.equal((await get(`${origin}/feed`, { ...UPGRADE, Cookie: cookie, Origin: origin })).status, 101, "the page's own feed");
  for (const other of ["http://evil.example", `http://localhost:${port}`, `http://127.0.0.1:${Number(port) - 1}`, "null"]) {
    assert.equal((await get(`${origin}/feed`, { ...UPGRADE, Cookie: cookie, Origin: other })).status, 403, `the feed from ${other}`);
  }
  assert.equal((await get(`${origin}/`, { Host: "evil.example", Cookie: cookie })).status, 421, "another host's name");

  const entered = await get(url);
  assert.equal(entered.status, 303);
  assert.match(String(entered.headers["set-cookie"]), /HttpOnly; SameSite=Strict/);
  const page = await get(`${origin}/`, { Cookie: cookie });
  assert.equal(page.status, 200);
  assert.ok(!page.body.includes(token));
  const policy = page.headers["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), policy);
  assert.ok(!/unsafe/.test(policy), policy);
  assert.equal(page.headers["x-content-type-options"], "nosniff");
});

test("security::the_token_leaves_the_address_and_scripts_cannot_read_it", async (t) => {
  const { url, token } = await served(t);
  const page = await open(t, url);
  await untilState(page, /^replay$/);
  assert.ok(!page.url().includes(token), page.url());
  assert.equal(await page.evaluate(() => document.cookie), "");
});

test("security::another_site_in_the_same_browser_gets_nothing", async (t) => {
  const { url, origin } = await served(t);
  const context = await visitor(t);
  const own = await open(t, url, { context });
  await untilState(own, /^replay$/);

  const site = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html><title>other</title>"));
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  t.after(() => site.close());
  // Another port of the same address: the browser does send it the cookie.
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${site.address().port}/`);
  const found = await other.evaluate(async ([page, feed]) => {
    const socket = await new Promise((resolve) => {
      const trying = new WebSocket(feed);
      trying.onopen = () => resolve("opened");
      trying.onerror = () => resolve("refused");
    });
    const text = await fetch(page, { credentials: "include" }).then((answer) => answer.text(), () => "refused");
    const script = await new Promise((resolve) => {
      const element = document.createElement("script");
      element.src = page;
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("refused");
      document.head.append(element);
    });
    const frame = document.createElement("iframe");
    frame.src = page;
    document.body.append(frame);
    await new Promise((resolve) => (frame.onload = resolve));
    return { socket, text, script, frames: frame.contentDocument === null ? "closed" : "open" };
  }, [`${origin}/`, `${origin.replace("http", "ws")}/feed`]);
  assert.deepEqual(found, { socket: "refused", text: "refused", script: "refused", frames: "closed" });
  const framed = other.frames().find((frame) => frame !== other.mainFrame());
  assert.ok(!(await framed.content()).includes("id=\"page\""), "the page lets itself be framed");
});
