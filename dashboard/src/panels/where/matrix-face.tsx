// The face that is a matrix: its tools, its canvas, its legend.

import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import type { RunState } from "../../state/run";
import type { Store } from "../../state/store";
import { counted } from "../../words";
import { nodeName, nodeOrder } from "../../words/hosts";
import { cellTold, rangesShort, tell, type TipText } from "../../words/regions";
import type { Desk } from "./desk";
import { AmountLegend, LatencyLegend } from "./legend";
import { regionOfRanks } from "./links";
import { type Measure, type Order, orderBy, type OrderKind } from "./matrix";
import { type Cell, MatrixView } from "./matrix-view";
import type { Memory } from "./memory";
import { Picture, ZoomButtons } from "./picture";

interface FaceProps { store: Store; frames: Frames; desk: Desk; memory: Memory; switches: ComponentChildren }

const MEASURES: readonly Measure[] = ["messages", "bytes", "latency"];
const ORDERS: readonly OrderKind[] = ["rank", "node", "region"];

export function MatrixFace({ store, frames, desk, memory, switches }: FaceProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<MatrixView | null>(null);
  const cell = useSignal<Cell | null>(null);
  const run = store.figures.value;
  // A new order only when what it is made of changed: figures come several times a second.
  const ranks = Math.max(run.job.ranks, run.ranks.length);
  const version = useComputed(() => store.figures.value.regions).value;
  const kind = memory.order.value;
  const { order, nameOf } = useMemo(() => orderOf(kind, store.figures.peek(), ranks), [kind, ranks, version, run.ranks.count, run.nodes.size, store]);
  useEffect(() => {
    if (!canvas.current) return undefined;
    const made = new MatrixView(store, frames, canvas.current, desk, memory, order, nameOf);
    view.current = made;
    const stop = made.pointed.subscribe((value) => (cell.value = value));
    return () => {
      view.current = null;
      stop();
      made.dispose();
    };
    // A new order is reported below.
  }, [store, frames, desk, memory]);
  useEffect(() => view.current?.setOrder(order, nameOf), [order, nameOf]);
  const measure = memory.measure.value;
  void desk.pictures.value;
  const painted = desk.paintedCells?.ask.measure === measure ? desk.paintedCells : null;
  const perCell = painted?.ask.cells.ranks ?? 1;
  return (
    <>
      <div class="bar">
        {switches}
        <div class="group" role="group" aria-label="What the cells show">
          {MEASURES.map((each) => <button type="button" key={each} aria-pressed={measure === each} onClick={() => (memory.measure.value = each)}>{each.replace(/^./, (letter) => letter.toUpperCase())}</button>)}
        </div>
        <label class="small soft" title="Order of the ranks"><span class="wide">ordered by </span><select value={kind} aria-label="Order of the ranks" onChange={(event) => (memory.order.value = event.currentTarget.value as OrderKind)}>
          {ORDERS.map((each) => <option key={each} value={each}>{each}</option>)}
        </select></label>
        <div class="group end" role="group" aria-label="View of the matrix">
          <ZoomButtons view={view} />
          <button type="button" onClick={() => view.current?.fit()} title="All in sight (0)">Fit</button>
        </div>
      </div>
      <Picture canvas={canvas} view={view} kind="matrix" label="Matrix of senders and receivers; the inspector has the figures of a pair"
        text={cell.value && cellWords(cell.value, view.current, run)} wait={run.pairs ? "" : "Who sends to whom is not known yet."} />
      <div class="legend">
        {measure === "latency" ? <LatencyLegend /> : painted && <AmountLegend measure={measure} least={painted.least} most={painted.most} />}
        <span class="soft rest">{perCell > 1 ? `a cell: ${perCell} by ${perCell} ranks, ${measure === "latency" ? "mean" : "sum"}` : `${counted(ranks, "rank", "ranks")}; a cell is one to one`}</span>
      </div>
    </>
  );
}

function orderOf(kind: OrderKind, run: RunState, ranks: number): { order: Order; nameOf: (key: number) => string } {
  if (kind === "node") {
    const order = nodeOrder(run);
    const nodes = [...order].sort(([, one], [, other]) => one - other).map(([node]) => node);
    const last = nodes.length;
    return {
      order: orderBy(ranks, (rank) => (run.ranks.heard[rank] === 1 ? (order.get(run.ranks.node[rank] ?? 0) ?? last) : last)),
      nameOf: (place) => (place === last ? "not heard" : nodeName(run, nodes[place] ?? 0)),
    };
  }
  if (kind === "region" && run.regions) {
    const { regions } = run.regions;
    const regionOf = regionOfRanks(regions);
    const key = (rank: number): number => (rank < regionOf.length && (regionOf[rank] ?? -1) >= 0 ? (regionOf[rank] ?? 0) : regions.length);
    return { order: orderBy(ranks, key), nameOf: (index) => (regions[index] ? rangesShort(regions[index].ranks) : "in no region") };
  }
  return { order: orderBy(ranks, null), nameOf: String };
}

function cellWords(cell: Cell, view: MatrixView | null, run: RunState): TipText | null {
  if (!view || !run.pairs) return null;
  const senders = view.ranksOf(cell.fromRow, cell.toRow);
  const receivers = view.ranksOf(cell.fromColumn, cell.toColumn);
  const [src = 0, dst = 0] = [senders[0], receivers[0]];
  if (senders.length > 1 || receivers.length > 1) return cellTold(senders, receivers, run.pairs);
  return src === dst ? tell({ kind: "rank", rank: src }, run) : tell({ kind: "pair", src, dst }, run);
}
