// Pictures to keep: the view, or the history of the whole run, with title, axes and legend. Always drawn by the CPU:
// they are the same on every machine.
import { colourOf } from "../../palette";
import { count } from "../../words";
import { drawHistory } from "./cpu-history";
import { CpuParticles } from "./cpu-particles";
import { groundImage } from "./cpu-surface";
import { drawGround, GROUND, MARGIN_PX, plotSize, type GroundShape } from "./ground";
import type { HistoryImage } from "./history-raster";
import type { LegendEntry } from "./legend";
import type { Moment } from "./moment";
import type { Selected } from "./sampling";

export const RIM_PX = 8;
const TITLE_PX = 56;
const ENTRY_HEIGHT_PX = 20;
const PADDING_PX = 16;
const SWATCH_PX = 10;
/** A few milliseconds of work. */
const LINES_AT_ONCE = 256;
const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface PictureParts {
  /** Of the plot with its axes, in CSS pixels. */
  ground: GroundShape;
  pixelRatio: number;
  title: string;
  subtitle: string;
  legend: readonly LegendEntry[];
  hidden: ReadonlySet<number>;
  history: HistoryImage | null;
  leastOpacity: number;
  /** Particles; none in a picture of history alone. */
  moment: Moment | null;
  groups: readonly Selected[];
}

interface PlacedEntry {
  entry: LegendEntry;
  text: string;
  xPx: number;
  row: number;
}

/** Puts the entries of the legend into rows, in columns of equal width. */
export function legendRows(
  entries: readonly LegendEntry[], widthPx: number, textWidth: (text: string) => number,
): { placed: PlacedEntry[]; rows: number } {
  const texts = entries.map((entry) => `${entry.name}  ${count(entry.made)}`);
  const columnPx = Math.max(80, ...texts.map((text) => textWidth(text) + SWATCH_PX + 30));
  const columns = Math.max(1, Math.floor(widthPx / columnPx));
  const placed = entries.map((entry, at) => ({
    entry, text: texts[at] ?? "", xPx: (at % columns) * columnPx, row: Math.floor(at / columns),
  }));
  return { placed, rows: Math.ceil(entries.length / columns) };
}

/** Lets the page do other things between the parts of the work. */
export async function drawPicture(parts: PictureParts): Promise<HTMLCanvasElement> {
  const { ground, pixelRatio } = parts;
  const colours = GROUND[ground.theme];
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser has no canvas.");
  context.font = `12px ${FONT_FAMILY}`;
  const shown = parts.legend.filter(({ id }) => !parts.hidden.has(id));
  const legend = legendRows(shown, ground.widthPx - MARGIN_PX.left - PADDING_PX, (text) => context.measureText(text).width);
  const heightPx = TITLE_PX + ground.heightPx + legend.rows * ENTRY_HEIGHT_PX + PADDING_PX;
  canvas.width = Math.round(ground.widthPx * pixelRatio);
  canvas.height = Math.round(heightPx * pixelRatio);

  context.scale(pixelRatio, pixelRatio);
  context.fillStyle = colours.canvas;
  context.fillRect(0, 0, ground.widthPx, heightPx);
  context.translate(0, TITLE_PX);
  drawGround(context, ground);
  await drawPlot(context, parts);
  context.translate(0, -TITLE_PX);

  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillStyle = ground.theme === "dark" ? "#e8ebf0" : "#1b1f26";
  context.font = `600 15px ${FONT_FAMILY}`;
  context.fillText(parts.title, MARGIN_PX.left, 24, ground.widthPx - MARGIN_PX.left - PADDING_PX);
  context.font = `12px ${FONT_FAMILY}`;
  context.fillStyle = colours.text;
  context.fillText(parts.subtitle, MARGIN_PX.left, 42, ground.widthPx - MARGIN_PX.left - PADDING_PX);
  context.textBaseline = "middle";
  for (const { entry, text, xPx, row } of legend.placed) {
    const x = MARGIN_PX.left + xPx;
    const y = TITLE_PX + ground.heightPx + row * ENTRY_HEIGHT_PX + ENTRY_HEIGHT_PX / 2;
    context.fillStyle = colourOf(entry.name, entry.family)[ground.theme];
    context.beginPath();
    context.arc(x + SWATCH_PX / 2, y, SWATCH_PX / 2, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = colours.text;
    context.fillText(text, x + SWATCH_PX + 8, y);
  }
  return canvas;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function drawPlot(context: CanvasRenderingContext2D, parts: PictureParts): Promise<void> {
  const { ground, pixelRatio } = parts;
  const image = groundImage(ground, RIM_PX, pixelRatio);
  const rimPx = Math.round(RIM_PX * pixelRatio);
  for (let line = 0; parts.history !== null && line < image.height; line += LINES_AT_ONCE) {
    await pause();
    drawHistory(image, parts.history, parts.leastOpacity, rimPx, line, line + LINES_AT_ONCE);
  }
  if (parts.moment !== null) {
    const moment = { ...parts.moment, rimPx, widthPx: image.width - 2 * rimPx, heightPx: image.height - 2 * rimPx };
    const scaled = { ...moment, sizePx: (parts.moment.sizePx * moment.widthPx) / parts.moment.widthPx };
    const particles = new CpuParticles();
    for (const group of parts.groups) {
      await pause();
      particles.draw(image, scaled, [group]);
    }
  }
  const left = Math.round((MARGIN_PX.left - RIM_PX) * pixelRatio);
  const top = Math.round((TITLE_PX + MARGIN_PX.top - RIM_PX) * pixelRatio);
  context.putImageData(image, left, top);
}

/** The shape of the grains of a history picture: one or two CSS pixels each. */
export function grainsOf(ground: GroundShape): { columns: number; rows: number } {
  const plot = plotSize(ground);
  const grainPx = plot.widthPx / Math.max(1, ground.ranks) >= 3 ? 2 : 1;
  return {
    columns: Math.max(1, Math.floor(plot.widthPx / grainPx)),
    rows: Math.max(1, Math.floor(plot.heightPx / grainPx)),
  };
}
