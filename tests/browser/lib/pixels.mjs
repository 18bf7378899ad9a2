// Pixels of screenshots.

import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";

/** An 8-bit PNG without interlacing (as browsers write them) as red, green, blue bytes. */
export function decodePng(file) {
  const data = [];
  let width = 0;
  let height = 0;
  let channels = 0;
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[body[9]] ?? 0;
      if (body[8] !== 8 || channels === 0 || body[12] !== 0) throw new Error("a PNG of another kind");
    } else if (type === "IDAT") data.push(body);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const lines = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) unfilter(raw, y, stride, channels, lines);
  return { width, height, channels, data: lines };
}

function unfilter(raw, y, stride, channels, lines) {
  const filter = raw[y * (stride + 1)];
  const from = y * (stride + 1) + 1;
  const to = y * stride;
  for (let x = 0; x < stride; x++) {
    const left = x >= channels ? lines[to + x - channels] : 0;
    const up = y > 0 ? lines[to + x - stride] : 0;
    const corner = x >= channels && y > 0 ? lines[to + x - stride - channels] : 0;
    lines[to + x] = raw[from + x] + predicted(filter, left, up, corner);
  }
}

function predicted(filter, left, up, corner) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** Pixels for which `is(red, green, blue, x, y)`: how many, and where they lie. */
export function count({ width, height, channels, data }, is) {
  const found = { pixels: 0, left: width, right: -1, top: height, bottom: -1, meanX: 0, meanY: 0 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * channels;
      if (!is(data[at], data[at + 1], data[at + 2], x, y)) continue;
      found.pixels++;
      found.left = Math.min(found.left, x);
      found.right = Math.max(found.right, x);
      found.top = Math.min(found.top, y);
      found.bottom = Math.max(found.bottom, y);
      found.meanX += x;
      found.meanY += y;
    }
  }
  if (found.pixels > 0) {
    found.meanX /= found.pixels;
    found.meanY /= found.pixels;
  }
  return found;
}

/** Neither ground nor text nor lines, which all are nearly grey. */
export const coloured = (red, green, blue) => Math.max(red, green, blue) - Math.min(red, green, blue) > 50;

/** Nearly a colour given as #rrggbb. */
export function near(hex, most = 40) {
  const wanted = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return (red, green, blue) => Math.hypot(red - wanted[0], green - wanted[1], blue - wanted[2]) < most;
}

export function fingerprint({ data }) {
  return createHash("sha256").update(data).digest("hex").slice(0, 16);
}

/** How many pixels differ between two pictures of one size. */
export function differing(one, other) {
  let pixels = 0;
  for (let at = 0; at < one.data.length; at += one.channels) {
    if (one.data[at] !== other.data[at] || one.data[at + 1] !== other.data[at + 1] || one.data[at + 2] !== other.data[at + 2]) pixels++;
  }
  return pixels;
}
