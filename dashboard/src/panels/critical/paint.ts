// The critical path as one row: each pixel has the colour of the kind that took most of it; ranks are named where there is room.

import { type CriticalPath, endNs, PATH_KINDS, type PathKind } from "../../feed/critical";
import { PART_TONES } from "../../palette/causes";
import { type Scale, xOf } from "../timeline/scale";

export const pathColour = (kind: PathKind, mode: "dark" | "light"): string =>
  ({ compute: PART_TONES.compute, call: PART_TONES.other, transfer: PART_TONES.base, collective: PART_TONES.operation })[kind][mode];

export interface PathRun { rank: number; fromNs: number; toNs: number }

/** Consecutive steps on one rank. */
export function runsOf(path: CriticalPath): PathRun[] {
  const runs: PathRun[] = [];
  for (let step = 0; step < path.length; step++) {
    const [rank, fromNs, toNs] = [path.rank[step] ?? 0, path.startNs[step] ?? 0, endNs(path, step)];
    const last = runs.at(-1);
    if (last?.rank === rank) last.toNs = toNs;
    else runs.push({ rank, fromNs, toNs });
  }
  return runs;
}

/** By pixel from the left edge of the plot, the number of the kind that took most of it; -1 where the path is not. */
export function kindsByPixel(path: CriticalPath, { span, width }: Scale, ratio: number): Int8Array {
  const pixels = Math.max(1, Math.round(width * ratio));
  const sums = new Float64Array(pixels * PATH_KINDS.length);
  const perPixel = (span[1] - span[0]) / pixels;
  for (let step = 0; step < path.length; step++) {
    const [from, to] = [((path.startNs[step] ?? 0) - span[0]) / perPixel, (endNs(path, step) - span[0]) / perPixel];
    for (let pixel = Math.max(0, Math.floor(from)); pixel < Math.min(pixels, to); pixel++) {
      const at = pixel * PATH_KINDS.length + (path.kind[step] ?? 0);
      sums[at] = (sums[at] ?? 0) + Math.min(to, pixel + 1) - Math.max(from, pixel);
    }
  }
  return Int8Array.from({ length: pixels }, (_, pixel) => {
    let [most, kind] = [0, -1];
    for (let each = 0; each < PATH_KINDS.length; each++) {
      const sum = sums[pixel * PATH_KINDS.length + each] ?? 0;
      if (sum > most) [most, kind] = [sum, each];
    }
    return kind;
  });
}

export interface PathLook { mode: "dark" | "light"; text: string; ground: string; accent: string; font: string }

const NAME_PIXELS = 26;
const WORD_PIXELS = 60;

export function paintPath(context: CanvasRenderingContext2D, path: CriticalPath, runs: readonly PathRun[], scale: Scale, top: number, height: number, ratio: number, look: PathLook): void {
  const kinds = kindsByPixel(path, scale, ratio);
  let from = 0;
  for (let pixel = 1; pixel <= kinds.length; pixel++) {
    if (pixel < kinds.length && kinds[pixel] === kinds[from]) continue;
    const kind = PATH_KINDS[kinds[from] ?? -1];
    if (kind) {
      context.fillStyle = pathColour(kind, look.mode);
      context.fillRect(xOf(scale, scale.span[0]) + from / ratio, top, (pixel - from) / ratio, height);
    }
    from = pixel;
  }
  context.font = `10px ${look.font}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { rank, fromNs, toNs } of runs) {
    const [left, right] = [Math.max(xOf(scale, scale.span[0]), xOf(scale, fromNs)), Math.min(xOf(scale, scale.span[1]), xOf(scale, toNs))];
    if (right - left < NAME_PIXELS) continue;
    const name = right - left < WORD_PIXELS ? String(rank) : `rank ${rank}`;
    const width = context.measureText(name).width + 6;
    context.fillStyle = look.ground;
    context.globalAlpha = 0.8;
    context.fillRect((left + right - width) / 2, top + 2, width, height - 4);
    context.globalAlpha = 1;
    context.fillStyle = look.text;
    context.fillText(name, (left + right) / 2, top + height / 2 + 0.5);
  }
}

/** A frame around a step. */
export function paintStep(context: CanvasRenderingContext2D, path: CriticalPath, step: number, scale: Scale, top: number, height: number, colour: string): void {
  const [left, right] = [Math.max(xOf(scale, scale.span[0]), xOf(scale, path.startNs[step] ?? 0)), Math.min(xOf(scale, scale.span[1]), xOf(scale, endNs(path, step)))];
  if (right < left) return;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.strokeRect(left - 0.5, top + 0.5, Math.max(2, right - left) + 1, height - 1);
}
