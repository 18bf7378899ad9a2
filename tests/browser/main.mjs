// All tests of the page in a real browser: `run` prepares what they need. Words choose those whose names hold one.

import { readdirSync } from "node:fs";
import { close } from "./lib/browser.mjs";
import { runAll } from "./lib/runner.mjs";

const cases = new URL("cases/", import.meta.url);
for (const name of readdirSync(cases).filter((each) => each.endsWith(".mjs")).sort()) await import(new URL(name, cases));
const status = await runAll(process.argv.slice(2));
await close();
process.exit(status);
