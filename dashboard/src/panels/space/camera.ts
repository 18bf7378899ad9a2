// Where one looks from: around a target, with z up, in perspective. The scene lies within 1 of the origin. One projection
// for what is drawn, pointed at and labelled, with or without a graphics processor. Pure.

export interface Size { width: number; height: number }
export interface Camera { yaw: number; pitch: number; distance: number; x: number; y: number; z: number }
export interface Cloud { length: number; x: Float32Array; y: Float32Array; z: Float32Array }

/** What a projection needs, computed once. */
export interface Lens {
  right: Vector; up: Vector; back: Vector; eye: Vector;
  /** Pixels of a unit at distance 1. */
  focal: number;
  size: Size;
}
type Vector = readonly [number, number, number];

const FIELD_RADIANS = (36 * Math.PI) / 180;
const PITCH_MAX = Math.PI / 2;
const DISTANCE_MIN = 0.02;
const DISTANCE_MAX = 50;
/** Nothing nearer than this is drawn. */
export const NEAR = 0.01;

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

function around(yaw: number): number {
  return yaw - 2 * Math.PI * Math.floor((yaw + Math.PI) / (2 * Math.PI));
}

export function settled(camera: Camera): Camera {
  return {
    yaw: around(camera.yaw), pitch: clamp(camera.pitch, -PITCH_MAX, PITCH_MAX), distance: clamp(camera.distance, DISTANCE_MIN, DISTANCE_MAX),
    x: clamp(camera.x, -9, 9), y: clamp(camera.y, -9, 9), z: clamp(camera.z, -9, 9),
  };
}

export function lensOf({ yaw, pitch, distance, x, y, z }: Camera, size: Size): Lens {
  const [cp, sp, cy, sy] = [Math.cos(pitch), Math.sin(pitch), Math.cos(yaw), Math.sin(yaw)];
  const back: Vector = [cp * cy, cp * sy, sp];
  return {
    right: [-sy, cy, 0], up: [-sp * cy, -sp * sy, cp], back,
    eye: [x + back[0] * distance, y + back[1] * distance, z + back[2] * distance],
    focal: size.height / 2 / Math.tan(FIELD_RADIANS / 2), size,
  };
}

/** Place in pixels, and how far before the eye; behind it the depth is below NEAR. */
export function project({ right, up, back, eye, focal, size }: Lens, x: number, y: number, z: number): [x: number, y: number, depth: number] {
  const [dx, dy, dz] = [x - eye[0], y - eye[1], z - eye[2]];
  const depth = -(dx * back[0] + dy * back[1] + dz * back[2]);
  const scale = focal / Math.max(NEAR, depth);
  return [
    size.width / 2 + (dx * right[0] + dy * right[1] + dz * right[2]) * scale,
    size.height / 2 - (dx * up[0] + dy * up[1] + dz * up[2]) * scale,
    depth,
  ];
}

/** All points at once, into columns that are there. */
export function projectAll(lens: Lens, cloud: Cloud, into: { x: Float32Array; y: Float32Array; depth: Float32Array }): void {
  const { right: [rx, ry, rz], up: [ux, uy, uz], back: [bx, by, bz], eye: [ex, ey, ez], focal, size } = lens;
  const [middleX, middleY] = [size.width / 2, size.height / 2];
  for (let point = 0; point < cloud.length; point++) {
    const dx = (cloud.x[point] ?? 0) - ex;
    const dy = (cloud.y[point] ?? 0) - ey;
    const dz = (cloud.z[point] ?? 0) - ez;
    const depth = -(dx * bx + dy * by + dz * bz);
    const scale = focal / Math.max(NEAR, depth);
    into.x[point] = middleX + (dx * rx + dy * ry + dz * rz) * scale;
    into.y[point] = middleY - (dx * ux + dy * uy + dz * uz) * scale;
    into.depth[point] = depth;
  }
}

