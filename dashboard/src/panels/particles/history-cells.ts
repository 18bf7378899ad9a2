// All calls of the history, counted: one cell for a row of ranks, a function and a bin of durations. Bounded.
import type { History } from "../../feed/calls";

/** Beyond this, rows are put together two by two: fewer places, no lost calls. */
export const MOST_CELLS = 1 << 19;
const EMPTY = 0;

/** Ranks, functions and bins all fit their part of a whole number below 2^53. */
function keyOf(row: number, functionId: number, bin: number): number {
  return (row * 65536 + functionId) * 2048 + bin + 1;
}

export class HistoryCells {
  /** Ranks that share a cell's row; 0 while there are no cells. */
  ranksPerRow = 0;
  binsPerOctave = 16;
  length = 0;
  row = new Uint32Array(1024);
  function = new Uint32Array(1024);
  bin = new Uint32Array(1024);
  count = new Float64Array(1024);
  #keys = new Float64Array(4096);
  #cellOfSlot = new Uint32Array(4096);

  constructor(readonly mostCells = MOST_CELLS) {}

  clear(): void {
    this.ranksPerRow = 0;
    this.length = 0;
    this.#keys.fill(EMPTY);
  }

  /** Whether an answer's rows can be counted into these (wider rows cannot be split again). */
  takes(history: History): boolean {
    return this.length === 0 || (history.ranksPerRow <= this.ranksPerRow && history.binsPerOctave === this.binsPerOctave);
  }

  /** Prepares for an answer that is then added cell by cell. */
  expect(history: History): void {
    if (this.length > 0) return;
    this.ranksPerRow = Math.max(1, history.ranksPerRow);
    this.binsPerOctave = history.binsPerOctave;
  }

  /** Counts calls into a cell, and returns which. The rows may have become wider meanwhile: then -1. */
  add(row: number, functionId: number, bin: number, count: number): number {
    const cell = this.#find(row - (row % this.ranksPerRow), functionId, bin);
    this.count[cell]! += count;
    if (this.length <= this.mostCells) return cell;
    this.#widen();
    return -1;
  }

  #find(row: number, functionId: number, bin: number): number {
    const key = keyOf(row, functionId, bin);
    const mask = this.#keys.length - 1;
    let slot = (Math.imul(row, 0x9e3779b1) ^ Math.imul(functionId, 0x85ebca6b) ^ Math.imul(bin, 0xc2b2ae35)) >>> 7;
    for (slot &= mask; this.#keys[slot] !== EMPTY; slot = (slot + 1) & mask) {
      if (this.#keys[slot] === key) return this.#cellOfSlot[slot]!;
    }
    const cell = this.length++;
    this.#keys[slot] = key;
    this.#cellOfSlot[slot] = cell;
    if (cell === this.row.length) this.#grow();
    this.row[cell] = row;
    this.function[cell] = functionId;
    this.bin[cell] = bin;
    this.count[cell] = 0;
    if (this.length * 2 > this.#keys.length) this.#rehash();
    return cell;
  }

  #grow(): void {
    const wider = <T extends Uint32Array | Float64Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    const size = this.row.length * 2;
    this.row = wider(this.row, new Uint32Array(size));
    this.function = wider(this.function, new Uint32Array(size));
    this.bin = wider(this.bin, new Uint32Array(size));
    this.count = wider(this.count, new Float64Array(size));
  }

  #rehash(): void {
    const size = this.#keys.length * 2;
    this.#keys = new Float64Array(size);
    this.#cellOfSlot = new Uint32Array(size);
    for (let cell = 0; cell < this.length; cell++) {
      const row = this.row[cell]!;
      const functionId = this.function[cell]!;
      const bin = this.bin[cell]!;
      let slot = (Math.imul(row, 0x9e3779b1) ^ Math.imul(functionId, 0x85ebca6b) ^ Math.imul(bin, 0xc2b2ae35)) >>> 7;
      for (slot &= size - 1; this.#keys[slot] !== EMPTY; slot = (slot + 1) & (size - 1));
      this.#keys[slot] = keyOf(row, functionId, bin);
      this.#cellOfSlot[slot] = cell;
    }
  }

  #widen(): void {
    const { row, function: functionId, bin, count, length } = this;
    this.ranksPerRow *= 2;
    this.length = 0;
    this.#keys.fill(EMPTY);
    this.row = new Uint32Array(row.length);
    this.function = new Uint32Array(row.length);
    this.bin = new Uint32Array(row.length);
    this.count = new Float64Array(row.length);
    for (let cell = 0; cell < length; cell++) {
      const rank = row[cell]!;
      const to = this.#find(rank - (rank % this.ranksPerRow), functionId[cell]!, bin[cell]!);
      this.count[to]! += count[cell]!;
    }
  }
}
