// Canvases with crisp device pixels.

import type { Recording } from "./share/svg-context";

/** On the page or beside its thread. */
export type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Who takes note of what is drawn, while a picture is made for elsewhere. */
let recording: Recording | null = null;

export function recordWith(next: Recording | null): void {
  recording = next;
}

/** Sizes a canvas to its box and clears it; returns its context in CSS pixels, and its size. */
export function prepare(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number; ratio: number } | null {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const context = canvas.getContext("2d");
  if (!context || width === 0 || height === 0) return null;
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  return { context: recording ? recording.context(canvas, context) : context, width, height, ratio };
}

/** The edge of the device pixel nearest to a place. */
export function snap(value: number, ratio: number): number {
  return Math.round(value * ratio) / ratio;
}
