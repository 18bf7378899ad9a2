// The shaders, in GLSL ES 3.00. What they compute is in panels/particles/moment.ts and history-raster.ts too, and tested there.

/** Particles: all motion is here, from the age of the call; the CPU only says what time it is. */
export const PARTICLE_VERTEX = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 time_ns;      // start and end after the tile's base; height
layout(location = 1) in vec2 place;        // rank + place in its slot; function
uniform float now_ns;                      // after the tile's base
uniform float fade_ns;
uniform float unit_ns;
uniform float full_height;                 // ln(1 + top / unit)
uniform float skip_before_ns;
uniform float cleared_ns;
uniform float shorter_than_ns;             // longer ones were drawn from the front of the buffer
uniform float ranks;
uniform vec2 plot_px;
uniform float rim_px;
uniform float size_px;
uniform float running_size;
uniform bool some_ranks;
uniform lowp sampler2D colours;            // 64 x 64, by function id
uniform lowp sampler2D ranks_shown;        // 256 wide
flat out vec3 colour;
flat out float strength;
flat out float running;
flat out float diameter_px;

void main() {
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = 1.0;
  float age_ns = now_ns - time_ns.x;
  float since_ns = now_ns - time_ns.y;
  if (age_ns < 0.0 || since_ns >= fade_ns || time_ns.x < skip_before_ns || time_ns.z >= shorter_than_ns) return;
  if (since_ns >= 0.0 && time_ns.y <= cleared_ns) return;
  int id = int(place.y);
  if (id >= 4096) return;
  vec4 looked_up = texelFetch(colours, ivec2(id & 63, id >> 6), 0);
  if (looked_up.a == 0.0) return;
  int rank = int(place.x);
  if (some_ranks && texelFetch(ranks_shown, ivec2(rank & 255, rank >> 8), 0).r == 0.0) return;
  colour = looked_up.rgb;
  running = since_ns < 0.0 ? 1.0 : 0.0;
  strength = running > 0.0 ? 1.0 : 1.0 - since_ns / fade_ns;
  float height = min(1.0, log(1.0 + min(age_ns, time_ns.z) / unit_ns) / full_height);
  vec2 at_px = rim_px + vec2(place.x / ranks, height) * plot_px;
  gl_Position = vec4(at_px / (plot_px + 2.0 * rim_px) * 2.0 - 1.0, 0.0, 1.0);
  diameter_px = size_px * (running > 0.0 ? running_size : 1.0) + 1.0;
  gl_PointSize = diameter_px;
}`;

/** A disc with a soft edge; while the call runs with a bright core and a halo. Colours are multiplied by their cover. */
export const PARTICLE_FRAGMENT = `#version 300 es
precision mediump float;
flat in vec3 colour;
flat in float strength;
flat in float running;
flat in float diameter_px;
uniform float core_px;
uniform vec3 ink;
out vec4 pixel;

void main() {
  float away_px = length(gl_PointCoord - 0.5) * diameter_px;
  float core_radius_px = core_px * (running > 0.0 ? 1.25 : 1.0) * 0.5;
  float core = clamp(core_radius_px + 0.5 - away_px, 0.0, 1.0);
  float radius_px = diameter_px * 0.5;
  float halo = running * 0.42 * clamp((radius_px - away_px) / max(0.5, radius_px - core_radius_px), 0.0, 1.0);
  float cover = (core + (1.0 - core) * halo) * strength;
  pixel = vec4(mix(colour, ink, running * 0.85 * clamp(1.25 * (1.0 - away_px / core_radius_px), 0.0, 1.0)) * cover, cover);
}`;

export const HISTORY_VERTEX = `#version 300 es
precision highp float;
uniform vec2 inside;                       // the plot's part of the canvas
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = corner;
  gl_Position = vec4((corner * 2.0 - 1.0) * inside, 0.0, 1.0);
}`;

/** P = C * (O_min + (1 - O_min) * ln(D) / ln(D_max)). */
export const HISTORY_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
uniform highp sampler2D density;
uniform lowp sampler2D mean_colour;
uniform float least_opacity;
uniform float log_densest;
out vec4 pixel;

void main() {
  ivec2 size = textureSize(density, 0);
  ivec2 texel = min(ivec2(at * vec2(size)), size - 1);
  float calls = texelFetch(density, texel, 0).r;
  if (calls < 0.5) discard;
  float opacity = log_densest > 0.0 ? least_opacity + (1.0 - least_opacity) * log(calls) / log_densest : 1.0;
  opacity = min(opacity, 1.0);
  pixel = vec4(texelFetch(mean_colour, texel, 0).rgb * opacity, opacity);
}`;
