// What particles stand on: grid, segments of ranks, lines between nodes, and all text of the plot.
import { count } from "../../words";
import { leastSegmentPx, ranksPerNode, ranksPerSegment, segmentsOf, separatorsOf } from "./layout";
import { gridLines, type Scale } from "./scale";

/** Room around the plot, in CSS pixels. */
export const MARGIN_PX = { left: 58, right: 14, top: 26, bottom: 48 } as const;
const SEGMENT_PX = 7;
const LABEL_PX = 12;
const DIGIT_PX = 7;
const LINE_HEIGHT_PX = 17;
const FONT = `${LABEL_PX}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;

export interface GroundColours {
  canvas: string;
  grid: string;
  fine: string;
  node: string;
  segments: readonly [string, string];
  text: string;
  band: string;
}

/** Fixed, because a canvas must have them for the other theme too (exports) and tests hold their contrast. */
export const GROUND: Record<"light" | "dark", GroundColours> = {
  dark: {
    canvas: "#14171b",
    grid: "#2b3037",
    fine: "#1d2126",
    node: "#3a424c",
    segments: ["#7c8490", "#4a515c"],
    text: "#a4acb9",
    band: "#171b1f",
  },
  light: {
    canvas: "#ffffff",
    grid: "#dcdfe4",
    fine: "#eceef1",
    node: "#c3c8d0",
    segments: ["#8a919c", "#bcc2ca"],
    text: "#545c69",
    band: "#f8f9fa",
  },
};

export interface GroundShape {
  /** The whole canvas in CSS pixels; the plot is inside MARGIN_PX. */
  widthPx: number;
  heightPx: number;
  scale: Scale;
  ranks: number;
  nodes: Uint32Array;
  theme: "light" | "dark";
}

export function plotSize(shape: { widthPx: number; heightPx: number }): { widthPx: number; heightPx: number } {
  return {
    widthPx: Math.max(1, shape.widthPx - MARGIN_PX.left - MARGIN_PX.right),
    heightPx: Math.max(1, shape.heightPx - MARGIN_PX.top - MARGIN_PX.bottom),
  };
}

/** Says how ranks are grouped below the plot. */
export function rankWords(ranks: number, perSegment: number, separatedNodes: number): string {
  if (ranks === 0) return "rank";
  const parts = [perSegment === 1 ? "rank" : `rank, ${count(perSegment)} a segment`];
  if (separatedNodes === 1) parts.push("lines between nodes");
  if (separatedNodes > 1) parts.push(`a line every ${count(separatedNodes)} nodes`);
  return parts.join("; ");
}

/** Draws in CSS pixels; the caller scales the context for the screen. */
export function drawGround(context: CanvasRenderingContext2D, shape: GroundShape): void {
  const colours = GROUND[shape.theme];
  const plot = plotSize(shape);
  const right = MARGIN_PX.left + plot.widthPx;
  const bottom = MARGIN_PX.top + plot.heightPx;
  context.fillStyle = colours.canvas;
  context.fillRect(0, 0, shape.widthPx, shape.heightPx);
  context.font = FONT;
  context.textBaseline = "middle";
  const perNode = ranksPerNode(shape.nodes);
  const perSegment = ranksPerSegment(shape.ranks, plot.widthPx, leastSegmentPx(shape.ranks, DIGIT_PX), perNode);
  const segments = shape.ranks === 0 ? [] : segmentsOf(shape.ranks, perSegment);
  const xOf = (rank: number): number => MARGIN_PX.left + Math.round((rank / Math.max(1, shape.ranks)) * plot.widthPx);

  context.fillStyle = colours.band;
  for (const [at, { first, end }] of segments.entries()) {
    if (at % 2 === 1) context.fillRect(xOf(first), MARGIN_PX.top, xOf(end) - xOf(first), plot.heightPx);
  }
  const separators = separatorsOf(shape.nodes, plot.widthPx);
  // Many lines would weigh more than what they separate.
  context.fillStyle = separators.before.length * 48 > plot.widthPx ? colours.grid : colours.node;
  for (const rank of separators.before) context.fillRect(xOf(rank), MARGIN_PX.top, 1, plot.heightPx + SEGMENT_PX + 5);

  context.textAlign = "right";
  for (const { height, label } of gridLines(shape.scale, plot.heightPx, LINE_HEIGHT_PX)) {
    const y = Math.round(bottom - height * plot.heightPx);
    context.fillStyle = label === "" ? colours.fine : colours.grid;
    context.fillRect(MARGIN_PX.left, y, plot.widthPx, 1);
    context.fillStyle = colours.text;
    if (label !== "") context.fillText(label, MARGIN_PX.left - 8, y + 0.5);
  }

  context.textAlign = "left";
  for (const [at, { first, end }] of segments.entries()) {
    context.fillStyle = colours.segments[at % 2 === 0 ? 0 : 1];
    context.fillRect(xOf(first), bottom + 4, Math.max(1, xOf(end) - xOf(first)), SEGMENT_PX);
    const label = String(first);
    const widthPx = label.length * DIGIT_PX;
    if (xOf(first) + widthPx > right + MARGIN_PX.right) continue;
    // The last segment may be shorter than its label; what is cut off or runs into nothing is not drawn.
    if (at > 0 && end - first < perSegment && xOf(end) - xOf(first) < widthPx) continue;
    context.fillStyle = colours.text;
    context.fillText(label, xOf(first), bottom + 21);
  }
  context.fillStyle = colours.text;
  context.fillText("time in the call", MARGIN_PX.left, 11);
  context.fillText(rankWords(shape.ranks, perSegment, separators.nodes), MARGIN_PX.left, bottom + 38);
}
