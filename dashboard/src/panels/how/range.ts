// What dragging and keys make of a selected range. Pure.

import type { Span } from "../../state/perspective";

/** What is dragged: an end, all of it, or a new one. */
export type Part = "from" | "to" | "both" | "new";

/** How many windows the shift key takes at once. */
const MANY = 10;

/** Inside the run, and never shorter than a window. */
export function moved(range: Span, part: Part, startNs: number, atNs: number, windowNs: number, edgeNs: number): Span {
  const at = Math.min(edgeNs, Math.max(0, atNs));
  const least = Math.min(windowNs, edgeNs);
  switch (part) {
    case "from": return [Math.max(0, Math.min(at, range[1] - least)), range[1]];
    case "to": return [range[0], Math.min(edgeNs, Math.max(at, range[0] + least))];
    case "both": {
      const by = Math.min(edgeNs - range[1], Math.max(-range[0], atNs - startNs));
      return [range[0] + by, range[1] + by];
    }
    case "new": {
      const start = Math.min(edgeNs, Math.max(0, startNs));
      const [from, to] = [Math.min(start, at), Math.max(start, at)];
      return to - from >= least ? [from, to] : [Math.max(0, Math.min(from, edgeNs - least)), Math.max(0, Math.min(from, edgeNs - least)) + least];
    }
  }
}

/** Null: the key means nothing here. */
export function stepped(range: Span, part: "from" | "to", key: string, isMany: boolean, windowNs: number, edgeNs: number): Span | null {
  const end = range[part === "from" ? 0 : 1];
  const by = windowNs * (isMany ? MANY : 1);
  const to = { ArrowLeft: end - by, ArrowDown: end - by, ArrowRight: end + by, ArrowUp: end + by, Home: 0, End: edgeNs }[key];
  return to === undefined ? null : moved(range, part, end, to, windowNs, edgeNs);
}
