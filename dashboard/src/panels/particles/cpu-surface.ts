// The canvas that the CPU draws to: an opaque picture of ground and history, and the particles over a copy of it.
import { drawHistory } from "./cpu-history";
import { CpuParticles } from "./cpu-particles";
import { drawGround, MARGIN_PX, type GroundShape } from "./ground";
import type { HistoryRaster } from "./history-raster";
import type { Moment } from "./moment";
import type { Selected } from "./sampling";

/** Pixels are what costs here: a picture of more is drawn at one for a CSS pixel, and enlarged. */
const MOST_PIXELS = 2_000_000;

/** The ground of the plot and its rim as pixels. */
export function groundImage(shape: GroundShape, rimPx: number, pixelRatio: number): ImageData {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(shape.widthPx * pixelRatio);
  canvas.height = Math.ceil(shape.heightPx * pixelRatio);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("This browser has no canvas.");
  context.scale(pixelRatio, pixelRatio);
  drawGround(context, shape);
  const left = Math.round((MARGIN_PX.left - rimPx) * pixelRatio);
  const top = Math.round((MARGIN_PX.top - rimPx) * pixelRatio);
  const width = shape.widthPx - MARGIN_PX.left - MARGIN_PX.right + 2 * rimPx;
  const height = shape.heightPx - MARGIN_PX.top - MARGIN_PX.bottom + 2 * rimPx;
  return context.getImageData(left, top, Math.round(width * pixelRatio), Math.round(height * pixelRatio));
}

export class CpuSurface {
  readonly canvas = document.createElement("canvas");
  readonly #context = this.canvas.getContext("2d", { alpha: false });
  readonly #particles = new CpuParticles();
  #ground: ImageData | null = null;
  #base: Uint8ClampedArray | null = null;
  #picture: ImageData | null = null;
  #baseOf = "";
  #groundVersion = 0;

  /** Pixels of the canvas for a CSS pixel: those of the screen, or one where that would be too many. */
  pixelRatio(wantedRatio: number, widthPx: number, heightPx: number): number {
    return wantedRatio * wantedRatio * widthPx * heightPx <= MOST_PIXELS ? wantedRatio : 1;
  }

  reground(shape: GroundShape, rimPx: number, pixelRatio: number): void {
    this.#ground = groundImage(shape, rimPx, pixelRatio);
    this.#groundVersion++;
    const { width, height } = this.#ground;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
  }

  /** Returns how many particles were to be seen. */
  draw(moment: Moment, groups: readonly Selected[], raster: HistoryRaster, leastOpacity: number): number {
    const ground = this.#ground;
    if (ground === null || this.#context === null) return 0;
    const baseOf = `${this.#groundVersion} ${raster.version} ${leastOpacity}`;
    if (this.#base === null || this.#picture === null || baseOf !== this.#baseOf) {
      this.#baseOf = baseOf;
      this.#picture = new ImageData(new Uint8ClampedArray(ground.data), ground.width, ground.height);
      const image = raster.image();
      if (image !== null) drawHistory(this.#picture, image, leastOpacity, moment.rimPx);
      this.#base = new Uint8ClampedArray(this.#picture.data);
    } else {
      this.#picture.data.set(this.#base);
    }
    const seen = this.#particles.draw(this.#picture, moment, groups);
    this.#context.putImageData(this.#picture, 0, 0);
    return seen;
  }
}
