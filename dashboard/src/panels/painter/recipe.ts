// How pictures of something are made, by a worker as by the page where the browser has no canvases for workers; and what
// the two say to each other.

import type { Context } from "../canvas";

export interface Kinds {
  /** What pictures are of, as the page has it. */
  source: unknown;
  /** What is made of that, once for all its pictures. */
  scene: unknown;
  /** What the page wants to know of the scene. */
  facts: unknown;
  /** What is to be seen of the scene, and how. */
  picture: unknown;
  /** Figures of a picture once it is drawn. */
  summary: unknown;
  /** What it is drawn on. */
  sheets: readonly Context[];
}

export interface Recipe<Kind extends Kinds> {
  sheets: Kind["sheets"]["length"];
  scene(source: Kind["source"]): Kind["scene"];
  facts(scene: Kind["scene"]): Kind["facts"];
  /** In pixels of the device. */
  size(picture: Kind["picture"], ratio: number): { width: number; height: number };
  /** In small steps: whoever draws may stop in between. */
  paint(sheets: Kind["sheets"], scene: Kind["scene"], picture: Kind["picture"], ratio: number): Generator<void, Kind["summary"]>;
  /** The same as marks, where `paint` sets pixels; false where only pixels can show it. */
  marks?(sheets: Kind["sheets"], scene: Kind["scene"], picture: Kind["picture"], ratio: number): Generator<void, boolean>;
}

export interface Asked<Kind extends Kinds> { number: number; picture: Kind["picture"]; ratio: number }
export type ToPainter<Kind extends Kinds> = { kind: "source"; number: number; source: Kind["source"] } | ({ kind: "picture" } & Asked<Kind>);
export type FromPainter<Kind extends Kinds> =
  | { kind: "facts"; number: number; facts: Kind["facts"] }
  | { kind: "picture"; number: number; sheets: readonly ImageBitmap[]; summary: Kind["summary"] };

/** Canvases of the right size, all of them empty; null where there are no more to be had. */
export function contextsOf<Kind extends Kinds>(recipe: Recipe<Kind>, canvases: readonly (HTMLCanvasElement | OffscreenCanvas)[], { picture, ratio }: Asked<Kind>): Kind["sheets"] | null {
  const contexts = canvases.map((canvas) => Object.assign(canvas, recipe.size(picture, ratio)).getContext("2d") as Context | null);
  return contexts.every((context) => context !== null) ? contexts : null;
}
