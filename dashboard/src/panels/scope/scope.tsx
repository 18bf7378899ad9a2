// What all views are narrowed to: range, ranks and functions, each with a way out; undo; and the way to find something.

import type { Store } from "../../state/store";
import type { Looks } from "../../state/looks";
import { around } from "../../state/span";
import { edgeNs } from "../../state/run";
import { clock, counted, duration } from "../../words";
import { ranksWords } from "../../words/regions";
import { secondSentence, secondWords } from "../../words/second";

/** Shorter ranges are shown to the microsecond. */
const SHORT_NS = 1e9;

export function Scope({ store, looks, find }: { store: Store; looks: Looks; find: () => void }) {
  const { rangeNs, ranks, hidden } = store.perspective.value;
  const run = store.figures.value;
  const off = [...hidden].filter((id) => run.functions.has(id));
  const shown = [...run.functions.values()].filter(({ id }) => !hidden.has(id));
  const digits = rangeNs && rangeNs[1] - rangeNs[0] < SHORT_NS ? 6 : 3;
  const isNarrow = rangeNs !== null || ranks !== null || off.length > 0;
  return (
    <section class="scope" aria-label="What all views are narrowed to">
      <div class="parts" role="group" aria-label="Narrowed to">
        {rangeNs
          ? <Part words={`${clock(rangeNs[0], digits)} to ${clock(rangeNs[1], digits)} (${duration(rangeNs[1] - rangeNs[0])})`} title="Zoom to it" act={() => (store.zoom.value = around(rangeNs, edgeNs(run)))} drop="The whole run again" clear={() => store.select({ rangeNs: null })} />
          : <span class="soft">Whole run</span>}
        {ranks
          ? <Part words={ranksWords(ranks, 2).replace(/^r/, "R")} drop="All ranks again" clear={() => store.select({ ranks: null })} />
          : <span class="soft">all ranks</span>}
        {off.length > 0
          ? <Part words={shown.length === 1 ? `${shown[0]?.name} only` : `${counted(off.length, "function", "functions")} hidden`} drop="All functions again" clear={() => store.select({ hidden: new Set() })} />
          : <span class="soft">all functions</span>}
        {isNarrow && <button type="button" class="plain" onClick={() => store.select({ rangeNs: null, ranks: null, hidden: new Set() })}>Clear all</button>}
      </div>
      {run.job.second && <span class="second soft" title={secondSentence(run.job.second)}>{secondWords(run.job.second)}</span>}
      <div class="group">
        <button type="button" class="plain" disabled={!looks.canUndo.value} title="Back to what was looked at before (u)" onClick={() => looks.undo()}>Undo</button>
        <button type="button" class="plain" disabled={!looks.canRedo.value} title="Forth again (Shift+u)" onClick={() => looks.redo()}>Redo</button>
        <button type="button" class="find" title="Find a rank, a function, a call site, a time (/)" onClick={find}><span class="soft">Find</span> <kbd>/</kbd></button>
      </div>
    </section>
  );
}

function Part({ words, title, act, drop, clear }: { words: string; title?: string; act?: () => void; drop: string; clear: () => void }) {
  return (
    <span class="part">
      {act ? <button type="button" class="plain" title={title} onClick={act}>{words}</button> : <span>{words}</span>}
      <button type="button" class="plain drop" aria-label={drop} title={drop} onClick={clear}>{"\u00d7"}</button>
    </span>
  );
}
