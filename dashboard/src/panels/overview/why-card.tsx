// Why: the ranks' time as one bar that reads as a sentence.

import { useComputed } from "@preact/signals";
import type { FindingsReport } from "../../feed/found";
import { type Gaps, NO_GAPS } from "../../feed/switch";
import { finishedNsOf } from "../../state/finished";
import type { Store } from "../../state/store";
import { part, seconds } from "../../words/found";
import { type Slice, timeSplit } from "../../words/overview";
import { coarseness } from "../../words/range";
import { partTone } from "../causes";
import { SelectedNote, WholeRunNote } from "../selected-note";
import { useTable } from "../share/tables";
import { ranksAmong, type Scope, scopeOf } from "../why/layout";
import { useRangeFigures } from "../why/range";
import { BUDGET, show } from "../why/sections";

/** Parts below this share are named where there is room. */
const SMALL = 0.04;

export function WhyCard({ store, found }: { store: Store; found: FindingsReport | null }) {
  const ranks = useComputed(() => store.figures.value.job.ranks).value;
  const figures = useRangeFigures(store).value;
  const gaps = useComputed(() => store.figures.value.switch?.gapsNs ?? NO_GAPS).value;
  return (
    <section>
      <h2>Why <span class="soft">where the ranks’ time went</span> {figures.kind === "known" ? <SelectedNote store={store} /> : <WholeRunNote store={store} />}{found && <button type="button" class="more" onClick={() => show(store, BUDGET)}>Open Causes</button>}</h2>
      {found ? <Split store={store} scope={scopeOf(figures, found, ranks, gaps)} ranks={ranks} gaps={gaps} note={figures.kind === "known" ? coarseness(figures.budget) : found.waitingNote} /> : <p class="soft">Where time went is not known yet.</p>}
    </section>
  );
}

/** `note`: why what ranks waited for most is not the verdict's cause, of the whole run; or how coarse figures of a range are. */
function Split({ store, scope, ranks, gaps, note }: { store: Store; scope: Scope; ranks: number; gaps: Gaps; note: string }) {
  const finishedS = finishedNsOf(store.figures.value.ranks, scope.only, scope.spanNs, gaps) / 1e9;
  const { slices, sentence, ranksS } = timeSplit(scope.parts, ranksAmong(scope.only, ranks), scope.ranksS, finishedS);
  useTable("where the ranks' time went", () => ({ columns: ["part", "time_s", "share_of_ranks_time"], rows: slices.map(({ name, seconds: value }) => [name, value, value / ranksS]) }));
  return (
    <>
      <p>{sentence}{note && <span class="soft"> {note.replaceAll(" %", "\u00a0%")}</span>}</p>
      <div class="stacked" role="img" aria-label={sentence}>
        {slices.map((slice) => <i key={slice.part} class={look(slice)} title={`${slice.name}: ${seconds(slice.seconds)}, ${part(slice.seconds / ranksS)}. ${slice.title}`} style={{ flexGrow: slice.seconds, backgroundColor: tone(slice) }} />)}
      </div>
      <ul class="keys">
        {slices.map((slice) => <li key={slice.part} class={slice.seconds < SMALL * ranksS ? "small-part" : ""} title={slice.title}><span class={`swatch ${look(slice)}`} style={{ backgroundColor: tone(slice) }} />{slice.name} <span class="soft">{part(slice.seconds / ranksS)}</span></li>)}
      </ul>
    </>
  );
}

/** What is outside of MPI is the program's own and has no tone, nor has what is after it. */
function look({ part: kind }: Slice): string {
  return kind === "outside" || kind === "finished" ? kind : "";
}

function tone({ part: kind }: Slice): string {
  return kind === "outside" || kind === "finished" ? "" : partTone(kind);
}
