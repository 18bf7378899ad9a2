// Points as shaded discs in an image, the nearest in front: for browsers without WebGL. Pure but for the image it fills.

import { type Lens, NEAR } from "./camera";
import { SELECTED, type Scene, UNSELECTED } from "./model";

export interface Flat { x: Float32Array; y: Float32Array; depth: Float32Array }
export interface Sheet { width: number; height: number; pixels: Uint32Array; depths: Float32Array }
export interface Tones { ground: readonly [number, number, number]; ring: readonly [number, number, number] }

/** Larger discs hide everything else. */
const RADIUS_MAX = 160;
const RIM = 0.72;
/** On smaller points a ring would hide the colour. */
const RINGED = 5;
/** How much of its colour a rank keeps that is not selected. */
const FADED = 0.22;

export function sheetOf(width: number, height: number): Sheet {
  return { width, height, pixels: new Uint32Array(width * height), depths: new Float32Array(width * height) };
}

/** `ratio`: pixels of the sheet for one of the lens. */
export function drawPoints(sheet: Sheet, scene: Scene, flat: Flat, lens: Lens, ratio: number, tones: Tones): void {
  sheet.pixels.fill(0);
  sheet.depths.fill(Infinity);
  for (let point = 0; point < scene.length; point++) {
    const depth = flat.depth[point] ?? 0;
    const radius = scene.radius[point] ?? 0;
    if (radius === 0 || !(depth > NEAR)) continue;
    const pixels = Math.min(RADIUS_MAX, Math.max(0.8, (radius * lens.focal) / depth)) * ratio;
    const keep = scene.mark[point] === UNSELECTED ? FADED : (scene.opacity[point] ?? 1);
    const tone = (channel: 0 | 1 | 2): number => mix(tones.ground[channel], scene.rgb[3 * point + channel] ?? 0, keep);
    disc(sheet, (flat.x[point] ?? 0) * ratio, (flat.y[point] ?? 0) * ratio, pixels, depth, [tone(0), tone(1), tone(2)], scene.mark[point] === SELECTED && pixels > RINGED * ratio ? tones.ring : null);
  }
}

function mix(from: number, to: number, part: number): number {
  return from + (to - from) * part;
}

function packed(red: number, green: number, blue: number): number {
  return (255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red);
}

function disc({ width, height, pixels, depths }: Sheet, x: number, y: number, radius: number, depth: number, [red, green, blue]: readonly [number, number, number], ring: readonly [number, number, number] | null): void {
  const bright = packed(red, green, blue);
  const rim = ring ? packed(...(ring as [number, number, number])) : packed(red * RIM, green * RIM, blue * RIM);
  const rimFrom = ring ? Math.max(0, radius - Math.max(1.2, radius * 0.28)) : radius * 0.8;
  const top = Math.max(0, Math.ceil(y - radius));
  const bottom = Math.min(height - 1, Math.floor(y + radius));
  for (let row = top; row <= bottom; row++) {
    const dy = row - y;
    const half = Math.sqrt(radius * radius - dy * dy);
    const left = Math.max(0, Math.ceil(x - half));
    const right = Math.min(width - 1, Math.floor(x + half));
    for (let column = left; column <= right; column++) {
      const at = row * width + column;
      if ((depths[at] ?? Infinity) <= depth) continue;
      depths[at] = depth;
      const dx = column - x;
      pixels[at] = dx * dx + dy * dy >= rimFrom * rimFrom && radius > 2 ? rim : bright;
    }
  }
}
