// What the automatic checker of accessibility finds.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that look at colours; all others find the same in every theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Serious and critical violations of these rules (all, if none are given), in words. */
async function violations(page, rules) {
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate(
    (values) => globalThis.axe.run(document, { resultTypes: ["violations"], ...(values ? { runOnly: { type: "rule", values } } : {}) }),
    rules ?? null,
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, help, nodes }) =>
      `${id} (${impact}): ${help}\n${nodes.slice(0, 5).map(({ html, failureSummary }) => `    ${html}\n      ${failureSummary.replaceAll("\n", "\n      ")}`).join("\n")}`);
}

/**
 * Fails with what is found on each view: by all rules in the dark theme, by those of colours in the light one. A view is
 * a name, how to come there, and how to leave.
 */
export async function checkAll(page, views) {
  const faults = [];
  for (const [theme, rules] of [["dark", undefined], ["light", COLOUR_RULES]]) {
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, enter, leave] of views) {
      await enter();
      // Colours that are on their way to others are not checked.
      await page.evaluate(async () => {
        // The page hears of another theme in one frame, and they set out in the next.
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        await Promise.allSettled(document.getAnimations().map((each) => each.finished));
      });
      for (const fault of await violations(page, rules)) faults.push(`${name}, ${theme}: ${fault}`);
      await leave?.();
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
