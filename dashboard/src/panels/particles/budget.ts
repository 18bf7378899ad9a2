// How many particles a frame may have, from how long frames take. It comes down at once and goes up slowly.

export interface BudgetLimits {
  /** Frames that cost more than this have too many particles. */
  tooLongMs: number;
  /** Frames that cost less than this could have more. */
  roomMs: number;
  least: number;
  most: number;
}

/**
 * What a frame of the GPU took is seen at the next refresh of the screen: one of 16 ms is not late, one of three is.
 * Drawing by the CPU leaves room for the rest of the page.
 */
export const GPU_LIMITS: BudgetLimits = { tooLongMs: 42, roomMs: 26, least: 4_000, most: 200_000 };
export const CPU_LIMITS: BudgetLimits = { tooLongMs: 24, roomMs: 12, least: 8_000, most: 120_000 };

const LONG_FRAMES = 3;
const SHORT_FRAMES = 30;

export class Budget {
  #points: number;
  #long = 0;
  #short = 0;
  #hopeless = 0;

  constructor(
    readonly limits: BudgetLimits,
    points: number,
  ) {
    this.#points = Math.min(limits.most, Math.max(limits.least, points));
  }

  get points(): number {
    return this.#points;
  }

  /** Frames take far too long with the fewest points that are worth drawing. */
  get hopeless(): boolean {
    return this.#points === this.limits.least && this.#hopeless >= LONG_FRAMES;
  }

  /** Takes what a frame cost and what it drew; true when the budget changed. */
  measured(costMs: number, drawn: number): boolean {
    this.#long = costMs > this.limits.tooLongMs ? this.#long + 1 : 0;
    this.#hopeless = costMs > 2 * this.limits.tooLongMs ? this.#hopeless + 1 : 0;
    this.#short = costMs < this.limits.roomMs ? this.#short + 1 : 0;
    if (this.#long >= LONG_FRAMES) return this.#to(Math.min(this.#points, drawn) * 0.75);
    // More room is worth nothing while the calls at hand do not use it up.
    if (this.#short >= SHORT_FRAMES && drawn > this.#points * 0.7) return this.#to(this.#points * 1.25);
    return false;
  }

  #to(points: number): boolean {
    this.#long = 0;
    this.#short = 0;
    const next = Math.round(Math.min(this.limits.most, Math.max(this.limits.least, points)));
    if (next === this.#points) return false;
    this.#points = next;
    return true;
  }
}
