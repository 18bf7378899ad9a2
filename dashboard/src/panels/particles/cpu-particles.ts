// Particles drawn by the CPU into an opaque picture: for browsers without a usable GPU, for exported pictures, for tests.
import { eachSelected, place, RUNNING_SIZE, type Moment, type Placed } from "./moment";
import type { Selected } from "./sampling";

/** Steps of a pixel that particles can stand at; without them slow ones would jump. */
const PHASES = 4;

/** What one particle adds to the pixels around it. */
interface Stamp {
  /** How far each pixel is from the particle's own pixel, in a picture of the stamp's width. */
  offset: Int32Array;
  /** 0..256 of the particle's colour. */
  cover: Int32Array;
  /** 0..256 of the way from the colour to the ink. */
  ink: Int32Array;
}

const clamp01 = (value: number): number => Math.min(1, Math.max(0, value));

/** Red, green and blue as a pixel has them in memory on a little endian machine, which all browsers run on. */
function pixelOf(red: number, green: number, blue: number): number {
  return (blue << 16) | (green << 8) | red;
}

/** Goes `part` of 256 of the way from one pixel to the other; the result is opaque. */
function blend(from: number, to: number, part: number): number {
  const rest = 256 - part;
  const redBlue = ((Math.imul(from & 0xff00ff, rest) + Math.imul(to & 0xff00ff, part)) >>> 8) & 0xff00ff;
  const green = ((Math.imul(from & 0xff00, rest) + Math.imul(to & 0xff00, part)) >>> 8) & 0xff00;
  return 0xff000000 | redBlue | green;
}

function stamp(sizePx: number, running: boolean, phaseX: number, phaseY: number, width: number): Stamp {
  const offset: number[] = [];
  const cover: number[] = [];
  const ink: number[] = [];
  const coreRadius = (sizePx * (running ? 1.25 : 1)) / 2;
  const radius = running ? (sizePx * RUNNING_SIZE) / 2 : coreRadius;
  const reach = reachPx(sizePx);
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const away = Math.hypot(dx + 0.5 - phaseX, dy + 0.5 - phaseY);
      const core = clamp01(coreRadius + 0.5 - away);
      const halo = running ? 0.42 * clamp01((radius - away) / Math.max(0.5, radius - coreRadius)) : 0;
      const alpha = core + (1 - core) * halo;
      if (alpha < 1 / 64) continue;
      offset.push(dy * width + dx);
      cover.push(Math.round(alpha * 256));
      ink.push(running ? Math.round(0.85 * clamp01(1.25 * (1 - away / coreRadius)) * 256) : 0);
    }
  }
  return { offset: Int32Array.from(offset), cover: Int32Array.from(cover), ink: Int32Array.from(ink) };
}

/** How far from its own pixel a particle can reach. */
function reachPx(sizePx: number): number {
  return Math.ceil((sizePx * RUNNING_SIZE) / 2 + 1);
}

export class CpuParticles {
  #stamps: Stamp[] = [];
  #stampsOf = "";

  /** Draws over the picture, rim included, and returns how many particles were to be seen. */
  draw(picture: ImageData, moment: Moment, groups: readonly Selected[]): number {
    const { width, height } = picture;
    this.#prepare(moment.sizePx, width);
    // Signed: numbers of 32 bits without a sign are floating point to the engine, and twice as slow.
    const pixels = new Int32Array(picture.data.buffer);
    const stamps = this.#stamps;
    const colours = new Int32Array(moment.colours.buffer, moment.colours.byteOffset, moment.colours.length >> 2);
    const ink = pixelOf(...(moment.ink.map((part) => Math.round(part * 255)) as [number, number, number]));
    const reach = reachPx(moment.sizePx);
    const bottom = moment.rimPx + moment.heightPx;
    const placed: Placed = { xPx: 0, yPx: 0, strength: 0, running: false, function: 0 };
    let seen = 0;
    for (const selected of groups) {
      eachSelected(selected, (position) => {
        if (!place(moment, selected, position, placed)) return;
        seen++;
        const x = moment.rimPx + placed.xPx;
        const y = bottom - placed.yPx;
        const left = Math.floor(x);
        const top = Math.floor(y);
        const phase = Math.floor((y - top) * PHASES) * PHASES + Math.floor((x - left) * PHASES);
        const shape = stamps[placed.running ? PHASES * PHASES + phase : phase]!;
        const colour = colours[placed.function]!;
        const strength = (placed.strength * 256) | 0;
        const own = top * width + left;
        // Large particles may reach over the edge of the picture; all others need not be asked pixel by pixel.
        const inside = left >= reach && top >= reach && left < width - reach && top < height - reach;
        if (inside && !placed.running) stampDisc(pixels, own, shape, colour, strength);
        else stampAny(pixels, own, shape, colour, strength, placed.running ? ink : colour, width, reach);
      });
    }
    return seen;
  }

  #prepare(sizePx: number, width: number): void {
    const stampsOf = `${sizePx} ${width}`;
    if (stampsOf === this.#stampsOf) return;
    this.#stampsOf = stampsOf;
    this.#stamps = [];
    for (const running of [false, true]) {
      for (let phase = 0; phase < PHASES * PHASES; phase++) {
        const phaseX = ((phase % PHASES) + 0.5) / PHASES;
        const phaseY = (Math.floor(phase / PHASES) + 0.5) / PHASES;
        this.#stamps.push(stamp(sizePx, running, phaseX, phaseY, width));
      }
    }
  }
}

/** Nearly all particles go through here, and so nearly all of the time. */
function stampDisc(pixels: Int32Array, own: number, { offset, cover }: Stamp, colour: number, strength: number): void {
  const redBlue = colour & 0xff00ff;
  const green = colour & 0xff00;
  for (let at = 0; at < offset.length; at++) {
    const to = own + offset[at]!;
    const from = pixels[to]!;
    const part = (cover[at]! * strength) >> 8;
    const rest = 256 - part;
    pixels[to] =
      0xff000000 |
      (((Math.imul(from & 0xff00ff, rest) + Math.imul(redBlue, part)) >>> 8) & 0xff00ff) |
      (((Math.imul(from & 0xff00, rest) + Math.imul(green, part)) >>> 8) & 0xff00);
  }
}

/** The same for particles that run, or that reach over the edge of the picture. */
function stampAny(
  pixels: Int32Array, own: number, { offset, cover, ink: inks }: Stamp,
  colour: number, strength: number, ink: number, width: number, reach: number,
): void {
  const column = own % width;
  for (let at = 0; at < offset.length; at++) {
    const to = own + offset[at]!;
    // A pixel of the line above or below is far from the column.
    if (to < 0 || to >= pixels.length || Math.abs((to % width) - column) > reach) continue;
    pixels[to] = blend(pixels[to]!, blend(colour, ink, inks[at]!), (cover[at]! * strength) >> 8);
  }
}
