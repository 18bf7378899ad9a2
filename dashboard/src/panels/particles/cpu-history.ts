// Shows the history without a GPU: blends it into an opaque picture.
import { opacityOf, type HistoryRaster } from "./history-raster";

/** Grains with more calls than this look their opacity up by a step of their logarithm instead of exactly. */
const EXACT_CALLS = 4096;

/** Blends the history into the picture inside its rim; grains become as large as the plot needs. */
export function drawHistory(picture: ImageData, raster: HistoryRaster, leastOpacity: number, rimPx: number): void {
  const { shape, density, densest } = raster;
  if (shape === null || densest === 0) return;
  const opacities = Float32Array.from({ length: EXACT_CALLS }, (_, calls) => opacityOf(calls, densest, leastOpacity));
  const colours = raster.colourBytes();
  const pixels = picture.data;
  const width = picture.width - 2 * rimPx;
  const height = picture.height - 2 * rimPx;
  const columnAt = Int32Array.from({ length: width }, (_, x) => Math.floor(((x + 0.5) * shape.columns) / width));
  for (let y = 0; y < height; y++) {
    const row = shape.rows - 1 - Math.floor(((y + 0.5) * shape.rows) / height);
    let to = ((y + rimPx) * picture.width + rimPx) * 4;
    for (let x = 0; x < width; x++, to += 4) {
      const grain = row * shape.columns + columnAt[x]!;
      const calls = density[grain]!;
      if (calls === 0) continue;
      const opacity = calls < EXACT_CALLS ? opacities[calls]! : opacityOf(calls, densest, leastOpacity);
      pixels[to] = pixels[to]! + (colours[grain * 4]! - pixels[to]!) * opacity;
      pixels[to + 1] = pixels[to + 1]! + (colours[grain * 4 + 1]! - pixels[to + 1]!) * opacity;
      pixels[to + 2] = pixels[to + 2]! + (colours[grain * 4 + 2]! - pixels[to + 2]!) * opacity;
    }
  }
}
