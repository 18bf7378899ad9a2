import { describe, expect, it } from "vitest";
import { drawHistory } from "./cpu-history";
import { CpuParticles } from "./cpu-particles";
import { HistoryRaster } from "./history-raster";
import { makeCalls, type MadeCall } from "./made-calls";
import type { Moment } from "./moment";
import { pack } from "./pack";
import { everyOne } from "./sampling";

const WIDTH = 116;
const HEIGHT = 76;
const RIM = 8;
const GROUND = 0x10;

function picture(): ImageData {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4).fill(GROUND);
  for (let at = 3; at < data.length; at += 4) data[at] = 255;
  return { data, width: WIDTH, height: HEIGHT, colorSpace: "srgb" } as ImageData;
}

function moment(timeNs: number, more: Partial<Moment> = {}): Moment {
  const colours = new Uint8Array(4096 * 4);
  colours.set([200, 100, 50, 255], 4);
  return {
    timeNs, fadeNs: 2e9, scale: { unitNs: 1e3, topNs: 1e6 }, ranks: 1, widthPx: 100, heightPx: 60, rimPx: RIM, sizePx: 5,
    clearedNs: Number.NEGATIVE_INFINITY, colours, ranksShown: null, ink: [1, 1, 1], ...more,
  };
}

function drawn(calls: readonly MadeCall[], at: Moment): { image: ImageData; seen: number; lit: number[] } {
  const image = picture();
  const seen = new CpuParticles().draw(image, at, [everyOne(pack(makeCalls(0, 1e9, calls)))]);
  const lit: number[] = [];
  for (let pixel = 0; pixel < WIDTH * HEIGHT; pixel++) if (image.data[pixel * 4] !== GROUND) lit.push(pixel);
  return { image, seen, lit };
}

describe("particles drawn by the CPU", () => {
  it("are discs of their colour where the moment says", () => {
    const { image, seen, lit } = drawn([{ startNs: 0, durationNs: 1e6 }], moment(1e6 + 1));
    expect(seen).toBe(1);
    const rows = lit.map((pixel) => Math.floor(pixel / WIDTH));
    expect(Math.min(...rows)).toBeGreaterThanOrEqual(RIM - 4);
    expect(Math.max(...rows)).toBeLessThanOrEqual(RIM + 4);
    expect(lit.length).toBeGreaterThan(15);
    expect(lit.length).toBeLessThan(45);
    const redOf = (pixel: number): number => image.data[pixel * 4]!;
    const middle = lit.reduce((most, pixel) => (redOf(pixel) > redOf(most) ? pixel : most));
    const [red, green, blue, alpha] = image.data.subarray(middle * 4, middle * 4 + 4);
    expect([red! > 195, Math.abs(green! - 100) < 4, Math.abs(blue! - 50) < 4, alpha]).toEqual([true, true, true, 255]);
  });

  it("fade evenly into the ground", () => {
    const at = (sinceNs: number): number =>
      Math.max(...drawn([{ startNs: 0, durationNs: 1e6 }], moment(1e6 + sinceNs)).image.data.filter((_, byte) => byte % 4 === 0));
    expect(at(1e9)).toBeCloseTo(GROUND + (200 - GROUND) / 2, -1);
    expect(at(1.9e9)).toBeLessThan(GROUND + 15);
    expect(drawn([{ startNs: 0, durationNs: 1e6 }], moment(3.1e9)).lit).toEqual([]);
  });

  it("are larger and bright inside while their call runs", () => {
    const running = drawn([{ startNs: 0, durationNs: 1e9 }], moment(5e5));
    const ended = drawn([{ startNs: 0, durationNs: 5e5 }], moment(5e5 + 1));
    expect(running.lit.length).toBeGreaterThan(2 * ended.lit.length);
    expect(Math.max(...running.image.data.filter((_, byte) => byte % 4 === 2))).toBeGreaterThan(150);
  });

  it("never leave the picture or reach its other side, however large", () => {
    const calls = Array.from({ length: 400 }, (_, at) => ({ startNs: at, durationNs: (at % 20) ** 5 }));
    const { seen, image } = drawn(calls, moment(1e7, { sizePx: 40, rimPx: 2 }));
    expect(seen).toBe(400);
    for (let at = 3; at < image.data.length; at += 4) expect(image.data[at]).toBe(255);
    const left = drawn([{ startNs: 0, durationNs: 0 }], moment(1e6, { sizePx: 40, rimPx: 0, widthPx: 4, heightPx: HEIGHT }));
    expect(Math.max(...left.lit.map((pixel) => pixel % WIDTH))).toBeLessThan(60);
  });
});

describe("the history drawn by the CPU", () => {
  it("puts grains where the plot has them, with the opacity of the formula", () => {
    const raster = new HistoryRaster();
    const { colours } = moment(0);
    raster.configure({ columns: 1, rows: 2, scale: { unitNs: 1e3, topNs: 1e6 }, ranks: 1, colours, ranksShown: null });
    const one = { fromNs: 0, toNs: 1, binsPerOctave: 16, ranksPerRow: 1, length: 2, total: 11 };
    raster.add({ ...one, row: new Uint32Array(2), function: Uint32Array.of(1, 1), bin: Uint32Array.of(318, 10), count: Float64Array.of(10, 1) });
    raster.work(0, () => 1);
    const image = picture();
    drawHistory(image, raster.image()!, 0.25, RIM);
    const redAt = (x: number, y: number): number => image.data[(y * WIDTH + x) * 4]!;
    expect(redAt(RIM, RIM)).toBe(200);
    expect(redAt(RIM + 99, RIM + 29)).toBe(200);
    expect(redAt(RIM, RIM + 30)).toBeCloseTo(GROUND + (200 - GROUND) * 0.25, -0.5);
    expect(redAt(RIM - 1, RIM)).toBe(GROUND);
    expect(redAt(RIM, HEIGHT - RIM)).toBe(GROUND);
  });
});
