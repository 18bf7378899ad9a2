// OKLCH to sRGB and the contrast of two colours. Colours are triples of 0..1, linear unless a name says encoded.

export type Triple = readonly [number, number, number];

export function decodeChannel(encoded: number): number {
  return encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4;
}

export function encodeChannel(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}

function toLinear(lightness: number, chroma: number, hueDegrees: number): Triple {
  const a = chroma * Math.cos((hueDegrees * Math.PI) / 180);
  const b = chroma * Math.sin((hueDegrees * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** The colour as linear light; where sRGB has no such chroma, with the most it has at this lightness and hue. */
export function oklch(lightness: number, chroma: number, hueDegrees: number): Triple {
  const fits = (colour: Triple): boolean => colour.every((channel) => channel >= -0.0005 && channel <= 1.0005);
  const wanted = toLinear(lightness, chroma, hueDegrees);
  let low = 0;
  let high = chroma;
  if (!fits(wanted)) {
    for (let step = 0; step < 14; step++) {
      const middle = (low + high) / 2;
      if (fits(toLinear(lightness, middle, hueDegrees))) low = middle;
      else high = middle;
    }
  }
  const [red, green, blue] = fits(wanted) ? wanted : toLinear(lightness, low, hueDegrees);
  const clamp = (channel: number): number => Math.min(1, Math.max(0, channel));
  return [clamp(red), clamp(green), clamp(blue)];
}

export function hexOf(linear: Triple): string {
  const two = (channel: number): string =>
    Math.round(encodeChannel(channel) * 255)
      .toString(16)
      .padStart(2, "0");
  return `#${two(linear[0])}${two(linear[1])}${two(linear[2])}`;
}

/** #rrggbb as encoded channels of 0..1. */
export function channelsOf(hex: string): [number, number, number] {
  const at = (from: number): number => Number.parseInt(hex.slice(from, from + 2), 16) / 255;
  return [at(1), at(3), at(5)];
}

export function linearOf(hex: string): Triple {
  const [red, green, blue] = channelsOf(hex);
  return [decodeChannel(red), decodeChannel(green), decodeChannel(blue)];
}

function luminance([red, green, blue]: Triple): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of WCAG: 1 to 21. */
export function contrast(oneHex: string, otherHex: string): number {
  const one = luminance(linearOf(oneHex));
  const other = luminance(linearOf(otherHex));
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
