// One graph with its heading: drawn, or as a table.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import type { KnownDag } from "../../state/dag-questions";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { emptyWords, graphWords, nodeRows, nodeSentence } from "./words";
import { colours } from "../colours";
import { watchSize } from "../size";
import { followers } from "./graph";
import { listen } from "./input";
import { modelOf } from "./recipe";
import type { WhatState } from "./state";
import { NodeTable } from "./table";
import { GraphView, type Shown } from "./view";

interface PaneProps { store: Store; frames: Frames; what: WhatState; known: KnownDag; label: string; isPinned: boolean }

export function Pane({ store, frames, what, known, label, isPinned }: PaneProps) {
  const { title, facts, missing } = graphWords(known);
  const { dag } = known;
  const selection = store.selection.value;
  const selected = selection?.kind === "dag-node" && selection.dag === dag ? selection.node : -1;
  const folded = what.folded(dag);
  return (
    <section class="pane" aria-label={label}>
      <div class="pane-head">
        <h2 title={title}>{isPinned && <span class="soft">Kept: </span>}{title}</h2>
        <p class="soft" title={facts}>{facts}</p>
        {missing && <p class="warn">{missing}</p>}
      </div>
      {dag.nodes.length === 0 ? <Empty known={known} />
        : what.isTable.value ? <NodeTable store={store} model={modelOf(dag)} folded={folded} selected={selected} />
        : <Drawn store={store} frames={frames} what={what} known={known} selected={selected} folded={folded} label={label} />}
    </section>
  );
}

function Empty({ known }: { known: KnownDag }) {
  const { title, advice } = emptyWords(known);
  return <div class="message"><h2>{title}</h2><p>{advice}</p></div>;
}

interface DrawnProps { store: Store; frames: Frames; what: WhatState; known: KnownDag; selected: number; folded: ReadonlySet<number>; label: string }

function Drawn({ store, frames, what, known, selected, folded, label }: DrawnProps) {
  const { dag } = known;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<GraphView | null>(null);
  const shown = useRef<Shown | null>(null);
  const tip = useSignal<{ node: number; x: number; y: number } | null>(null);
  const model = modelOf(dag);
  const isFlipped = what.isFlipped.value;
  const [look, mode] = [colours.value, theme.value];

  // Before the next key may come.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const made = new GraphView(element, frames.request);
    view.current = made;
    const stopInput = listen(made, () => shown.current, {
      select: (node) => {
        const graph = shown.current?.model.graph;
        store.selection.value = graph && node >= 0 ? { kind: "dag-node", dag: graph.dag, node } : null;
      },
      fold: (node) => {
        const graph = shown.current?.model.graph;
        if (graph) what.fold(graph.dag, node);
      },
      point: (node, x, y) => (tip.value = node < 0 ? null : { node, x, y }),
    });
    const stopFrames = frames.add(() => made.draw());
    const stopSize = watchSize(element, () => made.resize());
    made.resize();
    return () => {
      stopInput();
      stopFrames();
      stopSize();
      made.dispose();
      view.current = null;
    };
  }, [store, frames, what, tip]);

  useLayoutEffect(() => {
    const { ground, text, edge, soft, accent, line, raised } = look;
    const font = box.current ? getComputedStyle(box.current).fontFamily : "sans-serif";
    shown.current = { model, folded, selected, isFlipped, look: { theme: mode, ground, text, edge, soft, accent, line, raised, font } };
    view.current?.show(shown.current);
  }, [model, folded, selected, isFlipped, look, mode]);

  useSignalEffect(() => {
    // A node of a graph that went away is pointed at no more.
    void what.figures.value;
    tip.value = null;
  });

  return (
    <div class="drawn">
      <div class="graph" ref={box} tabIndex={0} role="application" aria-label={`${label}: arrows go along links, Enter folds, W A S D move, plus and minus zoom, F fits`} />
      {tip.value && <Tip store={store} model={model} tip={tip.value} width={box.current?.clientWidth ?? 0} height={box.current?.clientHeight ?? 0} />}
      <p class="unseen" aria-live="polite">{selected >= 0 && nodeSentence(model.graph, selected, folded.has(selected) ? followers(model.graph, selected) : 0)}</p>
    </div>
  );
}

const TIP = { width: 288, height: 220, gap: 14 };

function Tip({ store, model: { graph }, tip: { node, x, y }, width, height }: { store: Store; model: Shown["model"]; tip: { node: number; x: number; y: number }; width: number; height: number }) {
  const left = x + TIP.gap + TIP.width > width ? Math.max(0, x - TIP.gap - TIP.width) : x + TIP.gap;
  const top = Math.max(0, Math.min(y + TIP.gap, height - TIP.height));
  return (
    <div class="tip" style={{ left: `${left}px`, top: `${top}px`, bottom: "auto", width: `${TIP.width}px` }}>
      <div><b>Rank {graph.dag.nodes.rank[node]}</b></div>
      {nodeRows(graph, node, store.figures.peek()).map(({ name, words, note }) => (
        <div key={name}><span>{name}</span><span>{words}{note && (name === "Slowest" || name === "To") ? `, ${note}` : ""}</span></div>
      ))}
    </div>
  );
}
