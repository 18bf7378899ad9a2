// Shows the history without a GPU: blends it into an opaque picture.
import { opacityOf, type HistoryImage } from "./history-raster";

/** Grains with more calls than this are computed one by one instead of looked up. */
const TABLED_CALLS = 4096;

/**
 * Blends the history into the picture inside its rim; grains become as large as the plot needs. Only the given lines of
 * the plot are done, from the top, for those who cannot wait for all.
 */
export function drawHistory(
  picture: ImageData, image: HistoryImage, leastOpacity: number, rimPx: number, first = 0, end = picture.height - 2 * rimPx,
): void {
  const { columns, rows, density, densest, colours } = image;
  const opacities = Float32Array.from({ length: TABLED_CALLS }, (_, calls) => opacityOf(calls, densest, leastOpacity));
  const pixels = picture.data;
  const width = picture.width - 2 * rimPx;
  const height = picture.height - 2 * rimPx;
  const columnAt = Int32Array.from({ length: width }, (_, x) => Math.floor(((x + 0.5) * columns) / width));
  for (let y = first; y < Math.min(end, height); y++) {
    const row = rows - 1 - Math.floor(((y + 0.5) * rows) / height);
    let to = ((y + rimPx) * picture.width + rimPx) * 4;
    for (let x = 0; x < width; x++, to += 4) {
      const grain = row * columns + columnAt[x]!;
      const calls = density[grain]!;
      if (calls === 0) continue;
      const opacity = calls < TABLED_CALLS ? opacities[calls]! : opacityOf(calls, densest, leastOpacity);
      pixels[to] = pixels[to]! + (colours[grain * 4]! - pixels[to]!) * opacity;
      pixels[to + 1] = pixels[to + 1]! + (colours[grain * 4 + 1]! - pixels[to + 1]!) * opacity;
      pixels[to + 2] = pixels[to + 2]! + (colours[grain * 4 + 2]! - pixels[to + 2]!) * opacity;
    }
  }
}
