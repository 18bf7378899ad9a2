// Draws particles with WebGL2. Buffers hold what never changes of a call; everything that moves is a uniform.
import { RUNNING_SIZE, type Moment } from "../panels/particles/moment";
import type { Selected } from "../panels/particles/sampling";
import { NEVER, STRIDE, type Packed } from "../panels/particles/pack";
import { logTopOf } from "../panels/particles/scale";
import { exactTexture, link, type Program } from "./program";
import { PARTICLE_FRAGMENT, PARTICLE_VERTEX } from "./shaders";

/** Buffers of tiles that are not on the screen are kept up to this size, for those who scrub to and fro. */
const MOST_KEPT_BYTES = 48 * 1024 * 1024;
const BYTES_A_CALL = STRIDE * 4 + 4;

interface PackBuffers {
  array: WebGLVertexArrayObject;
  data: WebGLBuffer;
  shuffled: WebGLBuffer;
  bytes: number;
  usedInFrame: number;
}

export class GpuParticles {
  readonly #particles: Program;
  readonly #colours: WebGLTexture;
  readonly #ranksShown: WebGLTexture;
  readonly #buffers = new Map<Packed, PackBuffers>();
  #bufferBytes = 0;
  #frame = 0;
  #coloursOf: Uint8Array | null = null;
  #ranksOf: Uint8Array | null = null;

  constructor(readonly gl: WebGL2RenderingContext) {
    this.#particles = link(gl, PARTICLE_VERTEX, PARTICLE_FRAGMENT);
    this.#colours = exactTexture(gl);
    this.#ranksShown = exactTexture(gl);
  }

  draw(moment: Moment, groups: readonly Selected[]): void {
    const { gl } = this;
    const program = this.#particles;
    this.#frame++;
    gl.useProgram(program.handle);
    this.#textures(moment);
    gl.uniform1f(program.uniform("fade_ns"), moment.fadeNs);
    gl.uniform1f(program.uniform("unit_ns"), moment.scale.unitNs);
    gl.uniform1f(program.uniform("full_height"), logTopOf(moment.scale));
    gl.uniform1f(program.uniform("ranks"), moment.ranks);
    gl.uniform2f(program.uniform("plot_px"), moment.widthPx, moment.heightPx);
    gl.uniform1f(program.uniform("rim_px"), moment.rimPx);
    gl.uniform1f(program.uniform("size_px"), moment.sizePx);
    gl.uniform1f(program.uniform("core_px"), moment.sizePx);
    gl.uniform1f(program.uniform("running_size"), RUNNING_SIZE);
    gl.uniform3f(program.uniform("ink"), ...moment.ink);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (const selected of groups) this.#group(program, moment, selected);
    gl.bindVertexArray(null);
    this.#free();
  }

  #group(program: Program, moment: Moment, { packed, long, longFromNs, sampled, skipBeforeNs }: Selected): void {
    const { gl } = this;
    if (long + sampled === 0) return;
    const buffers = this.#hold(packed);
    gl.bindVertexArray(buffers.array);
    gl.uniform1f(program.uniform("now_ns"), moment.timeNs - packed.baseNs);
    gl.uniform1f(program.uniform("skip_before_ns"), Math.max(-NEVER, skipBeforeNs));
    gl.uniform1f(program.uniform("cleared_ns"), Math.max(-NEVER, moment.clearedNs - packed.baseNs));
    gl.uniform1f(program.uniform("shorter_than_ns"), Number.POSITIVE_INFINITY);
    if (long > 0) gl.drawArrays(gl.POINTS, 0, long);
    if (sampled > 0 && long < packed.length) {
      gl.uniform1f(program.uniform("shorter_than_ns"), longFromNs);
      gl.drawElements(gl.POINTS, sampled, gl.UNSIGNED_INT, 0);
    }
  }

  #hold(packed: Packed): PackBuffers {
    const before = this.#buffers.get(packed);
    if (before !== undefined) {
      before.usedInFrame = this.#frame;
      return before;
    }
    const { gl } = this;
    const array = gl.createVertexArray();
    const data = gl.createBuffer();
    const shuffled = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, data);
    gl.bufferData(gl.ARRAY_BUFFER, packed.data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, STRIDE * 4, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 2, gl.FLOAT, false, STRIDE * 4, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, shuffled);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, packed.shuffled, gl.STATIC_DRAW);
    const bytes = packed.length * BYTES_A_CALL;
    const buffers = { array, data, shuffled, bytes, usedInFrame: this.#frame };
    this.#buffers.set(packed, buffers);
    this.#bufferBytes += bytes;
    return buffers;
  }

  /** Frees the buffers that were not drawn for longest, until the others fit. Many small ones cost more than they hold. */
  #free(): void {
    if (this.#bufferBytes <= MOST_KEPT_BYTES && this.#buffers.size <= 256) return;
    const idle = [...this.#buffers].filter(([, buffers]) => buffers.usedInFrame < this.#frame);
    idle.sort(([, one], [, other]) => one.usedInFrame - other.usedInFrame);
    for (const [packed, buffers] of idle) {
      if (this.#bufferBytes <= MOST_KEPT_BYTES / 2 && this.#buffers.size <= 128) break;
      this.gl.deleteVertexArray(buffers.array);
      this.gl.deleteBuffer(buffers.data);
      this.gl.deleteBuffer(buffers.shuffled);
      this.#bufferBytes -= buffers.bytes;
      this.#buffers.delete(packed);
    }
  }

  #textures(moment: Moment): void {
    const { gl } = this;
    const program = this.#particles;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.#colours);
    if (this.#coloursOf !== moment.colours) {
      this.#coloursOf = moment.colours;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 64, 64, 0, gl.RGBA, gl.UNSIGNED_BYTE, moment.colours);
    }
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.#ranksShown);
    if (this.#ranksOf !== moment.ranksShown || this.#ranksOf === null) {
      this.#ranksOf = moment.ranksShown;
      const rows = Math.max(1, Math.ceil((moment.ranksShown?.length ?? 0) / 256));
      const texels = new Uint8Array(rows * 256);
      if (moment.ranksShown !== null) texels.set(moment.ranksShown.map((shown) => shown * 255));
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, 256, rows, 0, gl.RED, gl.UNSIGNED_BYTE, texels);
    }
    gl.uniform1i(program.uniform("colours"), 0);
    gl.uniform1i(program.uniform("ranks_shown"), 1);
    gl.uniform1i(program.uniform("some_ranks"), moment.ranksShown === null ? 0 : 1);
  }

  dispose(): void {
    for (const buffers of this.#buffers.values()) {
      this.gl.deleteVertexArray(buffers.array);
      this.gl.deleteBuffer(buffers.data);
      this.gl.deleteBuffer(buffers.shuffled);
    }
    this.#buffers.clear();
    this.gl.deleteTexture(this.#colours);
    this.gl.deleteTexture(this.#ranksShown);
    this.gl.deleteProgram(this.#particles.handle);
  }
}
