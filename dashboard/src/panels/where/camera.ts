// From places in the graph to places on the screen and back: shifted, scaled, turned. Pure.

export interface Camera {
  /** What is in the middle of the screen. */
  x: number;
  y: number;
  /** Pixels of a unit. */
  scale: number;
  /** Clockwise. */
  angle: number;
}

export interface Size { width: number; height: number }
export type Point = readonly [x: number, y: number];
/** As a canvas takes it. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export const SCALE_MIN = 0.2;
export const SCALE_MAX = 400;

export function matrixOf(camera: Camera, size: Size): Matrix {
  const [cos, sin] = [Math.cos(camera.angle) * camera.scale, Math.sin(camera.angle) * camera.scale];
  return [cos, sin, -sin, cos, size.width / 2 - camera.x * cos + camera.y * sin, size.height / 2 - camera.x * sin - camera.y * cos];
}

export function toScreen([a, b, c, d, e, f]: Matrix, x: number, y: number): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

export function toWorld([a, b, c, d, e, f]: Matrix, x: number, y: number): Point {
  const by = a * d - b * c;
  return [(d * (x - e) - c * (y - f)) / by, (a * (y - f) - b * (x - e)) / by];
}

/** What has to be done to a picture made with the first to be as with the second. */
export function moved(from: Matrix, to: Matrix): Matrix {
  const by = from[0] * from[3] - from[1] * from[2];
  const [a, b, c, d] = [from[3] / by, -from[1] / by, -from[2] / by, from[0] / by];
  const one = [to[0] * a + to[2] * b, to[1] * a + to[3] * b, to[0] * c + to[2] * d, to[1] * c + to[3] * d] as const;
  return [...one, to[4] - one[0] * from[4] - one[2] * from[5], to[5] - one[1] * from[4] - one[3] * from[5]];
}

export function panned(camera: Camera, dx: number, dy: number): Camera {
  const [cos, sin] = [Math.cos(camera.angle) / camera.scale, Math.sin(camera.angle) / camera.scale];
  return { ...camera, x: camera.x - dx * cos - dy * sin, y: camera.y + dx * sin - dy * cos };
}

/** What is at a place of the screen stays there. */
export function zoomed(camera: Camera, factor: number, at: Point, size: Size): Camera {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, camera.scale * factor));
  const [x, y] = toWorld(matrixOf(camera, size), at[0], at[1]);
  const next = { ...camera, scale };
  const [nowX, nowY] = toScreen(matrixOf(next, size), x, y);
  return panned(next, at[0] - nowX, at[1] - nowY);
}

/** Around the middle of the screen. */
export function turned(camera: Camera, by: number): Camera {
  const full = 2 * Math.PI;
  return { ...camera, angle: (((camera.angle + by) % full) + full) % full };
}

/** All discs in sight, at an angle. */
export function fitted(discs: readonly { x: number; y: number; radius: number }[], angle: number, size: Size, margin: number): Camera {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y, radius } of discs) {
    const [u, v] = [x * cos - y * sin, x * sin + y * cos];
    [left, right, top, bottom] = [Math.min(left, u - radius), Math.max(right, u + radius), Math.min(top, v - radius), Math.max(bottom, v + radius)];
  }
  if (!(right > left)) return { x: 0, y: 0, scale: 20, angle };
  const scale = Math.min((size.width - 2 * margin) / (right - left), (size.height - 2 * margin) / (bottom - top), 60);
  const [u, v] = [(left + right) / 2, (top + bottom) / 2];
  return { x: u * cos + v * sin, y: v * cos - u * sin, scale: Math.max(SCALE_MIN, scale), angle };
}
