// The particles are drawn with and without WebGL2.

import { strict as assert } from "node:assert";
import { open, visitor } from "../lib/browser.mjs";
import { drag, stillPicture, untilParticles, untilState, words } from "../lib/page.mjs";
import { replay } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";

/** The view proves itself that WebGL2 is fast enough here before it draws with it. */
const KINDS = [
  { name: "without_a_gpu", gpu: "none", drawn: /drawn by (the CPU|WebGL2)/ },
  { name: "with_an_emulated_gpu", gpu: "emulated", drawn: /drawn by (the CPU|WebGL2)/ },
  { name: "without_webgl2", gpu: "none", drawn: /drawn by the CPU/, prepare: noWebGl2 },
];

function noWebGl2() {
  const real = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function getContext(kind, ...rest) {
    return kind === "webgl2" ? null : real.call(this, kind, ...rest);
  };
}

for (const { name, gpu, drawn, prepare } of KINDS) {
  test(`renderers::particles_are_drawn_${name}`, async (t) => {
    const { url } = await replay(t, await quiet());
    const context = await visitor(t, { gpu });
    if (prepare) await context.addInitScript(prepare);
    const page = await open(t, url, { context });
    await untilState(page, /^replay$/);
    await untilParticles(page);
    await drag(page, 1, 0.5);
    await stillPicture(page);
    await untilParticles(page);
    assert.match(await words(page), drawn);
    assert.equal(await page.locator("[role=alert]").count(), 0);
  });
}
