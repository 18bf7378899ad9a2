// Colours of MPI functions: families share a hue, members differ in lightness. Stable: from name and family alone.
import { channelsOf, hexOf, oklch } from "./colour";
import { FAMILIES, UNKNOWN_FAMILY, type Shades } from "./families";

export interface FunctionColour {
  light: string;
  dark: string;
}

const known = new Map<string, FunctionColour>();

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function shade({ hueDegrees, chroma, lightness }: Shades, member: number): string {
  return hexOf(oklch(lightness[member % lightness.length] ?? 0.6, chroma, hueDegrees));
}

export function colourOf(functionName: string, family: string): FunctionColour {
  const key = `${family} ${functionName}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const shades = FAMILIES[family] ?? FAMILIES[UNKNOWN_FAMILY]!;
  // Large-count variants (MPI_Send_c) look like what they are variants of.
  const name = functionName.replace(/^P?MPI_/, "").replace(/_c$/, "");
  // Nonblocking collectives have the colour of their blocking form where they have none of their own.
  const blocking = name.replace(/^I(.)/, (_, letter: string) => letter.toUpperCase());
  // So have those that are made once and started again and again.
  const made = name.replace(/_init$/, "");
  const member = shades.members[name] ?? shades.members[blocking] ?? shades.members[made] ?? hashOf(name) % shades.dark.lightness.length;
  const colour = { light: shade(shades.light, member), dark: shade(shades.dark, member) };
  known.set(key, colour);
  return colour;
}

/** Red, green and blue of 0..1 by function id, for canvases. */
export function themeColours(
  functions: ReadonlyMap<number, { name: string; family: string }>,
  theme: "light" | "dark",
): Map<number, [number, number, number]> {
  const colours = new Map<number, [number, number, number]>();
  for (const [id, { name, family }] of functions) colours.set(id, channelsOf(colourOf(name, family)[theme]));
  return colours;
}
