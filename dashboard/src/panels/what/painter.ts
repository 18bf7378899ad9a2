// Where pictures of a graph come from: a worker beside the page's thread, or the page's own where the browser has no
// canvases for workers. One request at a time: while one is drawn only the newest of those that follow waits.

import type { Dag } from "../../feed/dag";
import type { Model, Picture } from "./paint";
import { paint } from "./paint";
import type { FromPainter, ToPainter } from "./painter-worker";

export interface Painted { picture: Picture; image: CanvasImageSource }

interface Asked { number: number; picture: Picture; ratio: number }

export class Painter {
  private readonly worker: Worker | null = null;
  private readonly canvas = document.createElement("canvas");
  private model: Model | null = null;
  private drawing: Asked | null = null;
  private next: Asked | null = null;
  private number = 0;
  private last: ImageBitmap | null = null;

  constructor(private readonly arrived: (painted: Painted) => void) {
    if (typeof OffscreenCanvas === "undefined" || typeof Worker === "undefined") return;
    this.worker = new Worker(new URL("./painter-worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<FromPainter>) => this.take(data);
  }

  show(dag: Dag, model: Model): void {
    this.model = model;
    this.drawing = this.next = null;
    this.number++;
    this.post({ kind: "dag", dag });
  }

  request(picture: Picture, ratio: number): void {
    if (!this.model) return;
    const asked = { number: ++this.number, picture, ratio };
    if (!this.worker) this.drawHere(asked, this.model);
    else if (this.drawing) this.next = asked;
    else this.send(asked);
  }

  dispose(): void {
    this.worker?.terminate();
    this.last?.close();
  }

  private send(asked: Asked): void {
    this.drawing = asked;
    this.next = null;
    this.post({ kind: "picture", ...asked });
  }

  private post(message: ToPainter): void {
    this.worker?.postMessage(message);
  }

  private take({ number, bitmap }: FromPainter): void {
    const { drawing, next } = this;
    // Of a graph that is not shown any more.
    if (drawing?.number !== number) return bitmap.close();
    this.last?.close();
    this.last = bitmap;
    this.drawing = null;
    this.arrived({ picture: drawing.picture, image: bitmap });
    if (next) this.send(next);
  }

  private drawHere({ picture, ratio }: Asked, model: Model): void {
    const { frame: { width, height }, margin } = picture;
    this.canvas.width = Math.max(1, Math.round((width + 2 * margin) * ratio));
    this.canvas.height = Math.max(1, Math.round((height + 2 * margin) * ratio));
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, margin * ratio, margin * ratio);
    const steps = paint(context, model, picture);
    while (steps.next().done !== true);
    this.arrived({ picture, image: this.canvas });
  }
}
