// Points through three.js: one draw call, shaded in the fragment shader. Knows no questions and no state of the page.

import {
  BufferAttribute, BufferGeometry, CustomBlending, GLSL3, NoBlending, OneFactor, OneMinusSrcAlphaFactor, PerspectiveCamera, Points, Scene as Root, ShaderMaterial, SrcAlphaFactor, WebGLRenderer,
} from "three";
import type { Lens } from "./camera";
import { NEAR } from "./camera";
import type { Scene } from "./model";
import type { Flat, Tones } from "./raster";

const VERTEX = `
precision highp float;
in vec3 tone;
in float size;
in float clear;
in float mark;
uniform float focal;
uniform float ratio;
uniform vec3 ground;
uniform vec3 ring;
flat out vec4 inner;
flat out vec4 outer;
flat out float edge;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = size > 0.0 ? projectionMatrix * place : vec4(2.0, 2.0, 2.0, 1.0);
  float wide = max(1.6, 2.0 * size * focal / max(${NEAR}, -place.z)) * ratio;
  gl_PointSize = wide;
  vec3 shade = mark == 2.0 ? mix(ground, tone, 0.22) : tone;
  // On small points a ring would hide the colour.
  bool isRinged = mark == 1.0 && wide > 10.0 * ratio;
  inner = vec4(shade, clear);
  outer = vec4(isRinged ? ring : shade * 0.72, clear);
  edge = isRinged ? 0.5 : wide < 4.0 ? 2.0 : 0.64;
}`;

/** All that is the same in a point comes from its vertex: there are far fewer of these. */
const FRAGMENT = `
precision mediump float;
flat in vec4 inner;
flat in vec4 outer;
flat in float edge;
out vec4 pixel;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float away = dot(at, at);
  if (away > 1.0) discard;
  pixel = away > edge ? outer : inner;
}`;

/** Sorting more points takes longer than a frame. */
const SORTED_MAX = 65_536;

export class Gpu {
  private readonly renderer: WebGLRenderer;
  private readonly root = new Root();
  private readonly camera = new PerspectiveCamera();
  private readonly material: ShaderMaterial;
  private points: Points<BufferGeometry, ShaderMaterial> | null = null;
  private scene: Scene | null = null;
  private order = new Uint32Array(0);
  private readonly size = { width: 0, height: 0, ratio: 0 };

  private readonly onLost = (event: Event): void => {
    event.preventDefault();
    this.lost();
  };

  constructor(readonly canvas: HTMLCanvasElement, context: WebGL2RenderingContext, private readonly lost: () => void) {
    this.renderer = new WebGLRenderer({ canvas, context, alpha: true });
    this.renderer.setClearColor(0x000000, 0);
    canvas.addEventListener("webglcontextlost", this.onLost);
    this.material = new ShaderMaterial({
      glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT,
      uniforms: { focal: { value: 1 }, ratio: { value: 1 }, ground: { value: [0, 0, 0] }, ring: { value: [1, 1, 1] } },
      blendSrc: SrcAlphaFactor, blendDst: OneMinusSrcAlphaFactor, blendSrcAlpha: OneFactor, blendDstAlpha: OneMinusSrcAlphaFactor,
    });
    this.camera.matrixAutoUpdate = false;
    this.camera.matrixWorldAutoUpdate = false;
    this.root.matrixWorldAutoUpdate = false;
  }

