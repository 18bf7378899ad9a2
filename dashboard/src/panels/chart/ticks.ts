// Where an axis has lines. Pure.

/** Values nearer to each other than this share are the same. */
const EVEN = 1e-12;

/** Round steps of an axis, at most this number; of bytes in powers of 1024. */
export function ticks(from: number, to: number, most: number, base = 10): number[] {
  // Values that differ by rounding alone have no steps between them.
  if (!(to - from > EVEN * Math.max(Math.abs(from), Math.abs(to)))) return [from];
  if (base === 1024) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(Math.abs(from), Math.abs(to), 1)) / 10));
    return ticks(from / unit, to / unit, most).map((value) => value * unit);
  }
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found: number[] = [];
  for (let at = Math.ceil(from / step); at * step <= to + step * 1e-9; at++) found.push(at * step);
  return found;
}
