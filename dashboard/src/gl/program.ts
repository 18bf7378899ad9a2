// A linked program with its uniforms by name, and small textures.

export interface Program {
  handle: WebGLProgram;
  /** The place of a uniform; null when the compiler found it unused. */
  uniform(name: string): WebGLUniformLocation | null;
}

function compile(gl: WebGL2RenderingContext, type: number, text: string): WebGLShader {
  const shader = gl.createShader(type);
  if (shader === null) throw new Error("The GPU is gone.");
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  return shader;
}

export function link(gl: WebGL2RenderingContext, vertexText: string, fragmentText: string): Program {
  const vertex = compile(gl, gl.VERTEX_SHADER, vertexText);
  const fragment = compile(gl, gl.FRAGMENT_SHADER, fragmentText);
  const handle = gl.createProgram();
  gl.attachShader(handle, vertex);
  gl.attachShader(handle, fragment);
  gl.linkProgram(handle);
  if (gl.getProgramParameter(handle, gl.LINK_STATUS) !== true && !gl.isContextLost()) {
    const log = [gl.getProgramInfoLog(handle), gl.getShaderInfoLog(vertex), gl.getShaderInfoLog(fragment)];
    throw new Error(`The GPU refused a shader: ${log.filter(Boolean).join(" ")}`);
  }
  gl.deleteShader(vertex);
  gl.deleteShader(fragment);
  const places = new Map<string, WebGLUniformLocation | null>();
  return {
    handle,
    uniform(name) {
      let place = places.get(name);
      if (place === undefined) {
        place = gl.getUniformLocation(handle, name);
        places.set(name, place);
      }
      return place;
    },
  };
}

/** A texture that is read texel by texel, never filtered. */
export function exactTexture(gl: WebGL2RenderingContext): WebGLTexture {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return texture;
}
