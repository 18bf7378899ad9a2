// Where pictures of the rows come from: a worker beside the page's thread, or the page's own where the browser has no
// canvases for workers. One request at a time: while one is drawn only the newest of those that follow waits.

import type { Calls } from "../../feed/calls";
import type { MessageRows } from "../../feed/messages";
import type { MessageColumns } from "./arrows";
import type { FromPainter, ToPainter } from "./painter-worker";
import { paint, type Picture, sizeOf, type Told, Traffic } from "./picture";
import type { CallColumns, Tracks } from "./tracks";

export interface Painted { picture: Picture; told: Told; bars: CanvasImageSource; arrows: CanvasImageSource }

interface Asked { number: number; picture: Picture; ratio: number }

const NO_MESSAGES: MessageColumns = {
  length: 0, src: new Uint32Array(0), dst: new Uint32Array(0), sendNs: new Float64Array(0), recvNs: new Float64Array(0), latency: new Float64Array(0), lateSenderNs: new Float64Array(0),
};

/** What the worker needs; the rest stays on the page. */
function callColumns({ length, rank, thread, function: called, startNs, durationNs }: Calls): CallColumns {
  return { length, rank, thread, function: called, startNs, durationNs };
}

function messageColumns({ length, src, dst, sendNs, recvNs, latency, lateSenderNs }: MessageRows): MessageColumns {
  return { length, src, dst, sendNs, recvNs, latency, lateSenderNs };
}

export class Painter {
  private readonly worker: Worker | null = null;
  private here: Traffic | null = null;
  private drawing: Asked | null = null;
  private next: Asked | null = null;
  private number = 0;
  /** The newest traffic that was shown; 0: none. */
  private shown = 0;
  private bitmaps: ImageBitmap[] = [];

  constructor(private readonly arrived: (painted: Painted) => void, private readonly ordered: (tracks: Tracks) => void) {
    if (typeof OffscreenCanvas === "undefined" || typeof Worker === "undefined") return;
    this.worker = new Worker(new URL("./painter-worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<FromPainter>) => this.take(data);
  }

  show(calls: Calls, messages: MessageRows | null): void {
    this.drawing = this.next = null;
    const number = (this.shown = ++this.number);
    const columns = [callColumns(calls), messages ? messageColumns(messages) : NO_MESSAGES] as const;
    if (this.worker) this.post({ kind: "traffic", number, calls: columns[0], messages: columns[1], allFromNs: calls.allFromNs, share: calls.share });
    else {
      this.here = new Traffic(...columns, calls.allFromNs, calls.share);
      this.ordered(this.here.tracks);
    }
  }

  request(picture: Picture, ratio: number): void {
    if (this.shown === 0) return;
    const asked = { number: ++this.number, picture, ratio };
    if (this.here) this.drawHere(asked, this.here);
    else if (this.drawing) this.next = asked;
    else this.send(asked);
  }

  dispose(): void {
    this.worker?.terminate();
    for (const bitmap of this.bitmaps) bitmap.close();
  }

  private send(asked: Asked): void {
    this.drawing = asked;
    this.next = null;
    this.post({ kind: "picture", ...asked });
  }

  private post(message: ToPainter): void {
    this.worker?.postMessage(message);
  }

  private take(message: FromPainter): void {
    if (message.kind === "tracks") {
      if (message.number === this.shown) this.ordered(message.tracks);
      return;
    }
    const { drawing, next } = this;
    const { bars, arrows, told } = message;
    // Of calls that are not shown any more.
    if (drawing?.number !== message.number) {
      bars.close();
      arrows.close();
      return;
    }
    for (const bitmap of this.bitmaps) bitmap.close();
    this.bitmaps = [bars, arrows];
    this.drawing = null;
    this.arrived({ picture: drawing.picture, told, bars, arrows });
    if (next) this.send(next);
  }

  private drawHere({ picture, ratio }: Asked, traffic: Traffic): void {
    const canvases = [document.createElement("canvas"), document.createElement("canvas")] as const;
    for (const canvas of canvases) Object.assign(canvas, sizeOf(picture, ratio));
    const [bars, arrows] = [canvases[0].getContext("2d"), canvases[1].getContext("2d")];
    if (!bars || !arrows) return;
    const steps = paint(bars, arrows, picture, traffic, ratio);
    let step = steps.next();
    while (!step.done) step = steps.next();
    this.arrived({ picture, told: step.value, bars: canvases[0], arrows: canvases[1] });
  }
}
