// Limits that tell what hangs from what is slow.

import { cpus, loadavg } from "node:os";

/** No machine is taken for slower than this. */
const SLOWEST = 6;
const READ_EVERY_MS = 1000;

/** How many processes want to run for each CPU of the machine; at least 1. */
export function slowness() {
  return Math.min(Math.max(loadavg()[0] / cpus().length, 1), SLOWEST);
}

/**
 * A limit on how long something may take before it counts as hung. It lasts longer while more processes want to run than the
 * machine has CPUs: what else runs there is not to let a test fail.
 */
export class Patience {
  constructor(limitMs) {
    this.leftMs = limitMs;
    this.lookedMs = performance.now();
    this.readMs = -Infinity;
  }

  /** Whether it has come to its end. */
  isOver() {
    const now = performance.now();
    if (now > this.readMs + READ_EVERY_MS) {
      this.slowness = slowness();
      this.readMs = now;
    }
    this.leftMs -= (now - this.lookedMs) / this.slowness;
    this.lookedMs = now;
    return this.leftMs <= 0;
  }
}
