// The picture of call paths: a row for each level, functions as wide as what they lead to.

import { useRef } from "preact/hooks";
import { measured, partWords } from "../../words/paths";
import { type Area, ChartCanvas, type Hit } from "../chart/chart-canvas";
import type { Colours } from "../colours";
import { type Block, blocksOf, type Measure, type PathNode, type PathTree, sorted, type Sums } from "./tree";

export const ROW_PIXELS = 22;
const MARGINS = { left: 0, right: 0, top: 0, bottom: 0 };
const PADDING = 5;
/** What is narrower is not drawn, nor what it leads to. */
const LEAST_PIXELS = 0.75;

interface FlameProps {
  tree: PathTree; focus: PathNode; measure: Measure; chosen: PathNode | null; colours: ReadonlyMap<number, string>;
  choose(node: PathNode | null): void;
  /** Fills the width with it. */
  open(node: PathNode): void;
}

export function Flame({ tree, focus, measure, chosen, colours, choose, open }: FlameProps) {
  const rows = tree.depth + 1;
  const kept = useRef<{ width: number; focus: PathNode; measure: Measure; blocks: Block[] } | null>(null);
  /** The same until something about them changes: the pointer asks with every move. */
  const visible = ({ width }: Area): Block[] => {
    const { current } = kept;
    if (current?.width === width && current.focus === focus && current.measure === measure) return current.blocks;
    const blocks = blocksOf(focus, measure, LEAST_PIXELS / width);
    kept.current = { width, focus, measure, blocks };
    return blocks;
  };
  const find = (x: number, y: number, area: Area): PathNode | null => {
    const row = Math.floor(y / ROW_PIXELS);
    return visible(area).find((block) => block.row === row && x >= block.from * area.width && x < block.to * area.width)?.node ?? null;
  };
  const keys = (event: KeyboardEvent): void => {
    const next = stepped(chosen ?? focus, event.key, measure);
    if (event.key === "Enter" && chosen) open(chosen);
    else if (event.key === "Escape" && (chosen || focus !== tree.root)) { choose(null); open(tree.root); }
    else if (next) choose(next);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  let pressed: PathNode | null = null;
  return (
    <div class="flame" style={{ height: `${rows * ROW_PIXELS}px` }} tabIndex={0} role="application" onKeyDown={keys} onDblClick={() => pressed && open(pressed)}
      aria-label="Call paths: arrows go from function to function, Enter fills the width with one, Escape shows all">
      <ChartCanvas label="Functions from main to MPI, as wide as what they lead to" inputs={[tree, focus, measure, chosen, colours]} margins={MARGINS}
        draw={(context, area, inks) => visible(area).forEach((block) => draw(context, area, inks, block, { focus, measure, chosen, colours }))}
        hit={(x, y, area) => hitOf(find(x, y, area), measure, tree.root.sums)}
        choose={(hit) => choose((pressed = tree.nodes[hit?.at ?? -1] ?? null))} />
    </div>
  );
}

function hitOf(node: PathNode | null, measure: Measure, total: Sums): Hit | null {
  return node && { rank: null, ranks: null, at: node.number, tip: { title: titleOf(node), rows: tipRows(node, measure, total) } };
}

export function titleOf({ function: of, parent }: PathNode): string {
  return parent ? (of.mpi === null ? `${of.name}()` : of.name) : "All MPI calls";
}

function tipRows(node: PathNode, measure: Measure, total: Sums): [string, string, string][] {
  const rows: [string, string, string][] = (["timeNs", "calls", "bytes"] as const).map((each) => {
    const [words, share] = partWords(each, node.sums[each], total[each]);
    return [each === "timeNs" ? "time in MPI" : each, words, each === measure ? share : ""];
  });
  if (node.function.module && node.function.mpi === null) rows.push(["in", node.function.module, ""]);
  return rows;
}

interface Drawn { focus: PathNode; measure: Measure; chosen: PathNode | null; colours: ReadonlyMap<number, string> }

function draw(context: CanvasRenderingContext2D, area: Area, inks: Colours, { node, from, to, row }: Block, { focus, measure, chosen, colours }: Drawn): void {
  const [left, right] = [from * area.width, to * area.width];
  const [width, top, height] = [Math.max(1, right - left - (right - left > 3 ? 1 : 0)), row * ROW_PIXELS, ROW_PIXELS - 1];
  const { mpi } = node.function;
  const isAbove = row < focus.depth;
  context.globalAlpha = isAbove ? 0.55 : 1;
  const ground = mpi === null ? inks.bar : colours.get(mpi) ?? inks.fill;
  context.fillStyle = ground;
  context.fillRect(left, top, width, height);
  if (mpi === null) {
    context.strokeStyle = inks.edge;
    context.lineWidth = 1;
    if (width > 3) context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  }
  // The same function elsewhere is marked too.
  if (chosen && chosen.parent && node.function.key === chosen.function.key) {
    context.strokeStyle = inks.accent;
    context.lineWidth = node === chosen ? 3 : 1.5;
    context.strokeRect(left + context.lineWidth / 2, top + context.lineWidth / 2, width - context.lineWidth, height - context.lineWidth);
  }
  if (width > 24) {
    context.fillStyle = mpi === null ? inks.text : inkOn(ground);
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(left, top, width - PADDING, height);
    context.clip();
    const name = node.parent ? node.function.name : "all";
    const figure = `  ${measured(measure, node.sums[measure])}`;
    const hasRoom = context.measureText(name + figure).width + 2 * PADDING < width;
    context.fillText(hasRoom ? name + figure : name, left + PADDING, top + height / 2 + 0.5);
    context.restore();
  }
  context.globalAlpha = 1;
}

/** Black or white, whichever is easier to read on a colour. */
function inkOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  const light = 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
  return light > 0.18 ? "#000" : "#fff";
}

/** Where an arrow leads to. */
function stepped(from: PathNode, key: string, measure: Measure): PathNode | null {
  if (key === "ArrowUp") return from.parent;
  if (key === "ArrowDown") return sorted(from, measure)[0] ?? null;
  const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (by === 0 || !from.parent) return null;
  const all = sorted(from.parent, measure);
  return all[all.indexOf(from) + by] ?? null;
}
