// What the automatic checker of accessibility finds.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical violations, in words. */
async function violations(page) {
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, help, nodes }) =>
      `${id} (${impact}): ${help}\n${nodes.slice(0, 5).map(({ html, failureSummary }) => `    ${html}\n      ${failureSummary.replaceAll("\n", "\n      ")}`).join("\n")}`);
}

/** Fails with what is found on each view in both themes; a view is a name, how to come there, and how to leave. */
export async function checkAll(page, views) {
  const faults = [];
  for (const theme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, enter, leave] of views) {
      await enter();
      // Colours that are on their way to others are not judged.
      await page.evaluate(async () => {
        // The page hears of another theme in one frame, and they set out in the next.
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        await Promise.allSettled(document.getAnimations().map((each) => each.finished));
      });
      for (const fault of await violations(page)) faults.push(`${name}, ${theme}: ${fault}`);
      await leave?.();
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
