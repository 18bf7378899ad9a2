// Draws pictures of a graph beside the page's thread. The newest request counts: an older one that is still being drawn
// is given up.

import type { Dag } from "../../feed/dag";
import { graphOf } from "./graph";
import { Model, paint, type Picture } from "./paint";

export type ToPainter = { kind: "dag"; dag: Dag } | { kind: "picture"; number: number; picture: Picture; ratio: number };
export interface FromPainter { number: number; bitmap: ImageBitmap }

/** How long it draws before it looks for something newer. */
const SLICE_MS = 12;

const port = self as unknown as { postMessage(message: FromPainter, transfer: Transferable[]): void; onmessage: ((event: MessageEvent<ToPainter>) => void) | null };
const canvas = new OffscreenCanvas(1, 1);
let model: Model | null = null;
let newest = 0;

port.onmessage = ({ data }) => {
  if (data.kind === "dag") {
    model = new Model(graphOf(data.dag));
    newest++;
  } else if (model) {
    void draw(model, data.number, data.picture, data.ratio);
  }
};

async function draw(mine: Model, number: number, picture: Picture, ratio: number): Promise<void> {
  const turn = ++newest;
  const { frame: { width, height }, margin } = picture;
  canvas.width = Math.max(1, Math.round((width + 2 * margin) * ratio));
  canvas.height = Math.max(1, Math.round((height + 2 * margin) * ratio));
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, margin * ratio, margin * ratio);
  let sinceMs = performance.now();
  const steps = paint(context, mine, picture);
  while (steps.next().done !== true) {
    if (performance.now() - sinceMs < SLICE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (turn !== newest) return;
    sinceMs = performance.now();
  }
  const bitmap = canvas.transferToImageBitmap();
  port.postMessage({ number, bitmap }, [bitmap]);
}
