// The line under the header: what the run suffers from most, in one sentence, how sure that is, and where to look next.

import type { Store } from "../../state/store";
import { cutAtConfidence, verdictLine } from "../../words/found";
import { CauseMark } from "../causes";
import { TermMark } from "../terms/term";
import { ADVICE, evidenceOf, show } from "../why/places";

/** A sentence of this number of letters needs the room beside the buttons where the window is narrow. */
const LONG = 190;

export function Verdict({ store }: { store: Store }) {
  const run = store.figures.value;
  if (run.number < 0) return null;
  const { cause, sentence, notes } = verdictLine(run, store.scope.value !== null);
  const [upTo, rest] = cutAtConfidence(sentence);
  const isLong = sentence.length + notes.join("").length > LONG;
  const loud = cause !== null && cause !== "none";
  return (
    <section class={`verdict ${loud ? "" : "quiet"} ${isLong ? "long" : ""}`} aria-label="Verdict">
      <CauseMark cause={cause} />
      <p>
        <span class="sentence">{upTo}{rest && <TermMark id="confidence" />}{rest}</span>
        {notes.map((note) => <span class="remark" key={note}> {`\u00b7\u00a0${note}`}</span>)}
      </p>
      <span class="buttons">
        {cause !== null && <button type="button" title="What it rests on, in the tab Why" onClick={() => show(store, evidenceOf(cause))}>Evidence</button>}
        {(loud || (run.found?.actions.length ?? 0) > 0) && <button type="button" title="What to do, in the tab Why" onClick={() => show(store, ADVICE)}>What to do</button>}
      </span>
    </section>
  );
}
