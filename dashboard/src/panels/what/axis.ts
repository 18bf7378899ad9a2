// When steps begin, along the edge of the graph: as much of it as can be read.

import { duration } from "../../words";
import { type Camera, type Frame, gaps, place } from "./camera";
import type { Graph } from "./graph";

/** Between two words, in pixels. */
const APART = { along: 76, down: 22 };
const INSET = 4;
/** Of the widest words. */
const HALF = 30;

export interface Word { text: string; x: number; y: number }

/** The first of the layers in view that are far enough from each other, by when their first node begins. */
export function axisWords({ layers, layerFromNs, dag }: Graph, camera: Camera, frame: Frame): Word[] {
  const every = Math.max(1, Math.ceil((frame.isFlipped ? APART.down : APART.along) / gaps(camera, frame).along));
  const words: Word[] = [];
  for (let layer = 0; layer < layers; layer += every) {
    const [x, y] = place(camera, frame, layer, 0);
    const [at, length] = frame.isFlipped ? [y, frame.height] : [x, frame.width];
    if (at < 0 || at > length) continue;
    const text = `+${duration(Math.max(0, (layerFromNs[layer] ?? 0) - dag.fromNs))}`;
    words.push(frame.isFlipped ? { text, x: INSET, y } : { text, x: Math.min(frame.width - HALF, Math.max(HALF, x)), y: INSET + 8 });
  }
  return words;
}
