// Draws pictures of the rows beside the page's thread, and puts calls in order for both. The newest request counts: an
// older one that is still being drawn is given up.

import type { MessageColumns } from "./arrows";
import { paint, type Picture, sizeOf, type Told, Traffic } from "./picture";
import type { CallColumns, Tracks } from "./tracks";

export type ToPainter =
  | { kind: "traffic"; number: number; calls: CallColumns; messages: MessageColumns; allFromNs: number; share: number }
  | { kind: "picture"; number: number; picture: Picture; ratio: number };
export type FromPainter =
  | { kind: "tracks"; number: number; tracks: Tracks }
  | { kind: "picture"; number: number; bars: ImageBitmap; arrows: ImageBitmap; told: Told };

/** How long it draws before it looks for something newer. */
const SLICE_MS = 12;

const port = self as unknown as { postMessage(message: FromPainter, transfer: Transferable[]): void; onmessage: ((event: MessageEvent<ToPainter>) => void) | null };
const [bars, arrows] = [new OffscreenCanvas(1, 1), new OffscreenCanvas(1, 1)];
let traffic: Traffic | null = null;
let newest = 0;

port.onmessage = ({ data }) => {
  if (data.kind === "traffic") {
    traffic = new Traffic(data.calls, data.messages, data.allFromNs, data.share);
    newest++;
    port.postMessage({ kind: "tracks", number: data.number, tracks: traffic.tracks }, []);
  } else if (traffic) {
    void draw(traffic, data.number, data.picture, data.ratio);
  }
};

async function draw(mine: Traffic, number: number, picture: Picture, ratio: number): Promise<void> {
  const turn = ++newest;
  const size = sizeOf(picture, ratio);
  for (const canvas of [bars, arrows]) Object.assign(canvas, size);
  const [barContext, arrowContext] = [bars.getContext("2d"), arrows.getContext("2d")];
  if (!barContext || !arrowContext) return;
  let sinceMs = performance.now();
  const steps = paint(barContext, arrowContext, picture, mine, ratio);
  for (;;) {
    const step = steps.next();
    if (step.done) {
      const bitmaps = { bars: bars.transferToImageBitmap(), arrows: arrows.transferToImageBitmap() };
      port.postMessage({ kind: "picture", number, ...bitmaps, told: step.value }, [bitmaps.bars, bitmaps.arrows]);
      return;
    }
    if (performance.now() - sinceMs < SLICE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (turn !== newest) return;
    sinceMs = performance.now();
  }
}
