// Moves discs apart until none overlap, and together along springs. Pure, and the same for the same input.

export interface Bodies {
  x: Float32Array;
  y: Float32Array;
  radius: Float32Array;
  /** 1 where a body stays. */
  fixed: Uint8Array;
}

export interface Spring { a: number; b: number; strength: number }

export interface Spread {
  /** Least distance between the edges of two bodies. */
  gap: number;
  rounds: number;
  springs: readonly Spring[];
  /** Pull towards 0, a share of the distance; where the first is less, springs pull less that way too: the whole gets wider than high. */
  pull: readonly [x: number, y: number];
  /** No body leaves this disc around 0. */
  within: number;
}

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Evenly over a disc, from its middle outwards. */
export function sunflower(at: number, spacing: number): [x: number, y: number] {
  const distance = spacing * 0.56 * Math.sqrt(at + 0.35);
  return [distance * Math.cos(at * GOLDEN), distance * Math.sin(at * GOLDEN)];
}

export function spread(bodies: Bodies, how: Spread): void {
  for (let round = 0; round < how.rounds; round++) {
    const heat = 1 - round / how.rounds;
    draw(bodies, how, heat);
    if (part(bodies, how.gap) === 0 && how.springs.length === 0 && how.pull[0] === 0) break;
    hold(bodies, how.within);
  }
  // What the springs and the rim pressed together.
  for (let round = 0; round < how.rounds; round++) {
    if (part(bodies, how.gap) === 0) break;
    hold(bodies, how.within);
  }
}

function draw({ x, y, radius, fixed }: Bodies, { springs, pull, gap }: Spread, heat: number): void {
  const wide = pull[1] > 0 ? pull[0] / pull[1] : 1;
  for (const { a, b, strength } of springs) {
    const dx = (x[b] ?? 0) - (x[a] ?? 0);
    const dy = (y[b] ?? 0) - (y[a] ?? 0);
    const distance = Math.hypot(dx, dy);
    const rest = (radius[a] ?? 0) + (radius[b] ?? 0) + gap;
    if (distance <= rest) continue;
    const by = (strength * heat * (distance - rest)) / distance / 2;
    shift(x, y, fixed, a, dx * by * wide, dy * by);
    shift(x, y, fixed, b, -dx * by * wide, -dy * by);
  }
  for (let at = 0; at < x.length; at++) shift(x, y, fixed, at, -(x[at] ?? 0) * pull[0] * heat, -(y[at] ?? 0) * pull[1] * heat);
}

function shift(x: Float32Array, y: Float32Array, fixed: Uint8Array, at: number, dx: number, dy: number): void {
  if (fixed[at] === 1) return;
  x[at] = (x[at] ?? 0) + dx;
  y[at] = (y[at] ?? 0) + dy;
}

/** Pushes bodies that are too near apart; how many were. */
function part({ x, y, radius, fixed }: Bodies, gap: number): number {
  const cell = 2 * radius.reduce((most, each) => Math.max(most, each), 0) + gap;
  const cells = new Map<number, number[]>();
  const key = (column: number, row: number): number => (column + 32_768) * 65_536 + row + 32_768;
  let found = 0;
  for (let at = 0; at < x.length; at++) {
    const column = Math.floor((x[at] ?? 0) / cell);
    const row = Math.floor((y[at] ?? 0) / cell);
    for (let c = column - 1; c <= column + 1; c++) {
      for (let r = row - 1; r <= row + 1; r++) {
        for (const other of cells.get(key(c, r)) ?? []) if (push(other, at)) found++;
      }
    }
    const members = cells.get(key(column, row));
    if (members) members.push(at);
    else cells.set(key(column, row), [at]);
  }
  return found;

  function push(a: number, b: number): boolean {
    let dx = (x[b] ?? 0) - (x[a] ?? 0);
    let dy = (y[b] ?? 0) - (y[a] ?? 0);
    let distance = Math.hypot(dx, dy);
    const wanted = (radius[a] ?? 0) + (radius[b] ?? 0) + gap;
    if (distance >= wanted * 0.999 || (fixed[a] === 1 && fixed[b] === 1)) return false;
    if (distance < 1e-6) {
      // In the same place: any direction, but the same one each time.
      [dx, dy] = sunflower(b % 64, 1);
      distance = Math.hypot(dx, dy);
    }
    const part = fixed[a] === 1 || fixed[b] === 1 ? 1 : 0.5;
    const by = (part * (wanted - Math.min(wanted, Math.hypot((x[b] ?? 0) - (x[a] ?? 0), (y[b] ?? 0) - (y[a] ?? 0))))) / distance;
    shift(x, y, fixed, a, -dx * by, -dy * by);
    shift(x, y, fixed, b, dx * by, dy * by);
    return true;
  }
}

function hold({ x, y, radius, fixed }: Bodies, within: number): void {
  if (!Number.isFinite(within)) return;
  for (let at = 0; at < x.length; at++) {
    const distance = Math.hypot(x[at] ?? 0, y[at] ?? 0);
    const most = Math.max(0, within - (radius[at] ?? 0));
    if (distance <= most || fixed[at] === 1) continue;
    x[at] = ((x[at] ?? 0) * most) / distance;
    y[at] = ((y[at] ?? 0) * most) / distance;
  }
}
