// Runs inside the page, before its own scripts: notes when the tab 3D shows its first points, and draws its points with
// their shader and with a trivial one in turn.

export function watchPoints() {
  const seen = (globalThis.__points = { clickMs: null, points: null, colour: null, first: null, rounds: 0, shader: null });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#tab-space")) seen.clickMs = event.timeStamp;
  }, true);
  const small = new OffscreenCanvas(240, 150);
  const flat = small.getContext("2d", { willReadFrequently: true });

  /** Whether a canvas shows anything, and anything in colour; names and the floor are on others. */
  function look(canvas) {
    flat.clearRect(0, 0, small.width, small.height);
    flat.drawImage(canvas, 0, 0, small.width, small.height);
    const { data } = flat.getImageData(0, 0, small.width, small.height);
    let [any, coloured] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 40) continue;
      any++;
      if (Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 40) coloured++;
    }
    return { any, coloured };
  }

  /** After a frame in which points were drawn: those of a graphics processor are waited for, by reading one. */
  function note() {
    if (drawn.count === drawn.seen) return;
    drawn.seen = drawn.count;
    const { canvas, gl } = drawn;
    gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    const atMs = performance.now() - (seen.clickMs ?? 0);
    const { any, coloured } = look(canvas);
    if (any > 20) seen.points ??= atMs;
    if (coloured > 20) seen.colour ??= atMs;
    if (coloured > 20) seen.first ??= { points: seen.points, colour: seen.colour, by: gl ? "WebGL" : "the CPU" };
  }

  const drawn = { count: 0, seen: 0, canvas: null, gl: null };
  const isOurs = (canvas) => canvas instanceof HTMLCanvasElement && canvas.closest(".space-picture") !== null;
  const putImageData = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...all) {
    putImageData.apply(this, all);
    if (isOurs(this.canvas)) Object.assign(drawn, { count: drawn.count + 1, canvas: this.canvas, gl: null });
  };
  const request = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (callback) => request((time) => {
    callback(time);
    if (seen.first === null) note();
  });

  /** The same points at the same places and as large, in one colour. */
  const TRIVIAL = {
    vertex: `#version 300 es
precision highp float;
in vec3 position;
in float size;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform float focal, ratio;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  gl_PointSize = max(1.6, 2.0 * size * focal / -place.z) * ratio;
}`,
    fragment: `#version 300 es
precision mediump float;
out vec4 pixel;
void main() {
  pixel = vec4(0.2, 0.6, 0.4, 1.0);
}`,
  };

  function trivialOf(gl, own) {
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, TRIVIAL.vertex], [gl.FRAGMENT_SHADER, TRIVIAL.fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    for (const name of ["position", "size"]) gl.bindAttribLocation(program, gl.getAttribLocation(own, name), name);
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    const value = (name) => gl.getUniform(own, gl.getUniformLocation(own, name));
    for (const name of ["modelViewMatrix", "projectionMatrix"]) gl.uniformMatrix4fv(gl.getUniformLocation(program, name), false, value(name));
    for (const name of ["focal", "ratio"]) gl.uniform1f(gl.getUniformLocation(program, name), value(name));
    return program;
  }

  const drawArrays = WebGL2RenderingContext.prototype.drawArrays;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, first, length) {
    drawArrays.call(this, mode, first, length);
    if (mode !== this.POINTS || !isOurs(this.canvas)) return;
    Object.assign(drawn, { count: drawn.count + 1, canvas: this.canvas, gl: this });
    if (seen.rounds === 0) return;
    const rounds = seen.rounds;
    seen.rounds = 0;
    const own = this.getParameter(this.CURRENT_PROGRAM);
    const trivial = trivialOf(this, own);
    const pixel = new Uint8Array(4);
    const measure = (program) => {
      this.useProgram(program);
      const beginMs = performance.now();
      this.clear(this.COLOR_BUFFER_BIT | this.DEPTH_BUFFER_BIT);
      drawArrays.call(this, mode, first, length);
      // What is read back has been drawn.
      this.readPixels(0, 0, 1, 1, this.RGBA, this.UNSIGNED_BYTE, pixel);
      return performance.now() - beginMs;
    };
    for (const program of [own, trivial]) measure(program);
    seen.shader = Array.from({ length: rounds }, () => [measure(own), measure(trivial)]);
    this.useProgram(own);
    this.deleteProgram(trivial);
  };
}
