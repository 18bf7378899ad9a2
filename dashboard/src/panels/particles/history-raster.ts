// The history as a picture: how many calls fell on each grain of the plot, and their mean colour. Fed cell by cell: it
// can be made in slices of a few milliseconds; the same cells give the same picture however they arrived.
import type { History } from "../../feed/calls";
import { decodeChannel, encodeChannel } from "../../palette/colour";
import { HistoryCells } from "./history-cells";
import { SLOT_MARGIN } from "./layout";
import { heightOf, type Scale } from "./scale";

/** The picture as both renderers and exports take it, bottom row first. */
export interface HistoryImage {
  columns: number;
  rows: number;
  density: Float64Array;
  densest: number;
  /** Four bytes a grain, as they are shown. */
  colours: Uint8Array;
}

export interface HistoryShape {
  /** Grains across and up. */
  columns: number;
  rows: number;
  scale: Scale;
  ranks: number;
  /** As in a moment. */
  colours: Uint8Array;
  ranksShown: Uint8Array | null;
}

/** Cells between two looks at the clock. */
const CELLS_A_LOOK = 256;

/** O_min + (1 - O_min) ln D / ln D_max; full where no grain has more than one call. */
export function opacityOf(calls: number, densest: number, leastOpacity: number): number {
  if (calls <= 0) return 0;
  if (densest <= 1) return 1;
  return Math.min(1, leastOpacity + ((1 - leastOpacity) * Math.log(calls)) / Math.log(densest));
}

/**
 * Where the call number `visit` of a cell goes: a fixed disorder that meets each place once before it meets
 * any again. Numbers are mixed within the next power of two, and those outside are mixed once more.
 */
export function placeOf(visit: number, places: number, seed: number): number {
  const bits = 32 - Math.clz32(places - 1);
  const mask = bits === 0 ? 0 : 2 ** bits - 1;
  const half = (bits + 1) >> 1;
  let place = visit % places;
  do {
    for (let round = 0; round < 3; round++) {
      place = (Math.imul(place, 0x2c1b3c6d) + (seed >>> (round * 7))) & mask;
      place ^= place >>> half;
    }
  } while (place >= places);
  return place;
}

/**
 * The first column and the one behind the last that ranks [first, end) cover. Margins of slots are kept free where there
 * is room: as many columns at all ranks, or one would stand out.
 */
export function columnsOf(first: number, end: number, ranks: number, columns: number): [number, number] {
  const margin = Math.floor((SLOT_MARGIN / ranks) * columns);
  const from = Math.floor((first / ranks) * columns) + margin;
  const to = Math.floor((Math.min(end, ranks) / ranks) * columns) - margin;
  const left = Math.min(columns - 1, Math.max(0, from));
  return [left, Math.max(left + 1, Math.min(columns, to))];
}

/** The first grain row (from the bottom) and the one behind the last that a bin of durations covers. */
export function rowsOf(bin: number, binsPerOctave: number, scale: Scale, rows: number): [number, number] {
  const from = Math.floor(heightOf(2 ** (bin / binsPerOctave) - 1, scale) * rows);
  const to = Math.floor(heightOf(2 ** ((bin + 1) / binsPerOctave) - 1, scale) * rows);
  const bottom = Math.min(rows - 1, from);
  return [bottom, Math.max(bottom + 1, Math.min(rows, to))];
}

export class HistoryRaster {
  /** Calls on each grain, bottom row first. */
  density = new Float64Array(0);
  /** Their mean colour in linear light, three numbers a grain. */
  meanColour = new Float32Array(0);
  densest = 0;
  /** Changes whenever the picture does. */
  version = 0;
  readonly cells: HistoryCells;
  #shape: HistoryShape | null = null;
  #linear = new Float32Array(0);
  #drawnCells = 0;
  #answers: { history: History; next: number }[] = [];

  constructor(cells = new HistoryCells()) {
    this.cells = cells;
  }

  /** Whether all that was handed in is in the picture. */
  get complete(): boolean {
    return this.#answers.length === 0 && this.#drawnCells === this.cells.length;
  }

  clear(): void {
    this.cells.clear();
    this.#answers = [];
    this.#restart();
  }

  /** Another size, scale or choice: the cells are put on the new grains. */
  configure(shape: HistoryShape): void {
    this.#shape = shape;
    this.#linear = Float32Array.from(shape.colours, (channel) => decodeChannel(channel / 255));
    this.#restart();
  }

  /** Takes an answer; false when its rows do not fit those that are there. */
  add(history: History): boolean {
    if (!this.cells.takes(history)) return false;
    this.#answers.push({ history, next: 0 });
    return true;
  }

