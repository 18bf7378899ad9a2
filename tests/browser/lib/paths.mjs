// Where things are: the tree, what was built of it, the programs of the machine.

import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const TARGET = join(ROOT, "target");
/** Everything that a run of these tests leaves behind. */
export const OWN = join(TARGET, "tests-browser");
export const SKIPPED = join(TARGET, "tests-skipped.txt");
export const ARTEFACTS = join(OWN, "artefacts");
export const RUNS = join(OWN, "runs");
export const PROGRAM = process.env.MPISCOPE_PROGRAM ?? join(TARGET, "release/mpiscope");
export const FULL = process.env.MPISCOPE_FULL === "1";

for (const folder of [ARTEFACTS, RUNS]) mkdirSync(folder, { recursive: true });

/** The file of the first of these programs that is there; null when none is. */
export function find(...names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // In another folder, perhaps.
      }
    }
  }
  return null;
}

export const chromium = () => find("chromium", "chromium-browser", "google-chrome") ?? (existsSync("/usr/bin/chromium") ? "/usr/bin/chromium" : null);