  show(scene: Scene): void {
    if (scene === this.scene) return;
    const before = this.scene;
    this.scene = scene;
    if (!this.points || before?.length !== scene.length) {
      this.points?.geometry.dispose();
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * scene.length), 3));
      geometry.setAttribute("tone", new BufferAttribute(new Uint8Array(3 * scene.length), 3, true));
      for (const name of ["size", "clear", "mark"]) geometry.setAttribute(name, new BufferAttribute(new Float32Array(scene.length), 1));
      this.root.clear();
      this.points = new Points(geometry, this.material);
      this.points.frustumCulled = false;
      this.root.add(this.points);
    }
    this.fill(this.points.geometry, scene);
    const isBlended = !scene.isOpaque;
    if (this.material.transparent !== isBlended) {
      this.material.transparent = isBlended;
      this.material.depthWrite = !isBlended;
      this.material.blending = isBlended ? CustomBlending : NoBlending;
      this.material.needsUpdate = true;
    }
    if (scene.isOpaque) this.points.geometry.setIndex(null);
  }

  private fill(geometry: BufferGeometry, scene: Scene): void {
    const column = (name: string): BufferAttribute => geometry.getAttribute(name) as BufferAttribute;
    const places = column("position").array as Float32Array;
    for (let point = 0; point < scene.length; point++) {
      // What has no place is not drawn, and must not make the others undrawable.
      places[3 * point] = finite(scene.x[point]);
      places[3 * point + 1] = finite(scene.y[point]);
      places[3 * point + 2] = finite(scene.z[point]);
    }
    (column("tone").array as Uint8Array).set(scene.rgb);
    (column("size").array as Float32Array).set(scene.radius);
    (column("clear").array as Float32Array).set(scene.opacity);
    (column("mark").array as Float32Array).set(scene.mark);
    for (const name of ["position", "tone", "size", "clear", "mark"]) column(name).needsUpdate = true;
  }

  draw(lens: Lens, flat: Flat, tones: Tones, ratio: number): void {
    const { right, up, back, eye, focal, size } = lens;
    if (this.size.width !== size.width || this.size.height !== size.height || this.size.ratio !== ratio) {
      Object.assign(this.size, size, { ratio });
      this.renderer.setDrawingBufferSize(size.width, size.height, ratio);
    }
    const { uniforms } = this.material;
    const set = (name: string, value: unknown): void => {
      const uniform = uniforms[name];
      if (uniform) uniform.value = value;
    };
    set("focal", focal);
    set("ratio", ratio);
    set("ground", tones.ground.map((channel) => channel / 255));
    set("ring", tones.ring.map((channel) => channel / 255));
    const along = (axis: readonly [number, number, number]): number => -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2]);
    this.camera.matrixWorldInverse.set(
      right[0], right[1], right[2], along(right), up[0], up[1], up[2], along(up), back[0], back[1], back[2], along(back), 0, 0, 0, 1,
    );
    this.camera.matrixWorld.copy(this.camera.matrixWorldInverse).invert();
    const near = NEAR;
    const far = Math.hypot(...eye) + 4;
    const [wide, high] = [(2 * focal) / size.width, (2 * focal) / size.height];
    this.camera.projectionMatrix.set(wide, 0, 0, 0, 0, high, 0, 0, 0, 0, -(far + near) / (far - near), (-2 * far * near) / (far - near), 0, 0, -1, 0);
    this.camera.projectionMatrixInverse.copy(this.camera.projectionMatrix).invert();
    if (this.scene && !this.scene.isOpaque) this.sort(flat.depth);
    this.renderer.render(this.root, this.camera);
  }

  /** The farthest first: what is clear shows what is behind it. */
  private sort(depth: Float32Array): void {
    const { scene, points } = this;
    if (!scene || !points || scene.length > SORTED_MAX) return;
    if (this.order.length !== scene.length) this.order = Uint32Array.from({ length: scene.length }, (_, point) => point);
    this.order.sort((one, other) => (depth[other] ?? 0) - (depth[one] ?? 0));
    const { geometry } = points;
    const index = geometry.getIndex();
    if (index?.count === scene.length) {
      (index.array as Uint32Array).set(this.order);
      index.needsUpdate = true;
    } else geometry.setIndex(new BufferAttribute(this.order.slice(), 1));
  }

  dispose(): void {
    this.points?.geometry.dispose();
    this.material.dispose();
    this.renderer.dispose();
    // Browsers limit the number of contexts, and free one late.
    this.canvas.removeEventListener("webglcontextlost", this.onLost);
    this.renderer.forceContextLoss();
  }
}

function finite(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? value : 0;
}
