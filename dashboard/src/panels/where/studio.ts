// What the worker keeps and makes: places, ways, pictures of links, cells of the matrix. It posts no messages, and
// tests call it directly.

import type { Pairs, Regions } from "../../feed/regions";
import { bundle } from "./bundle";
import type { Matrix } from "./camera";
import { layout, type Placement } from "./layout";
import { emptyLinks, linksOf, rankLatency } from "./links";
import { aggregate, type CellWindow, extent, type Measure, paintCells } from "./matrix";
import { type Look, paintLinks, type Scene } from "./paint-links";

/** Grids with more cells than this are not kept whole. */
const CELLS_MAX = 1 << 22;

export interface Arranged extends Scene { rankLatency: Float64Array }

export interface PaintAsk { matrix: Matrix; width: number; height: number; ratio: number; look: Look }
/** `order` tells orders apart, with their places. */
export interface CellsAsk { ranks: number; places: Uint32Array; order: number; measure: Measure; cells: CellWindow; theme: "dark" | "light" }
export interface Cells { pixels: Uint8ClampedArray<ArrayBuffer>; least: number; most: number; cells: CellWindow; measure: Measure }

export class Studio {
  private regions: Regions | null = null;
  private pairs: Pairs | null = null;
  private scene: Arranged | null = null;
  private grid: { key: string; values: Float64Array } | null = null;

  /** `before`: where all was on this page; with `anew`, nothing stays where it was. */
  arrange(regions: Regions, pairs: Pairs | null, before: Placement | null, anew = false): Arranged {
    const links = pairs ? linksOf(pairs) : emptyLinks();
    this.regions = regions;
    this.pairs = pairs;
    this.grid = null;
    const placement = layout(regions.regions, links, anew ? null : (this.scene?.placement ?? before));
    return this.take({ ...regions, links, placement, curves: bundle(links, placement), rankLatency: rankLatency(links, placement.x.length) });
  }

  /** Ranks were taken elsewhere by hand; a region goes with its ranks. */
  move(ranks: ArrayLike<number>, dx: number, dy: number, region: number | null): Arranged | null {
    const scene = this.scene;
    if (!scene) return null;
    const placement = { ...scene.placement, x: scene.placement.x.slice(), y: scene.placement.y.slice() };
    for (let at = 0; at < ranks.length; at++) {
      const rank = ranks[at] ?? 0;
      placement.x[rank] = (placement.x[rank] ?? 0) + dx;
      placement.y[rank] = (placement.y[rank] ?? 0) + dy;
    }
    if (region !== null) placement.discs = placement.discs.map((disc) => (disc.id === region ? { ...disc, x: disc.x + dx, y: disc.y + dy } : disc));
    return this.take({ ...scene, placement, curves: bundle(scene.links, placement) });
  }

  private take(scene: Arranged): Arranged {
    this.scene = scene;
    return scene;
  }

  paint(context: OffscreenCanvasRenderingContext2D, ask: PaintAsk): void {
    context.setTransform(ask.ratio, 0, 0, ask.ratio, 0, 0);
    context.clearRect(0, 0, ask.width, ask.height);
    if (this.scene) paintLinks(context, this.scene, ask.matrix, ask, ask.look);
  }

  /** The colours of cells, on a scale that holds for the whole matrix as long as that is small enough. */
  cells({ ranks, places, order, measure, cells, theme }: CellsAsk): Cells | null {
    if (!this.pairs || !this.regions) return null;
    const side = Math.ceil(ranks / cells.ranks);
    if (side * side > CELLS_MAX) {
      const values = aggregate(this.pairs, places, measure, cells);
      const scale = extent(values);
      return { pixels: paintCells(values, measure, scale, theme), ...scale, cells, measure };
    }
    const key = `${measure}/${cells.ranks}/${ranks}/${order}`;
    if (this.grid?.key !== key) {
      const whole = { ranks: cells.ranks, column: 0, row: 0, columns: side, rows: side };
      this.grid = { key, values: aggregate(this.pairs, places, measure, whole) };
    }
    const scale = extent(this.grid.values);
    const values = new Float64Array(cells.columns * cells.rows).fill(-1);
    for (let row = 0; row < cells.rows; row++) {
      const from = (cells.row + row) * side + cells.column;
      values.set(this.grid.values.subarray(from, from + cells.columns), row * cells.columns);
    }
    return { pixels: paintCells(values, measure, scale, theme), ...scale, cells, measure };
  }
}
