// What other programs said, as marks in the timeline.

import type { Annotation } from "../../feed/annotations";
import type { Colours } from "../colours";
import { LEFT, RULER, type Scale, xOf } from "./scale";

/** Half the width of a flag, and how near the pointer has to be. */
const FLAG = 4;
const NEAR = 6;

/** Annotations under a place, the newest first. */
export function near(annotations: readonly Annotation[], scale: Scale, x: number): Annotation[] {
  return annotations
    .filter(({ timeNs, untilNs }) => x >= xOf(scale, timeNs) - NEAR && x <= xOf(scale, untilNs) + NEAR)
    .reverse();
}

/** Flags under the ruler; what lasts has a line to its end. */
export function paintAnnotations(context: CanvasRenderingContext2D, annotations: readonly Annotation[], scale: Scale, height: number, colour: Colours): void {
  const right = LEFT + scale.width;
  // Flags in one place are one.
  const drawn = new Set<string>();
  for (const { timeNs, untilNs, colour: own } of annotations) {
    const [from, to] = [xOf(scale, timeNs), xOf(scale, untilNs)];
    if (to < LEFT || from > right) continue;
    context.fillStyle = own ?? colour.accent;
    const x = Math.round(Math.max(LEFT, from));
    const key = `${x} ${Math.round(to)} ${String(own)}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    if (to - from > 2) context.fillRect(x, RULER - 2, Math.min(right, to) - x, 3);
    if (from < LEFT) continue;
    context.globalAlpha = 0.5;
    context.fillRect(x, RULER, 1, height - RULER);
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(x, RULER - 3);
    context.lineTo(x + FLAG, RULER + 1);
    context.lineTo(x, RULER + 5);
    context.lineTo(x - FLAG, RULER + 1);
    context.fill();
  }
}
