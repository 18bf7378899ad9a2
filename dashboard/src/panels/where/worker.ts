// The worker: takes what the desk sends, in order, and answers each with what it made.

import { type CellsAsk, type PaintAsk, Studio } from "./studio";
import type { ToWorker } from "./desk";

const studio = new Studio();
let canvas: OffscreenCanvas | null = null;

function paint(ask: PaintAsk): ImageBitmap | null {
  const width = Math.max(1, Math.round(ask.width * ask.ratio));
  const height = Math.max(1, Math.round(ask.height * ask.ratio));
  if (canvas?.width !== width || canvas.height !== height) canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (!context) return null;
  studio.paint(context, ask);
  return canvas.transferToImageBitmap();
}

async function cells(ask: CellsAsk): Promise<void> {
  const made = studio.cells(ask);
  const { columns, rows } = ask.cells;
  const bitmap = made && columns > 0 && rows > 0 ? await createImageBitmap(new ImageData(made.pixels, columns, rows)) : null;
  postMessage({ done: "cells", ask, bitmap, least: made?.least ?? 0, most: made?.most ?? 0 }, { transfer: bitmap ? [bitmap] : [] });
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  switch (data.do) {
    case "arrange":
      return postMessage({ done: "arranged", scene: studio.arrange(data.regions, data.pairs, data.before, data.anew) });
    case "move":
      return postMessage({ done: "moved", scene: studio.move(data.ask.ranks, data.ask.dx, data.ask.dy, data.ask.region) });
    case "paint": {
      const bitmap = paint(data.ask);
      return postMessage({ done: "painted", ask: data.ask, bitmap }, { transfer: bitmap ? [bitmap] : [] });
    }
    case "cells":
      return void cells(data.ask);
  }
});
