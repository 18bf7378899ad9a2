// The canvas that WebGL2 draws to: whether it is fast enough, how long frames take, and what happens when it is lost.
import type { HistoryRaster } from "../panels/particles/history-raster";
import type { Moment } from "../panels/particles/moment";
import { pack } from "../panels/particles/pack";
import { everyOne, type Selected } from "../panels/particles/sampling";
import { GpuHistory } from "./gpu-history";
import { GpuParticles } from "./gpu-particles";

export type GpuState = "unproven" | "ready" | "slow" | "missing" | "lost";

/** The proof: this number of particles has to be drawn within this time. Software needs 15 ms and more for them. */
const PROOF_POINTS = 20_000;
const CLOUD_POINTS = PROOF_POINTS / 2;
const PROOF_MS = 8;
const PROOF_ROUNDS = 4;
/** A fence that takes longer was not waited for (the page was in the background). */
const NOT_A_FRAME_MS = 1000;

export class GpuSurface {
  readonly canvas = document.createElement("canvas");
  state: GpuState = "unproven";
  /** What the proof took. */
  proofMs = 0;
  #gl: WebGL2RenderingContext | null = null;
  #particles: GpuParticles | null = null;
  #history: GpuHistory | null = null;
  #fence: WebGLSync | null = null;
  #drawnAtMs = 0;
  #disposed = false;

  /** `changed` is called when the state does. Nothing of this is done in one go: the page is just being built. */
  constructor(readonly changed: () => void) {
    setTimeout(() => this.#open(), 0);
  }

  #open(): void {
    if (this.#disposed) return;
    this.#gl = this.canvas.getContext("webgl2", {
      alpha: true, antialias: false, depth: false, stencil: false, premultipliedAlpha: true,
      powerPreference: "high-performance",
    });
    if (this.#gl === null) {
      this.#become("missing");
      return;
    }
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.#particles = null;
      this.#history = null;
      this.#fence = null;
      if (this.state !== "slow") this.#become("lost");
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      if (this.state === "lost") this.#prove();
    });
    setTimeout(() => this.#prove(), 0);
  }

  #become(state: GpuState): void {
    this.state = state;
    if (!this.#disposed) this.changed();
  }

  /** Gives up on the GPU for good. */
  tooSlow(): void {
    this.#release();
    this.#become("slow");
  }

  #build(gl: WebGL2RenderingContext): GpuParticles {
    this.#particles ??= new GpuParticles(gl);
    this.#history ??= new GpuHistory(gl);
    return this.#particles;
  }

  /** Draws a fixed cloud a few times, waiting for the GPU without holding the page up. */
  #prove(): void {
    const gl = this.#gl;
    if (gl === null || this.#disposed) return;
    try {
      const particles = this.#build(gl);
      setTimeout(() => this.#rounds(gl, particles), 0);
    } catch {
      this.#become("missing");
    }
  }

  #rounds(gl: WebGL2RenderingContext, particles: GpuParticles): void {
    const moment = proofMoment();
    const cloud = proofCloud();
    const groups = [cloud, cloud];
    const times: number[] = [];
    const round = (): void => {
      if (this.#disposed || this.#particles !== particles) return;
      const startedMs = performance.now();
      gl.viewport(0, 0, this.canvas.width, this.canvas.height);
      particles.draw(moment, groups);
      const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      const look = (): void => {
        if (this.#disposed || this.#particles !== particles || fence === null) return;
        const tookMs = performance.now() - startedMs;
        if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED && tookMs < NOT_A_FRAME_MS) {
          setTimeout(look, 1);
          return;
        }
        gl.deleteSync(fence);
        times.push(tookMs);
        if (times.length <= PROOF_ROUNDS) setTimeout(round, 0);
        else this.#rate(times);
      };
      setTimeout(look, 1);
    };
    this.canvas.width = 1024;
    this.canvas.height = 512;
    round();
  }

  #rate(times: number[]): void {
    // The first round compiled the shaders. The best of the others counts: only the machine's other work makes it longer.
    this.proofMs = Math.min(...times.slice(1));
    if (this.proofMs > PROOF_MS) this.tooSlow();
    else this.#become("ready");
  }

  resize(widthPx: number, heightPx: number): void {
    if (this.canvas.width !== widthPx) this.canvas.width = widthPx;
    if (this.canvas.height !== heightPx) this.canvas.height = heightPx;
  }

  /** Whether the last frame is still being drawn; else what it took, once. */
  finished(nowMs: number): { busy: boolean; tookMs: number | null } {
    const gl = this.#gl;
    if (gl === null || this.#fence === null) return { busy: false, tookMs: null };
    const tookMs = nowMs - this.#drawnAtMs;
    if (gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) !== gl.SIGNALED && tookMs < NOT_A_FRAME_MS) {
      return { busy: true, tookMs: null };
    }
    gl.deleteSync(this.#fence);
    this.#fence = null;
    return { busy: false, tookMs: tookMs < NOT_A_FRAME_MS ? tookMs : null };
  }

  draw(moment: Moment, groups: readonly Selected[], raster: HistoryRaster, leastOpacity: number, nowMs: number): void {
    const gl = this.#gl;
    if (gl === null || gl.isContextLost()) return;
    const particles = this.#build(gl);
    const { width, height } = this.canvas;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.#history?.draw(raster, leastOpacity, moment.widthPx / width, moment.heightPx / height);
    particles.draw(moment, groups);
    this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.#drawnAtMs = nowMs;
  }

  #release(): void {
    this.#particles?.dispose();
    this.#history?.dispose();
    this.#particles = null;
    this.#history = null;
    this.#fence = null;
    this.canvas.width = 1;
    this.canvas.height = 1;
  }

  dispose(): void {
    this.#disposed = true;
    this.#release();
    this.#gl?.getExtension("WEBGL_lose_context")?.loseContext();
    this.#gl = null;
  }
}

function proofMoment(): Moment {
  const colours = new Uint8Array(4096 * 4).fill(255);
  return {
    timeNs: 1e6, fadeNs: 2e9, scale: { unitNs: 1e3, topNs: 1e6 }, ranks: 64, widthPx: 1008, heightPx: 496, rimPx: 8,
    sizePx: 4, clearedNs: Number.NEGATIVE_INFINITY, colours, ranksShown: null, ink: [1, 1, 1],
  };
}

function proofCloud(): Selected {
  const zeros = (): Uint32Array => new Uint32Array(CLOUD_POINTS);
  const packed = pack({
    fromNs: 0, toNs: 1e6, total: CLOUD_POINTS, share: 1, allFromNs: 0, length: CLOUD_POINTS,
    rank: zeros().map((_, at) => at % 64), thread: zeros(), function: zeros(),
    startNs: Float64Array.from(zeros(), (_, at) => at), durationNs: Float64Array.from(zeros(), (_, at) => 1000 + at * 80),
    peer: zeros(), tag: new Int32Array(CLOUD_POINTS), bytes: new Float64Array(CLOUD_POINTS), comm: zeros(),
    count: new Float64Array(CLOUD_POINTS).fill(1),
  });
  return everyOne(packed);
}
