// Predicts the run without its causes: switches for each cause, the recorded run and the predicted one below it.

import { useSignal } from "@preact/signals";
import { type Blame, CAUSES, type Cause, type WhatIf as Replays } from "../../feed/found";
import { seconds } from "../../words/found";
import { CHANGES, costly, predicted, predictedWords } from "../../words/whatif";
import { causeColour, CauseMark } from "../causes";
import { WHAT_IF } from "./sections";

export function WhatIf({ replays, top, isRanged }: { replays: Replays; top: Cause; isRanged: boolean }) {
  const chosen = useSignal<ReadonlySet<Blame> | null>(null);
  const possible = costly(replays);
  // The first cause is switched off until the user changes a switch.
  const removed = new Set([...(chosen.value ?? [top])].filter((cause): cause is Blame => possible.some((each) => each === cause)));
  const without = predicted(replays, removed);
  const toggle = (cause: Blame): void => {
    const next = new Set(removed);
    if (!next.delete(cause)) next.add(cause);
    chosen.value = next;
  };
  const { recordedS } = replays;
  return (
    <section id={WHAT_IF} tabIndex={-1} class="what-if">
      <h2>What if <span class="soft">the recorded run, replayed without its causes</span> {isRanged && <span class="soft selected-note">of the whole run</span>}</h2>
      {recordedS <= 0 || possible.length === 0
        ? <p class="soft">{recordedS > 0 ? "Removing a cause saves less than 0.5 % of the run." : "No prediction: the run was not replayed."}</p>
        : <>
          <div class="switches">
            {CAUSES.map((cause) => {
              const isPossible = possible.includes(cause);
              const learn = isPossible ? `Replay the run as if ${CHANGES[cause]}` : `Less than 0.5 % would be saved if ${CHANGES[cause]}`;
              return <button type="button" key={cause} role="switch" aria-checked={removed.has(cause)} disabled={!isPossible} title={learn} onClick={() => toggle(cause)}><CauseMark cause={cause} /> {CHANGES[cause]}</button>;
            })}
          </div>
          <div class="runs">
            <Run name="recorded" runS={recordedS} ofS={recordedS} colour="var(--edge)" words="" />
            <Run name="predicted" runS={without?.runS ?? recordedS} ofS={recordedS} colour={causeColour([...removed][0] ?? "none")} range={without ? [without.leastS, without.mostS] : undefined} words={without ? predictedWords(replays, without) : "nothing is changed"} />
          </div>
        </>}
    </section>
  );
}

function Run({ name, runS, ofS, colour, range, words }: { name: string; runS: number; ofS: number; colour: string; range?: readonly [number, number] | undefined; words: string }) {
  const percent = (s: number): string => `${100 * Math.min(1, Math.max(0, s / ofS))}%`;
  return (
    <>
      <span class="name">{name}</span>
      <span class="track">
        <i style={{ width: percent(runS), backgroundColor: colour }} />
        {range && range[1] > range[0] && <b style={{ left: percent(range[0]), right: `calc(100% - ${percent(range[1])})` }} />}
      </span>
      <span class="value">{seconds(runS)}</span>
      <span class="soft">{words}</span>
    </>
  );
}
