// What a picture on a canvas was made of, for who wants it as marks instead of pixels: where a view shows what a worker
// drew, the view can draw the same again.

import type { Context } from "../canvas";

export interface Marks {
  /** In the units in which it draws. */
  width: number;
  height: number;
  /** Draws it again, as marks. Returns false where there are none: what is drawn is pixels. */
  paint(context: Context): boolean;
  /** The same as pixels, `ratio` for each unit. */
  raster?(ratio: number): CanvasImageSource | null;
}

const known = new WeakMap<object, Marks>();

export function setMarks(image: CanvasImageSource, marks: Marks): void {
  known.set(image, marks);
}

export function marksOf(image: CanvasImageSource): Marks | undefined {
  return known.get(image);
}
