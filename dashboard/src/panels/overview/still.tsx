// What stands still: in how many ranks, in which function, since when; and the calls that are in flight longest.

import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { clock } from "../../words";
import { isStill, isSuspect, stillness, stillSentence } from "../../words/still";
import { span } from "../../words/time";

export function StillCard({ store }: { store: Store }) {
  const run = store.figures.value;
  const still = stillness(run);
  if (!still) return over(run) || run.job.state !== "running" ? null : <section class="still"><h2>Standing still</h2><p class="soft">What is in flight is not told yet.</p></section>;
  const { longest, edgeNs } = still;
  const mood = isSuspect(still) ? "suspect" : isStill(still) ? "" : "calm";
  return (
    <section class={`still ${mood}`}>
      <h2>Standing still</h2>
      <p class={mood === "calm" ? "soft" : ""}>{stillSentence(still)}</p>
      {longest.length > 0 && (
        <ul class="longest" aria-label="The longest calls in flight">
          {longest.map(({ rank, thread, name, sinceNs }) => (
            <li key={`${rank}/${thread}/${sinceNs}`}>
              <button type="button" title={`Show rank ${rank} in the inspector`} onClick={() => (store.selection.value = { kind: "rank", rank })}>rank {rank}</button>
              {" "}{name}{" "}
              <button type="button" title="Go to where it began" onClick={() => store.command({ do: "seek", time_ns: Math.round(sinceNs) })}>{clock(sinceNs, 1)}</button>
              {" "}<span class="soft">{span(edgeNs - sinceNs)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