  /** Works until all is done or the time is up. Returns whether the picture changed. */
  work(untilMs: number, now: () => number): boolean {
    if (this.complete || this.#shape === null) return false;
    do {
      if (!this.#slice(this.#shape)) break;
    } while (now() < untilMs);
    this.version++;
    return true;
  }

  #restart(): void {
    const grains = this.#shape === null ? 0 : this.#shape.columns * this.#shape.rows;
    if (this.density.length === grains) {
      this.density.fill(0);
      this.meanColour.fill(0);
    } else {
      this.density = new Float64Array(grains);
      this.meanColour = new Float32Array(grains * 3);
    }
    this.densest = 0;
    this.#drawnCells = 0;
    this.version++;
  }

  #slice(shape: HistoryShape): boolean {
    const { cells } = this;
    if (this.#drawnCells < cells.length) {
      const end = Math.min(cells.length, this.#drawnCells + CELLS_A_LOOK);
      for (; this.#drawnCells < end; this.#drawnCells++) {
        this.#splat(shape, this.#drawnCells, 0, cells.count[this.#drawnCells]!);
      }
      return true;
    }
    const answer = this.#answers[0];
    if (answer === undefined) return false;
    const { history } = answer;
    cells.expect(history);
    const end = Math.min(history.length, answer.next + CELLS_A_LOOK);
    while (answer.next < end) {
      const at = answer.next++;
      const count = history.count[at]!;
      const cell = cells.add(history.row[at]!, history.function[at]!, history.bin[at]!, count);
      if (cell < 0) {
        // Rows became wider: all cells are new, and are put on the grains again.
        this.#restart();
        break;
      }
      this.#splat(shape, cell, cells.count[cell]! - count, count);
      this.#drawnCells = cells.length;
    }
    if (answer.next >= history.length) this.#answers.shift();
    return true;
  }

  /** Spreads the calls number `before` to `before + count` of a cell over its grains. */
  #splat(shape: HistoryShape, cell: number, before: number, count: number): void {
    const { cells, density, meanColour } = this;
    const functionId = cells.function[cell]!;
    const rank = cells.row[cell]!;
    if (!(shape.colours[functionId * 4 + 3]! > 0) || !rowShown(shape, rank, cells.ranksPerRow)) return;
    const [left, right] = columnsOf(rank, rank + cells.ranksPerRow, shape.ranks, shape.columns);
    const [bottom, top] = rowsOf(cells.bin[cell]!, cells.binsPerOctave, shape.scale, shape.rows);
    const width = right - left;
    const places = width * (top - bottom);
    const red = this.#linear[functionId * 4]!;
    const green = this.#linear[functionId * 4 + 1]!;
    const blue = this.#linear[functionId * 4 + 2]!;
    const put = (place: number, calls: number): void => {
      const grain = (bottom + Math.floor(place / width)) * shape.columns + left + (place % width);
      const now = density[grain]! + calls;
      const part = calls / now;
      density[grain] = now;
      if (now > this.densest) this.densest = now;
      meanColour[grain * 3] = meanColour[grain * 3]! + (red - meanColour[grain * 3]!) * part;
      meanColour[grain * 3 + 1] = meanColour[grain * 3 + 1]! + (green - meanColour[grain * 3 + 1]!) * part;
      meanColour[grain * 3 + 2] = meanColour[grain * 3 + 2]! + (blue - meanColour[grain * 3 + 2]!) * part;
    };
    const everywhere = Math.floor(count / places);
    if (everywhere > 0) for (let place = 0; place < places; place++) put(place, everywhere);
    const rest = count % places;
    if (rest === 0) return;
    const seed = (Math.imul(rank + 1, 0x9e3779b1) ^ Math.imul(cells.bin[cell]! + functionId * 977, 0x85ebca6b)) & 0xffffff;
    for (let call = 0; call < rest; call++) put(placeOf(before + call, places, seed), 1);
  }

  /** The picture as it is now; null while there is nothing on it. The density goes on changing with the raster. */
  image(): HistoryImage | null {
    const { density, densest, meanColour } = this;
    if (this.#shape === null || densest === 0) return null;
    const colours = new Uint8Array(density.length * 4);
    for (let grain = 0; grain < density.length; grain++) {
      if (density[grain] === 0) continue;
      for (let part = 0; part < 3; part++) {
        colours[grain * 4 + part] = ENCODED[(meanColour[grain * 3 + part]! * 4095 + 0.5) | 0]!;
      }
      colours[grain * 4 + 3] = 255;
    }
    return { columns: this.#shape.columns, rows: this.#shape.rows, density, densest, colours };
  }
}

const ENCODED = Uint8Array.from({ length: 4096 }, (_, at) => Math.round(encodeChannel(at / 4095) * 255));

function rowShown(shape: HistoryShape, first: number, ranksPerRow: number): boolean {
  if (shape.ranksShown === null) return true;
  for (let rank = first; rank < first + ranksPerRow; rank++) if (shape.ranksShown[rank]) return true;
  return false;
}
