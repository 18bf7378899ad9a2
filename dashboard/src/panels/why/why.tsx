// The tab that says why the run takes as long as it does: what could be avoided, when, where time in MPI went, and who
// waited for whom.

import { useComputed } from "@preact/signals";
import type { FindingsReport } from "../../feed/found";
import { NO_GAPS } from "../../feed/switch";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { isSettled, partVerdict, pieces, verdictLine } from "../../words/found";
import { CopyButton } from "../share/copy-button";
import { Budget, WaitingBy } from "./budget";
import { Causes } from "./causes";
import { Contents } from "./contents";
import { CriteriaPart } from "./criteria";
import { EfficiencyFigures } from "./efficiency";
import { ranksTimeS, scopeOf } from "./layout";
import { OverTime } from "./over-time";
import { Placement } from "./placement";
import { ADVICE, BUDGET, CAUSES_PART, OVER_TIME, SITES, WAITS } from "./sections";
import { RangeBar, useRangeFigures } from "./range";
import { Sites } from "./sites";
import { Sources } from "./sources";
import { ThreeViews } from "./views";
import { WhatIf } from "./what-if";
import { GatheredWaits, Waits } from "./waits";

export function Why({ store }: { store: Store }) {
  // Figures come several times a second, a verdict once.
  const found = useComputed(() => store.figures.value.found).value;
  return (
    <div class="why" tabIndex={0} role="region" aria-label="Why the run takes as long as it does">
      {found && isSettled(found) ? <Diagnosis store={store} found={found} /> : <Nothing store={store} />}
    </div>
  );
}

function Nothing({ store }: { store: Store }) {
  const run = store.figures.value;
  return (
    <>
      <div class="message">
        <h2>{verdictLine(run).sentence}</h2>
        <p>Each call is cut into waiting, the expected transfer time of its messages, the inter-node cost, and what was slower than expected. Expected times are learned from the run itself{over(run) ? "; a short run may end before they are known" : ""}.</p>
        {!over(run) && <p>Then this view says which cause costs most, how much is avoidable and when, and who waited for whom.</p>}
      </div>
      {/* Messages are counted whatever is diagnosed of them. */}
      {edgeNs(run) > 0 && <ThreeViews store={store} />}
    </>
  );
}

function Diagnosis({ store, found }: { store: Store; found: FindingsReport }) {
  const { diagnosis } = found;
  const figures = useRangeFigures(store).value;
  const ranks = useComputed(() => store.figures.value.job.ranks).value;
  const gaps = useComputed(() => store.figures.value.switch?.gapsNs ?? NO_GAPS).value;
  const scope = scopeOf(figures, found, ranks, gaps);
  const isRanged = figures.kind !== "none";
  const ofPart = partVerdict(figures);
  const top = diagnosis.verdict.cause;
  return (
    <>
      <Contents store={store} />
      <RangeBar store={store} figures={figures} />
      <div class="pair" id={CAUSES_PART} tabIndex={-1}>
        <Causes scope={scope} isDistanceUnknown={diagnosis.isDistanceUnknown} />
        <Advice actions={(ofPart ?? found).actions} details={(ofPart ?? found).details} of={ofPart ? "part" : isRanged ? "run" : null} />
      </div>
      <WhatIf replays={diagnosis.whatIf} top={top} isRanged={isRanged} />
      <Sources store={store} sources={diagnosis.sources} top={top} hasCpuContention={diagnosis.hasCpuContention} isRanged={isRanged} />
      <section id={WAITS} tabIndex={-1} class="waits">
        <GatheredWaits store={store} gathered={diagnosis.gathered} waitingS={diagnosis.budget.waitingS} isRanged={isRanged} />
        <Waits store={store} waits={diagnosis.waits} isRanged={isRanged} />
      </section>
      <section id={SITES} tabIndex={-1} class="sites">
        <Sites store={store} sites={diagnosis.sites} waits={diagnosis.waits} waitingS={diagnosis.budget.waitingS} isRanged={isRanged} />
      </section>
      <div class="pair" id={BUDGET} tabIndex={-1}>
        <Budget store={store} scope={scope} />
        <WaitingBy scope={scope} />
      </div>
      <EfficiencyFigures efficiency={diagnosis.efficiency} isRanged={isRanged} />
      <OverTime id={OVER_TIME} store={store} found={found} />
      <ThreeViews store={store} />
      <CriteriaPart store={store} />
      <Placement store={store} gainedS={new Map(diagnosis.verdict.causes).get("mapping") ?? 0} ranksS={ranksTimeS(found, ranks, gaps)} isUnknown={diagnosis.isDistanceUnknown} />
    </>
  );
}

/** `of`: what the verdict is about, where something is selected. */
function Advice({ actions, details, of }: { actions: readonly string[]; details: readonly string[]; of: "part" | "run" | null }) {
  return (
    <section id={ADVICE} tabIndex={-1}>
      {actions.length > 0 && (
        <>
          <h2>What to do {of && <span class="soft">about {of === "part" ? "the selection" : "the whole run"}</span>}</h2>
          <ul class="details actions">{actions.map((action) => <li key={action}><Sentence text={action} /></li>)}</ul>
        </>
      )}
      <h2>What it rests on {of && <span class="soft">in {of === "part" ? "the selection" : "the whole run"}</span>}</h2>
      {details.length > 0
        ? <ul class="details">{details.map((detail) => <li key={detail}><Sentence text={detail} /></li>)}</ul>
        : <p class="soft">There is nothing to add to the verdict.</p>}
    </section>
  );
}

function Sentence({ text }: { text: string }) {
  return <>{pieces(text).map((piece) => (piece.isCommand ? <span key={piece.text}><code class="command">{piece.text}</code> <CopyButton text={piece.text} label={`Copy ${piece.text}`} /></span> : piece.text))}</>;
}
