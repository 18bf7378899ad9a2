// Hangs: who waits for whom, in how many ranks, in which function, since when; the calls that are in flight longest;
// and when it is over, who waited for whom and which calls ranks ended in.

import type { HangSentence } from "../../feed/hangs";
import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { clock } from "../../words";
import { endedCallWords, endedWords, isQuiet, isSuspect, quietSpell, quietSentence, stretchBefore, stretchNow } from "../../words/hangs";
import { span } from "../../words/time";

const SENTENCES = 12;
const RANKS = 8;
const ENDED = 8;

export function HangCard({ store }: { store: Store }) {
  const run = store.figures.value;
  const before = stretchBefore(run);
  const spell = quietSpell(run);
  if (spell) return <QuietSpellCard store={store} spell={spell} />;
  const ended = endedWords(run);
  if (!over(run) && run.job.state === "running") return <section class="hang"><h2>Hangs</h2><p class="soft">What is in flight is not known yet.</p></section>;
  if (!before && ended === "") return null;
  return (
    <section class="hang">
      <h2>Hangs</h2>
      <div>
        {before && <p>{before.sentence}</p>}
        {before && <Sentences store={store} sentences={before.stretch.sentences} />}
        {ended && <p>{ended}</p>}
        {ended && <ul class="longest" aria-label="Calls that had not returned">
          {(run.hangs?.endedIn ?? []).slice(0, ENDED).map((call) => (
            <li key={`${call.rank}/${call.thread}`}><RankButton store={store} rank={call.rank} />{" "}{endedCallWords(call)}{" "}<SeekButton store={store} ns={call.sinceNs} /></li>
          ))}
        </ul>}
      </div>
    </section>
  );
}

function QuietSpellCard({ store, spell }: { store: Store; spell: NonNullable<ReturnType<typeof quietSpell>> }) {
  const run = store.figures.value;
  const now = stretchNow(run);
  const before = stretchBefore(run);
  const { longest, edgeNs } = spell;
  const mood = now || isSuspect(spell) ? "suspect" : isQuiet(spell) ? "" : "calm";
  return (
    <section class={`hang ${mood}`}>
      <h2>Hangs</h2>
      <div>
        <p class={mood === "calm" ? "soft" : ""}>{quietSentence(spell)}</p>
        {now && <Sentences store={store} sentences={now.sentences} />}
        {before && <p class="soft">{before.sentence}</p>}
      </div>
      {longest.length > 0 && (
        <ul class="longest" aria-label="The longest calls in flight">
          {longest.map(({ rank, thread, name, sinceNs }) => (
            <li key={`${rank}/${thread}/${sinceNs}`}>
              <RankButton store={store} rank={rank} />{" "}{name}{" "}<SeekButton store={store} ns={sinceNs} />{" "}<span class="soft">{span(edgeNs - sinceNs)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Sentences({ store, sentences }: { store: Store; sentences: readonly HangSentence[] }) {
  return (
    <ul class="waits" aria-label="Who waits for whom">
      {sentences.slice(0, SENTENCES).map(({ text, ranks }) => (
        <li key={text}>{text} {ranks.slice(0, RANKS).map((rank) => <RankButton key={rank} store={store} rank={rank} />)}{ranks.length > RANKS && <span class="soft"> and {ranks.length - RANKS} more</span>}</li>
      ))}
      {sentences.length > SENTENCES && <li class="soft">{sentences.length - SENTENCES} more are in the report.</li>}
    </ul>
  );
}

function RankButton({ store, rank }: { store: Store; rank: number }) {
  return <button type="button" title={`Show rank ${rank} in the inspector`} onClick={() => (store.selection.value = { kind: "rank", rank })}>rank {rank}</button>;
}

function SeekButton({ store, ns }: { store: Store; ns: number }) {
  return <button type="button" title="Go to where it began" onClick={() => store.command({ do: "seek", time_ns: Math.round(ns) })}>{clock(ns, 1)}</button>;
}
