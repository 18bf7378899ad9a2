// A Chromium for each worker (or two), and pages in it that notice whatever a page must not do.

import { chromium as playwright } from "playwright-core";
import { chromium } from "./paths.mjs";
import { slowness } from "./patience.mjs";
import { PATIENCE_MS } from "./wait.mjs";

const FLAGS = [
  "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1", "--force-color-profile=srgb", "--hide-scrollbars",
];
/** How the browser draws: by the CPU alone, or through a GPU that the CPU plays, which has WebGL2 but is far slower. */
const GPU = {
  none: ["--disable-gpu"],
  emulated: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
};
export const LARGE = { width: 1440, height: 900 };
/** Where several pages draw at a time, by a browser without a GPU. */
export const SMALL = { width: 1024, height: 700 };
/** The answer to a page that may no longer see the run, also when the browser asks for its icon: it reports it as an error. */
const REFUSED = /status of 403 .*\/(health|favicon\.svg)$/;
/** What the browser itself says when a server is gone. */
const LOST = /WebSocket connection to|ERR_CONNECTION_|ERR_SOCKET_NOT_CONNECTED|ERR_EMPTY_RESPONSE/;

const browsers = new Map();

/** The browser of a worker, started once. */
export function launch(gpu = "none", worker = 0) {
  const key = `${gpu} ${worker}`;
  if (!browsers.has(key)) browsers.set(key, playwright.launch({ executablePath: chromium(), args: [...FLAGS, ...GPU[gpu]] }));
  return browsers.get(key);
}

export async function close() {
  for (const browser of browsers.values()) await (await browser).close();
  browsers.clear();
}

/** A visitor of its own: cookies and choices are not shared with another. */
export async function visitor(t, { gpu, ...options } = {}) {
  const context = await (await launch(gpu, t.worker)).newContext({ viewport: LARGE, colorScheme: "dark", deviceScaleFactor: 1, ...options });
  // Playwright's own waits are as long as ours.
  context.setDefaultTimeout(PATIENCE_MS * slowness());
  t.after(() => context.close());
  return context;
}

/**
 * Opens the page. At the end of the test it must have thrown nothing, violated no policy, and asked nothing of another
 * host. `losesServer`: the browser may say that the server could not be reached; `losesRights`: that it refused the page. `view`: the tab to open with, which most
 * tests want to be the particles; null is whatever the page itself begins with.
 */
export async function open(t, url, { context, losesServer = false, losesRights = false, view = "particles", ...options } = {}) {
  const page = await (context ?? (await visitor(t, options))).newPage();
  watch(t, page, new URL(url).host, [losesServer && LOST, losesRights && REFUSED].filter(Boolean));
  await page.goto(view === null || url.includes("#") ? url : `${url}#tab=${view}`);
  return page;
}

function watch(t, page, host, expected) {
  const faults = [];
  page.on("pageerror", (error) => faults.push(`thrown: ${error.stack ?? error}`));
  page.on("console", (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (message.type() === "error" && !expected.some((one) => one.test(text))) faults.push(`console: ${text}`);
    else if (/Content Security Policy/i.test(text)) faults.push(`policy: ${text}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (["http:", "https:", "ws:", "wss:"].includes(url.protocol) && url.host !== host) faults.push(`request to ${url.host}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== host) faults.push(`socket to ${socket.url()}`);
  });
  page.on("crash", () => faults.push("the page crashed"));
  t.check(() => {
    if (faults.length > 0) throw new Error(`the page did what it must not:\n${[...new Set(faults)].join("\n")}`);
  });
}
