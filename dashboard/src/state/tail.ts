// The calls of the last moments of a live run, as the deltas brought them: bounded in time and in number.

import type { Calls } from "../feed/calls";

/** The view's fade is two seconds; one more for a page that draws late. */
const KEEP_NS = 3e9;
const CALLS_MAX = 400_000;

export class Tail {
  private blocks: Calls[] = [];

  clear(): void {
    this.blocks = [];
  }

  add(block: Calls): void {
    if (block.length === 0) return;
    const kept = this.blocks.filter((old) => old.toNs > block.toNs - KEEP_NS);
    kept.push(block);
    let calls = kept.reduce((sum, each) => sum + each.length, 0);
    while (calls > CALLS_MAX && kept.length > 1) calls -= kept.shift()?.length ?? 0;
    this.blocks = kept;
  }

  /** The blocks that still show something at a time; the same array as long as they are the same. */
  list(): readonly Calls[] {
    return this.blocks;
  }
}
