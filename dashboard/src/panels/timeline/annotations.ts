// What other programs said, as marks in the timeline.

import type { Annotation } from "../../feed/annotations";
import { theme } from "../../state/theme";
import { authorColour } from "../notes/lines";
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
export function paintAnnotations(context: CanvasRenderingContext2D, annotations: readonly Annotation[], scale: Scale, height: number): void {
  const right = LEFT + scale.width;
  // Flags in one place are one.
  const drawn = new Set<string>();
  for (const { timeNs, untilNs, colour: own, author } of annotations) {
    const [from, to] = [xOf(scale, timeNs), xOf(scale, untilNs)];
    if (to < LEFT || from > right) continue;
    const x = Math.round(Math.max(LEFT, from));
    const key = `${x} ${Math.round(to)} ${String(own)} ${author}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    context.fillStyle = own ?? authorColour(author, theme.peek());
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
