// Shows the history with WebGL2: density and mean colour are textures, opacity is computed for each pixel.
import type { HistoryRaster } from "../panels/particles/history-raster";
import { exactTexture, link, type Program } from "./program";
import { HISTORY_FRAGMENT, HISTORY_VERTEX } from "./shaders";

export class GpuHistory {
  readonly #program: Program;
  readonly #density: WebGLTexture;
  readonly #colour: WebGLTexture;
  #shownVersion = -1;

  constructor(readonly gl: WebGL2RenderingContext) {
    this.#program = link(gl, HISTORY_VERTEX, HISTORY_FRAGMENT);
    this.#density = exactTexture(gl);
    this.#colour = exactTexture(gl);
  }

  /** Draws over the plot's part of the canvas: the given share of its width and height. */
  draw(raster: HistoryRaster, leastOpacity: number, insideWidth: number, insideHeight: number): void {
    if (raster.densest === 0) return;
    const { gl } = this;
    const program = this.#program;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.#density);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.#colour);
    if (this.#shownVersion !== raster.version) {
      const image = raster.image();
      if (image === null) return;
      this.#shownVersion = raster.version;
      const { columns, rows } = image;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, columns, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, image.colours);
      gl.activeTexture(gl.TEXTURE0);
      // Half floats would stop counting at 2,048.
      const density = Float32Array.from(image.density);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, columns, rows, 0, gl.RED, gl.FLOAT, density);
    }
    gl.useProgram(program.handle);
    gl.uniform1i(program.uniform("density"), 0);
    gl.uniform1i(program.uniform("mean_colour"), 1);
    gl.uniform1f(program.uniform("least_opacity"), leastOpacity);
    gl.uniform1f(program.uniform("log_densest"), Math.log(raster.densest));
    gl.uniform2f(program.uniform("inside"), insideWidth, insideHeight);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  dispose(): void {
    this.gl.deleteTexture(this.#density);
    this.gl.deleteTexture(this.#colour);
    this.gl.deleteProgram(this.#program.handle);
  }
}
