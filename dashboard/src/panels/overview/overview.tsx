// The first view: what to do next, why, where and how at a glance, hangs, and the run's figures. Each part leads
// to the tab that has the whole of it.

import { useComputed } from "@preact/signals";
import type { FindingsReport } from "../../feed/found";
import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { isSettled, isWithheld, partVerdict, pieces, verdictLine } from "../../words/found";
import { nextStep } from "../../words/overview";
import { WholeRunNote } from "../selected-note";
import { ADVICE, show } from "../why/sections";
import { useRangeFigures } from "../why/range";
import { SourceRanks, sourceRanks } from "../why/sources";
import { RunFigures } from "./figures";
import { HowCard } from "./how-card";
import { HangCard } from "./hangs";
import { WhereCard } from "./where-card";
import { WhyCard } from "./why-card";

export function Overview({ store }: { store: Store }) {
  const found = useComputed(() => store.figures.value.found).value;
  const settled = found && isSettled(found) ? found : null;
  return (
    <div class="overview" tabIndex={0} role="region" aria-label="The run at a glance">
      <Next store={store} found={settled} />
      <HangCard store={store} />
      <div class="pair">
        <WhyCard store={store} found={settled} />
        <WhereCard store={store} />
      </div>
      <div class="pair">
        <HowCard store={store} found={settled} />
        <RunFigures store={store} />
      </div>
    </div>
  );
}

const TITLE = "What to do";

function Next({ store, found }: { store: Store; found: FindingsReport | null }) {
  const figures = useRangeFigures(store).value;
  if (!found) {
    const run = store.figures.value;
    return (
      <section class="next">
        <h2>{TITLE} <WholeRunNote store={store} /></h2>
        <p class="soft">{over(run) ? verdictLine(run).sentence : "What to do appears here as soon as there is a verdict. The figures below are there already."}</p>
      </section>
    );
  }
  const ofPart = partVerdict(figures);
  const step = nextStep(ofPart ?? found);
  const title = <h2>{TITLE} {ofPart ? <span class="soft selected-note">of the selection</span> : <WholeRunNote store={store} />}</h2>;
  if (!step && !ofPart && isWithheld(found.diagnosis.verdict)) {
    return <section class="next"><h2>{TITLE} <WholeRunNote store={store} /></h2><p class="soft">{verdictLine(store.figures.value).sentence}</p></section>;
  }
  if (!step) return <section class="next">{title}<p class="soft">Nothing has to be done: no cause costs so much that it stands out.</p></section>;
  return (
    <section class="next">
      {title}
      <p><Sentence text={step.text} /> {step.cost && <span class="soft"><Sentence text={step.cost} /></span>} <SourceRanks store={store} ranks={ofPart ? ofPart.ranks : sourceRanks(found)} /></p>
      <button type="button" title="All there is to do, and what it rests on, in the tab Causes" onClick={() => show(store, ADVICE)}>All advice</button>
    </section>
  );
}

function Sentence({ text }: { text: string }) {
  return <>{pieces(text).map((piece) => (piece.isCommand ? <code class="command" key={piece.text}>{piece.text}</code> : piece.text))}</>;
}
