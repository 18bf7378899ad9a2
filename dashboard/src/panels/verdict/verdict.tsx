// The line under the header: what the run suffers from most, in one sentence, how sure that is, and where to look next.

import type { Store } from "../../state/store";
import { cutAtConfidence, partVerdict, verdictLine } from "../../words/found";
import { CauseMark } from "../causes";
import { TermMark } from "../terms/term";
import { ADVICE, evidenceOf, show } from "../why/sections";
import { useRangeFigures } from "../why/range";

/** A sentence of this number of letters needs the room beside the buttons where the window is narrow. */
const LONG = 190;

export function Verdict({ store }: { store: Store }) {
  const run = store.figures.value;
  const figures = useRangeFigures(store).value;
  if (run.number < 0) return null;
  const { cause, about, sentence, notes } = verdictLine(run, figures);
  const [upTo, rest] = cutAtConfidence(sentence);
  const isLong = about.length + sentence.length + notes.join("").length > LONG;
  const actions = (partVerdict(figures) ?? run.found)?.actions ?? [];
  const loud = cause !== null && cause !== "none";
  return (
    <section class={`verdict ${loud ? "" : "quiet"} ${isLong ? "long" : ""}`} aria-label="Verdict">
      <CauseMark cause={cause} />
      <p>
        {about && <span class="about">{about} </span>}
        <span class="sentence">{upTo}{rest && <TermMark id="confidence" />}{rest}</span>
        {notes.map((note) => <span class="remark" key={note}> {`\u00b7\u00a0${note}`}</span>)}
      </p>
      <span class="buttons">
        {cause !== null && <button type="button" title="What it rests on, in the tab Causes" onClick={() => show(store, evidenceOf(cause))}>Evidence</button>}
        {(loud || actions.length > 0) && <button type="button" title="What to do, in the tab Causes" onClick={() => show(store, ADVICE)}>What to do</button>}
      </span>
    </section>
  );
}
