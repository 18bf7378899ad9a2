// The worker's side: draws pictures beside the page's thread. The newest request counts: an older one that is still being
// drawn is given up.

import { type Asked, contextsOf, type FromPainter, type Kinds, type Recipe, type ToPainter } from "./recipe";

/** How long it draws before it looks for something newer. */
const SLICE_MS = 12;

export function serve<Kind extends Kinds>(recipe: Recipe<Kind>): void {
  const port = self as unknown as { postMessage(message: FromPainter<Kind>, transfer: Transferable[]): void; onmessage: ((event: MessageEvent<ToPainter<Kind>>) => void) | null };
  const canvases = Array.from({ length: recipe.sheets }, () => new OffscreenCanvas(1, 1));
  let scene: { of: Kind["scene"] } | null = null;
  let newest = 0;

  async function draw(mine: Kind["scene"], asked: Asked<Kind>): Promise<void> {
    const turn = ++newest;
    const contexts = contextsOf(recipe, canvases, asked);
    if (!contexts) return;
    let sinceMs = performance.now();
    const steps = recipe.paint(contexts, mine, asked.picture, asked.ratio);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      if (performance.now() - sinceMs < SLICE_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      if (turn !== newest) return;
      sinceMs = performance.now();
    }
    const sheets = canvases.map((canvas) => canvas.transferToImageBitmap());
    port.postMessage({ kind: "picture", number: asked.number, sheets, summary: step.value }, sheets);
  }

  port.onmessage = ({ data }) => {
    if (data.kind === "source") {
      scene = { of: recipe.scene(data.source) };
      newest++;
      port.postMessage({ kind: "facts", number: data.number, facts: recipe.facts(scene.of) }, []);
    } else if (scene) {
      void draw(scene.of, data);
    }
  };
}
