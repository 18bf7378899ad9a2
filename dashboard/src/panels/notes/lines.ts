// What other programs added to the run, where views need it: colours by author, what is in sight, values as a line. Pure.

import type { Annotation, ValueSeries } from "../../feed/annotations";
import { REGION_COLOURS } from "../../palette/regions";
import { LEFT, type Scale, xOf } from "../timeline/scale";

/** Flags that stand closer are one. */
const APART = 4;

const colours = new Map<string, (typeof REGION_COLOURS)[number] | undefined>();

/** A program's colour: the same in every view and after every reload. */
export function authorColour(author: string, theme: "dark" | "light"): string {
  if (!colours.has(author)) {
    let hash = 0;
    for (const letter of author) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
    colours.set(author, REGION_COLOURS[hash % REGION_COLOURS.length]);
  }
  return colours.get(author)?.[theme] ?? "";
}

export interface Flag {
  x: number;
  /** Where what lasts ends. */
  to: number;
  notes: readonly Annotation[];
}

/** The notes in sight, from left to right; those of one place and author are one flag. */
export function flagsOf(notes: readonly Annotation[], scale: Scale): Flag[] {
  const right = LEFT + scale.width;
  const flags: (Flag & { notes: Annotation[] })[] = [];
  for (const note of [...notes].sort((a, b) => a.timeNs - b.timeNs)) {
    const [from, to] = [xOf(scale, note.timeNs), xOf(scale, note.untilNs)];
    if (to < LEFT || from > right) continue;
    const x = Math.max(LEFT, from);
    const last = flags.findLast((flag) => flag.notes[0]?.author === note.author && flag.notes[0].colour === note.colour);
    if (last && x - last.x < APART) {
      last.notes.push(note);
      last.to = Math.max(last.to, Math.min(right, to));
    } else flags.push({ x, to: Math.min(right, to), notes: [note] });
  }
  return flags;
}

/** Notes that a moment, or the time shortly before it, has. */
export function notesAt(notes: readonly Annotation[], fromNs: number, toNs: number): Annotation[] {
  return notes.filter(({ timeNs, untilNs }) => timeNs <= toNs && untilNs >= fromNs).sort((a, b) => b.timeNs - a.timeNs);
}

/** The last value that a series has until a moment. */
export function valueAt({ timeNs, value }: ValueSeries, ns: number): number | null {
  // The first point after the moment lies between the two.
  let [low, high] = [0, timeNs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timeNs[middle] ?? 0) <= ns) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : value[low - 1] ?? null;
}

/** A series as the points of a line between two heights, as far as it is in sight. */
export function seriesLine({ timeNs, value }: ValueSeries, scale: Scale, top: number, bottom: number): string {
  let [least, most] = [Infinity, -Infinity];
  for (const each of value) if (Number.isFinite(each)) [least, most] = [Math.min(least, each), Math.max(most, each)];
  const y = (each: number): number => (most > least ? bottom - ((each - least) / (most - least)) * (bottom - top) : (top + bottom) / 2);
  const order = [...timeNs.keys()].filter((at) => Number.isFinite(value[at]));
  const [from, to] = scale.span;
  // One point beyond each side leads the line to the edge.
  const isNear = (place: number): boolean => (timeNs[order[place + 1] ?? -1] ?? Infinity) >= from && (timeNs[order[place - 1] ?? -1] ?? -Infinity) <= to;
  return order.filter((_, place) => isNear(place)).map((at) => `${xOf(scale, timeNs[at] ?? 0).toFixed(1)},${y(value[at] ?? 0).toFixed(1)}`).join(" ");
}
