// The three views of how messages went, in sentences with numbers: between nodes and within, how evenly over ranks, and how
// steadily. Pure.

import type { Courses, SizeClass } from "../feed/courses";
import { bytes, clock, count, counted, duration, significant, unbroken } from "./index";
import { part } from "./found";

export interface Totals { inter: number; intra: number; interBytes: number; intraBytes: number }

const sum = (column: Float64Array): number => column.reduce((total, value) => total + value, 0);

export function totals({ inter, intra, interBytes, intraBytes }: Courses): Totals {
  return { inter: sum(inter), intra: sum(intra), interBytes: sum(interBytes), intraBytes: sum(intraBytes) };
}

const NONE = "No message arrived in it.";
const ratio = (value: number): string => significant(value);
const share = (value: number): string => unbroken(part(value));
const when = (ns: number, widthNs: number): string => clock(ns, widthNs >= 1e9 ? 0 : widthNs >= 1e6 ? 3 : 6);

/** What of the traffic goes between nodes. */
export function mappingSentence(courses: Courses): string {
  const { inter, intra, interBytes, intraBytes } = totals(courses);
  const messages = inter + intra;
  if (messages === 0) return NONE;
  if (inter === 0) return `All ${unbroken(count(messages))} messages stay within nodes.`;
  const rest = interBytes + intraBytes;
  const load = rest > 0 ? ` and ${share(interBytes / rest)} of their bytes` : "";
  const amounts = rest > 0 ? `, ${unbroken(bytes(interBytes))} of ${unbroken(bytes(rest))}` : "";
  return `${share(inter / messages)} of the messages${load} go between nodes: ${unbroken(count(inter))} of ${unbroken(count(messages))}${amounts}.`;
}

export interface Furthest { window: number; rank: number; load: number; uneven: number }

/** The rank that was furthest from the mean in any window; null where nobody was. */
export function furthest({ greatestLoad, greatestRank, uneven }: Courses): Furthest | null {
  let found: Furthest | null = null;
  greatestLoad.forEach((load, window) => {
    if (load > (found?.load ?? 0)) found = { window, rank: greatestRank[window] ?? 0, load, uneven: uneven[window] ?? Number.NaN };
  });
  return found;
}

/** How far ranks are from the mean of their messages, on average over the windows in which there were any. */
export function meanUneven({ uneven }: Courses): number {
  const known = uneven.filter((value) => !Number.isNaN(value));
  return known.length > 0 ? sum(known) / known.length : Number.NaN;
}

/** How evenly messages are spread over ranks; what follows the name of the rank stands apart, since the name can be clicked. */
export function patternSentence(courses: Courses): { before: string; rank: number | null; after: string } {
  const mean = meanUneven(courses);
  if (Number.isNaN(mean)) return { before: NONE, rank: null, after: "" };
  const far = furthest(courses);
  const windows = `windows of ${unbroken(duration(courses.widthNs))}`;
  if (!far) return { before: `In ${windows} all ranks that communicate send and receive equally many messages.`, rank: null, after: "" };
  return {
    before: `In ${windows} a rank is on average ${share(mean)} away from the mean number of messages sent and received. Furthest was `,
    rank: far.rank,
    after: ` at ${when(courses.fromNs + far.window * courses.widthNs, courses.widthNs)}: ${farWords(far)}.`,
  };
}

/** How far a rank is from the mean: in mean deviations, and in means. */
export function farWords({ load, uneven }: { load: number; uneven: number }): string {
  return `${ratio(load)} times as far from the mean as ranks are on average, by ${ratio(load * uneven)} times the mean`;
}

export interface Spread { least: number; most: number; mostAt: number; windows: number }

/** Between what a size varied; null where it was in no window. */
export function spread({ slow, windows }: Courses, size: number): Spread | null {
  let found: Spread | null = null;
  for (let window = 0; window < windows; window++) {
    const value = slow[size * windows + window] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const now: Spread = found ?? { least: value, most: value, mostAt: window, windows: 0 };
    found = { least: Math.min(now.least, value), most: Math.max(now.most, value), mostAt: value > now.most ? window : now.mostAt, windows: now.windows + 1 };
  }
  return found;
}

/** "512 B to 1 KiB"; a class of one size is that size. */
export function sizeWords({ fromBytes, toBytes }: Pick<SizeClass, "fromBytes" | "toBytes">): string {
  return unbroken(toBytes - fromBytes <= 1 ? size(fromBytes) : `${size(fromBytes)} to ${size(toBytes)}`);
}

/** Whole numbers of a unit without zeros that say nothing. */
function size(value: number): string {
  return bytes(value).replace(/\.0+(?= )|(\.\d*?[1-9])0+(?= )/, "$1");
}

/** How steadily messages of a size took what they took. */
export function backgroundSentence(courses: Courses): string {
  const spreads = courses.sizes.map((_, at) => ({ at, found: spread(courses, at) })).flatMap(({ at, found }) => (found ? [{ at, ...found }] : []));
  if (spreads.length === 0) return courses.messages > 0 ? "Of no size are there messages whose time is known." : NONE;
  const worst = spreads.reduce((found, each) => (each.most > found.most ? each : found));
  const name = (at: number): string => sizeWords(courses.sizes[at] ?? { fromBytes: 0, toBytes: 1 });
  const worstWords = `Messages of ${name(worst.at)} took up to ${ratio(worst.most)} times their mean, at ${when(courses.fromNs + worst.mostAt * courses.widthNs, courses.widthNs)}`;
  const calm = spreads.find(({ at }) => at === courses.calmest && at !== worst.at);
  return calm ? `${worstWords}; the calmest, of ${name(calm.at)}, ${ratio(calm.least)} to ${ratio(calm.most)} times.` : `${worstWords}.`;
}

/** Which messages the sizes are of, and what is left out of all three. */
export function courseNotes({ sizes, messages, leftOut }: Courses): string {
  const within = sizes.length > 0 && sizes.every(({ isInter }) => !isInter);
  const notes = [
    within ? "There are no messages between nodes, so sizes are of messages within them." : "",
    leftOut > 0 ? `${unbroken(counted(leftOut, "message is", "messages are"))} not in these figures, of ${unbroken(count(messages + leftOut))}.` : "",
  ];
  return notes.filter(Boolean).join(" ");
}
