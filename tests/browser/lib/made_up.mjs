// The server with a made-up job that comes with the page: for what a test machine cannot run.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ROOT } from "./paths.mjs";
import { skip } from "./runner.mjs";
import { until } from "./wait.mjs";

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Its page's address; `words` are its options. It is ended with the test. */
export async function madeUp(t, ...words) {
  const script = join(ROOT, "dashboard/dev/fake.mjs");
  if (!existsSync(join(ROOT, "dashboard/node_modules/ws")) || !existsSync(join(ROOT, "dashboard/dist/index.html"))) skip("dashboard/ is not built here");
  const port = await freePort();
  const child = spawn(process.execPath, [script, "--port", String(port), ...words], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  let output = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  await until("the made-up server", () => output.includes("http://"));
  return `http://127.0.0.1:${port}/`;
}
