// Small tables that both renderers look functions and ranks up in. Made anew only when what they say changes.
import { themeColours } from "../../palette";
import { count } from "../../words";
import { MOST_FUNCTIONS } from "./moment";
import type { ParticleFrame } from "../view";

export interface Tables {
  /** The same exactly while the tables stay the same. */
  key: string;
  /** By function. */
  colours: Uint8Array;
  /** By rank; null when all are shown. */
  ranksShown: Uint8Array | null;
}

export const NO_TABLES: Tables = { key: "", colours: new Uint8Array(0), ranksShown: null };

/** The tables of a frame: those before where they say the same. */
export function tablesOf(frame: ParticleFrame, before: Tables): Tables {
  const key = tablesKey(frame);
  return key === before.key ? before : { key, colours: colourTable(frame), ranksShown: rankTable(frame) };
}

/** A text that is the same exactly while the tables stay the same. */
function tablesKey(frame: ParticleFrame): string {
  const hidden = [...frame.hidden].sort((one, other) => one - other).join();
  const ranges = frame.rankRanges === null ? "all" : frame.rankRanges.map(([first, last]) => `${first}-${last}`).join();
  return `${frame.theme} ${frame.functions.size} ${hidden} ${frame.ranks} ${ranges}`;
}

/** A number that changes with the content: the array may be made anew for every frame. */
export function contentOf(values: Uint32Array): number {
  let hash = values.length;
  for (const value of values) hash = Math.imul(hash ^ value, 0x01000193);
  return hash;
}

/** Colours by function id, as bytes; hidden and unknown functions stay all 0. */
function colourTable(frame: ParticleFrame): Uint8Array {
  const table = new Uint8Array(MOST_FUNCTIONS * 4);
  for (const [id, colour] of themeColours(frame.functions, frame.theme)) {
    if (id >= MOST_FUNCTIONS || frame.hidden.has(id)) continue;
    for (const [part, channel] of colour.entries()) table[id * 4 + part] = Math.round(channel * 255);
    table[id * 4 + 3] = 255;
  }
  return table;
}

/** 1 for each rank that is shown; null when all are. */
function rankTable(frame: ParticleFrame): Uint8Array | null {
  if (frame.rankRanges === null) return null;
  const table = new Uint8Array(frame.ranks);
  for (const [first, last] of frame.rankRanges) table.fill(1, first, last + 1);
  return table;
}

/** The diameter of particles: 2 pixels where ranks stand dense, 4 for ranks of 12 pixels, 6.5 for those of 300. */
export function particleSizePx(slotPx: number): number {
  return 2 + 0.55 * Math.log2(1 + slotPx);
}

/**
 * How many calls are inside MPI. Of very many the longest are listed; at a time that is not now, only those of the list
 * that had begun by then are known.
 */
export function insideWords(total: number, listed: number, live: boolean): string {
  const inside = live ? total : listed;
  if (inside === 0) return "";
  return `${count(inside)} inside MPI${listed < inside ? `, the longest ${count(listed)} drawn` : ""}`;
}

/** What is left out because somebody chose so. */
export function filterWords(frame: Pick<ParticleFrame, "functions" | "hidden" | "rankRanges">): string {
  const parts: string[] = [];
  if (frame.rankRanges !== null) {
    const names = frame.rankRanges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
    const word = names.length === 1 && !names[0]?.includes("-") ? "rank" : "ranks";
    parts.push(names.length === 0 ? "no ranks" : `only ${word} ${names.join(", ")}`);
  }
  const hidden = [...frame.functions.values()].filter(({ id, calls }) => calls > 0 && frame.hidden.has(id)).length;
  if (hidden > 0) parts.push(`${hidden} function${hidden === 1 ? "" : "s"} hidden`);
  return parts.join(", ");
}

/** What the view puts together for lack of width; empty when every rank has a pixel. */
export function aggregationWords(ranks: number, widthPx: number, historyRanksPerRow: number): string {
  const ranksPerPixel = ranks / Math.max(1, widthPx);
  const parts: string[] = [];
  if (ranksPerPixel > 1) parts.push(`${ranksPerPixel.toFixed(1)} ranks share a pixel`);
  if (historyRanksPerRow > 1) parts.push(`history by ${historyRanksPerRow} ranks`);
  return parts.join(", ");
}
