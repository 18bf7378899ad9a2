// The layers of the plot: the ground, and over it whichever canvas draws the particles: the GPU's or the CPU's.
import { GpuSurface } from "../../gl/gpu-surface";
import { setMarks } from "../share/marks";
import { CPU_LIMITS, GPU_LIMITS, type BudgetLimits } from "./budget";
import { CpuSurface } from "./cpu-surface";
import { drawGround, MARGIN_PX, plotSize, type GroundShape } from "./ground";
import type { HistoryRaster } from "./history-raster";
import type { Moment } from "./moment";
import { RIM_PX } from "./picture";
import type { Selected } from "./sampling";
import { contentOf } from "./tables";

/** Sharper screens than this show no more of small discs. */
const MOST_GPU_RATIO = 2;
const MOST_GROUND_RATIO = 3;

export class Canvases {
  readonly elements: HTMLCanvasElement[];
  readonly #ground = document.createElement("canvas");
  readonly #gpu: GpuSurface;
  readonly #cpu = new CpuSurface();
  #laid = "";
  #ratio = 1;

  /** `changed` is called when another renderer draws from now on. */
  constructor(changed: () => void) {
    this.#gpu = new GpuSurface(() => {
      this.#show();
      changed();
    });
    this.elements = [this.#ground, this.#gpu.canvas, this.#cpu.canvas];
    for (const canvas of this.elements) canvas.setAttribute("aria-hidden", "true");
    this.#show();
  }

  get onGpu(): boolean {
    return this.#gpu.state === "ready";
  }

  get limits(): BudgetLimits {
    return this.onGpu ? GPU_LIMITS : CPU_LIMITS;
  }

  get words(): string {
    const { state, proofMs } = this.#gpu;
    return {
      unproven: "CPU, while WebGL2 is tried",
      ready: "WebGL2",
      slow: proofMs > 0 ? `CPU (WebGL2 is slow here: ${proofMs.toFixed(0)} ms for 20 000 particles)` : "CPU (WebGL2 is slow here)",
      missing: "CPU (no WebGL2 here)",
      lost: "CPU (the GPU was taken away)",
    }[state];
  }

  #show(): void {
    this.#gpu.canvas.hidden = !this.onGpu;
    this.#cpu.canvas.hidden = this.onGpu;
    this.#laid = "";
  }

  /** Whether the GPU still draws the last frame, and what that frame took once it is done. */
  finished(nowMs: number): { busy: boolean; tookMs: number | null } {
    return this.onGpu ? this.#gpu.finished(nowMs) : { busy: false, tookMs: null };
  }

  tooSlow(): void {
    this.#gpu.tooSlow();
  }

  /** Draws; returns what that cost, null when it is only known later. */
  draw(
    ground: GroundShape,
    momentOf: (widthPx: number, heightPx: number, pixelRatio: number) => Moment,
    groups: readonly Selected[], raster: HistoryRaster, leastOpacity: number, nowMs: number,
  ): number | null {
    this.#lay(ground);
    const canvas = this.onGpu ? this.#gpu.canvas : this.#cpu.canvas;
    const rimPx = Math.round(RIM_PX * this.#ratio);
    const moment = momentOf(canvas.width - 2 * rimPx, canvas.height - 2 * rimPx, this.#ratio);
    const plot = plotSize(ground);
    const [across, up] = [plot.widthPx + 2 * RIM_PX, plot.heightPx + 2 * RIM_PX];
    // Particles are far too many for marks. A picture gets them sharper than the screen.
    setMarks(canvas, {
      width: across, height: up,
      paint: () => false,
      raster: (ratio) => {
        const surface = new CpuSurface();
        surface.reground(ground, RIM_PX, ratio);
        const rim = 2 * Math.round(RIM_PX * ratio);
        surface.draw(momentOf(surface.canvas.width - rim, surface.canvas.height - rim, ratio), groups, raster, leastOpacity);
        return surface.canvas;
      },
    });
    if (this.onGpu) {
      this.#gpu.draw(moment, groups, raster, leastOpacity, nowMs);
      return null;
    }
    const startedMs = performance.now();
    this.#cpu.draw(moment, groups, raster, leastOpacity);
    return performance.now() - startedMs;
  }

  /** Sizes the canvases and draws what the particles stand on, when that is another than before. */
  #lay(ground: GroundShape): void {
    const { scale, theme, ranks, nodes, widthPx, heightPx } = ground;
    const laid = `${widthPx} ${heightPx} ${devicePixelRatio} ${scale.topNs} ${scale.unitNs} ${theme} ${ranks} ${contentOf(nodes)}`;
    if (laid === this.#laid) return;
    this.#laid = laid;
    const plot = plotSize(ground);
    this.#ratio = this.onGpu
      ? Math.min(MOST_GPU_RATIO, devicePixelRatio)
      : this.#cpu.pixelRatio(devicePixelRatio, widthPx, heightPx);
    const groundRatio = Math.min(MOST_GROUND_RATIO, devicePixelRatio);
    this.#ground.width = Math.round(widthPx * groundRatio);
    this.#ground.height = Math.round(heightPx * groundRatio);
    this.#ground.style.width = `${widthPx}px`;
    this.#ground.style.height = `${heightPx}px`;
    const context = this.#ground.getContext("2d", { alpha: false });
    context?.scale(groundRatio, groundRatio);
    if (context) drawGround(context, ground);
    setMarks(this.#ground, {
      width: widthPx, height: heightPx,
      paint: (marks) => {
        drawGround(marks as CanvasRenderingContext2D, ground);
        return true;
      },
    });
    for (const canvas of [this.#gpu.canvas, this.#cpu.canvas]) {
      canvas.style.left = `${MARGIN_PX.left - RIM_PX}px`;
      canvas.style.top = `${MARGIN_PX.top - RIM_PX}px`;
      canvas.style.width = `${plot.widthPx + 2 * RIM_PX}px`;
      canvas.style.height = `${plot.heightPx + 2 * RIM_PX}px`;
    }
    const across = Math.round((plot.widthPx + 2 * RIM_PX) * this.#ratio);
    const up = Math.round((plot.heightPx + 2 * RIM_PX) * this.#ratio);
    if (this.onGpu) this.#gpu.resize(across, up);
    else this.#cpu.reground(ground, RIM_PX, this.#ratio);
  }

  dispose(): void {
    this.#gpu.dispose();
  }
}
