// What particles cost, in ms a frame: packing, drawing by the CPU, by the GPU, and by the GPU with a shader that does next
// to nothing over the same points. A clear frame would be too noisy a measure for the last one.
import { GpuParticles } from "../src/gl/gpu-particles";
import { link } from "../src/gl/program";
import { CpuParticles } from "../src/panels/particles/cpu-particles";
import type { Moment } from "../src/panels/particles/moment";
import { PACK_CALLS, pack, STRIDE } from "../src/panels/particles/pack";
import { everyOne } from "../src/panels/particles/sampling";

const WIDTH = 1136;
const HEIGHT = 800;
const RIM = 8;
const moment: Moment = {
  timeNs: 2e9, fadeNs: 2e9, scale: { unitNs: 1e3, topNs: 1e9 }, ranks: 16, widthPx: WIDTH - 2 * RIM,
  heightPx: HEIGHT - 2 * RIM, rimPx: RIM, sizePx: 5, clearedNs: Number.NEGATIVE_INFINITY,
  colours: new Uint8Array(4096 * 4).fill(200), ranksShown: null, ink: [1, 1, 1],
};
const PLAIN_VERTEX = `#version 300 es
layout(location = 0) in vec3 time_ns;
layout(location = 1) in vec2 place;
void main() {
  gl_Position = vec4(place.x / 8.0 - 1.0, fract(time_ns.x * 0.000001) * 2.0 - 1.0, 0.0, 1.0);
  gl_PointSize = 5.0;
}`;
const PLAIN_FRAGMENT = `#version 300 es
precision mediump float;
out vec4 pixel;
void main() { pixel = vec4(0.5); }`;

function median(act: () => void, times: number): number {
  const costs = Array.from({ length: times }, () => {
    const startedMs = performance.now();
    act();
    return performance.now() - startedMs;
  });
  return costs.sort((one, other) => one - other)[times >> 1] ?? 0;
}

function calls(length: number): Parameters<typeof pack>[0] {
  let state = 1;
  const random = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  const zeros = (): Uint32Array => new Uint32Array(length);
  return {
    fromNs: 0, toNs: 2e9, total: length, share: 1, allFromNs: 0, length, rank: zeros().map(() => random() * 16),
    thread: zeros(), function: zeros(), startNs: Float64Array.from(zeros(), () => random() * 2e9),
    durationNs: Float64Array.from(zeros(), () => 10 ** (3 + 5 * random())), peer: zeros(), tag: new Int32Array(length),
    bytes: new Float64Array(length), comm: zeros(), count: new Float64Array(length).fill(1),
  };
}

const gl = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT }).getContext("webgl2");
const gpu = gl && new GpuParticles(gl);
const plain = gl && link(gl, PLAIN_VERTEX, PLAIN_FRAGMENT);
const pixel = new Uint8Array(4);
const rows = [["particles", "packing", "CPU", "WebGL2", "plain shader"]];
for (const length of [10_000, 40_000, 100_000]) {
  const made = calls(length);
  const groups: ReturnType<typeof everyOne>[] = [];
  const packAll = (): void => {
    groups.length = 0;
    for (let at = 0; at < length; at += PACK_CALLS) groups.push(everyOne(pack(made, at, Math.min(length, at + PACK_CALLS))));
  };
  const costs = [median(packAll, 5)];
  const cpu = new CpuParticles();
  const picture = new ImageData(WIDTH, HEIGHT);
  costs.push(median(() => cpu.draw(picture, moment, groups), 15));
  if (gl && gpu && plain) {
    const finish = (): void => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.viewport(0, 0, WIDTH, HEIGHT);
    costs.push(median(() => {
      gl.clear(gl.COLOR_BUFFER_BIT);
      gpu.draw(moment, groups);
      finish();
    }, 7));
    gl.useProgram(plain.handle);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(groups.flatMap(({ packed }) => [...packed.data])), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, STRIDE * 4, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 2, gl.FLOAT, false, STRIDE * 4, 12);
    costs.push(median(() => {
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.drawArrays(gl.POINTS, 0, length);
      finish();
    }, 7));
  }
  rows.push([String(length), ...costs.map((cost) => cost.toFixed(1))]);
}
document.querySelector("#table")!.textContent = rows.map((row) => row.map((cell) => cell.padStart(13)).join("")).join("\n");
