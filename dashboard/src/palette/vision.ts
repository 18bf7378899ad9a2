// How far apart two colours look, and to whom: what the tests hold the palette against.
import { linearOf, type Triple } from "./colour";

/** Full dichromacy after Machado, Oliveira and Fernandes (2009), for linear light. */
const DICHROMACY = {
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
  usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
} as const;

export type Vision = keyof typeof DICHROMACY;
export const VISIONS = Object.keys(DICHROMACY) as Vision[];

function seen([red, green, blue]: Triple, vision: Vision): Triple {
  const m = DICHROMACY[vision];
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  return [
    clamp(m[0] * red + m[1] * green + m[2] * blue),
    clamp(m[3] * red + m[4] * green + m[5] * blue),
    clamp(m[6] * red + m[7] * green + m[8] * blue),
  ];
}

function oklab([red, green, blue]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** The distance in OKLab, where black and white are 1 apart and about 0.02 is just noticeable. */
export function distance(oneHex: string, otherHex: string, vision: Vision): number {
  const one = oklab(seen(linearOf(oneHex), vision));
  const other = oklab(seen(linearOf(otherHex), vision));
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}