/** All in sight from this side, with a margin in pixels; points reach this far around their places. */
export function fitted(cloud: Cloud, yaw: number, pitch: number, size: Size, margin: number, reach = 0): Camera {
  const lens = lensOf({ yaw, pitch, distance: 0, x: 0, y: 0, z: 0 }, size);
  const { right, up, back, focal } = lens;
  const on = (axis: Vector, at: number): number => axis[0] * (cloud.x[at] ?? 0) + axis[1] * (cloud.y[at] ?? 0) + axis[2] * (cloud.z[at] ?? 0);
  const middle = (axis: Vector): number => {
    let [least, most] = [Infinity, -Infinity];
    for (let at = 0; at < cloud.length; at++) {
      const value = on(axis, at);
      if (value < least) least = value;
      if (value > most) most = value;
    }
    return most >= least ? (least + most) / 2 : 0;
  };
  const [toRight, toUp, toBack] = [middle(right), middle(up), middle(back)];
  const halfWidth = Math.max(20, size.width / 2 - margin);
  const halfHeight = Math.max(20, size.height / 2 - margin);
  let distance = 0.5;
  for (let at = 0; at < cloud.length; at++) {
    const before = on(back, at) - toBack;
    distance = Math.max(distance, before + ((Math.abs(on(right, at) - toRight) + reach) * focal) / halfWidth, before + ((Math.abs(on(up, at) - toUp) + reach) * focal) / halfHeight);
  }
  const target = [0, 1, 2].map((axis) => (right[axis] ?? 0) * toRight + (up[axis] ?? 0) * toUp + (back[axis] ?? 0) * toBack);
  return settled({ yaw, pitch, distance, x: target[0] ?? 0, y: target[1] ?? 0, z: target[2] ?? 0 });
}

export function turned(camera: Camera, yaw: number, pitch: number): Camera {
  return settled({ ...camera, yaw: camera.yaw + yaw, pitch: camera.pitch + pitch });
}

/** The scene follows by this number of pixels, at the depth of the target. */
export function panned(camera: Camera, size: Size, dx: number, dy: number): Camera {
  const { right, up, focal } = lensOf(camera, size);
  const unit = camera.distance / focal;
  const move = (axis: 0 | 1 | 2): number => -right[axis] * dx * unit + up[axis] * dy * unit;
  return settled({ ...camera, x: camera.x + move(0), y: camera.y + move(1), z: camera.z + move(2) });
}

/** Nearer by a factor; what is under the place stays there, at the depth of the target. */
export function zoomed(camera: Camera, size: Size, factor: number, x: number, y: number): Camera {
  const distance = clamp(camera.distance / factor, DISTANCE_MIN, DISTANCE_MAX);
  const share = 1 - distance / camera.distance;
  const nearer = panned(camera, size, -(x - size.width / 2) * share, -(y - size.height / 2) * share);
  return settled({ ...nearer, distance });
}

/** From one camera to another, the short way around. */
export function between(from: Camera, to: Camera, part: number): Camera {
  const mix = (one: number, other: number): number => one + (other - one) * part;
  return settled({
    yaw: from.yaw + around(to.yaw - from.yaw) * part, pitch: mix(from.pitch, to.pitch), distance: from.distance * (to.distance / from.distance) ** part,
    x: mix(from.x, to.x), y: mix(from.y, to.y), z: mix(from.z, to.z),
  });
}

/** For the address. */
export function toWord({ yaw, pitch, distance, x, y, z }: Camera): string {
  return [yaw, pitch, distance, x, y, z].map((value) => value.toFixed(2)).join("_");
}

export function fromWord(word: string): Camera | null {
  const numbers = word.split("_").map((part) => (/^-?\d+(\.\d+)?$/.test(part) ? Number(part) : NaN));
  const [yaw, pitch, distance, x, y, z] = numbers;
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return null;
  if (yaw === undefined || pitch === undefined || distance === undefined || x === undefined || y === undefined || z === undefined) return null;
  return settled({ yaw, pitch, distance, x, y, z });
}
