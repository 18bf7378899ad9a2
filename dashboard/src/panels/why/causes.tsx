// What each cause costs that could be avoided.

import { CAUSES } from "../../feed/found";
import { CAUSE_MEANINGS, CAUSE_NAMES, part, seconds } from "../../words/found";
import { COST_NOT_KNOWN, placementCost } from "../../words/placement";
import { causeColour, CauseMark } from "../causes";
import { TermMark } from "../terms/term";
import { type Scope, SHARE_LEAST } from "./layout";

const CAUSE_TERMS = { mapping: "placement", pattern: "imbalance", background: "network", cpu: "cpu" } as const;

export function Causes({ scope: { where, causes, top, ranksS: totalS }, isDistanceUnknown }: { scope: Scope; isDistanceUnknown: boolean }) {
  const longest = Math.max(SHARE_LEAST, ...CAUSES.map((cause) => (causes.get(cause) ?? 0) / totalS));
  const sorted = [...CAUSES].sort((one, other) => (causes.get(other) ?? 0) - (causes.get(one) ?? 0));
  return (
    <section>
      <h2 title={`Shares are of the ranks’ time, ${seconds(totalS)}`}>Avoidable time<TermMark id="avoidable" /> <span class="soft">{where ? `of ${seconds(totalS)} ${where}` : `of the ranks’ time, ${seconds(totalS)}`}</span></h2>
      <ul class="rows">
        {sorted.map((cause) => {
          const avoidableS = causes.get(cause) ?? 0;
          const isUnknown = cause === "mapping" && isDistanceUnknown;
          return (
            <li key={cause} class={cause === top ? "top" : ""} title={`${CAUSE_NAMES[cause]}: ${CAUSE_MEANINGS[cause]}`}>
              <CauseMark cause={cause} />
              <span class="name">{CAUSE_NAMES[cause]}<TermMark id={CAUSE_TERMS[cause]} /></span>
              <span class="track"><i style={{ width: `${(100 * Math.max(0, avoidableS / totalS)) / longest}%`, backgroundColor: causeColour(cause) }} /></span>
              <span class="value">{cause === "mapping" ? placementCost(avoidableS, isDistanceUnknown) : seconds(avoidableS)}</span>
              <span class="share">{isUnknown ? "" : part(avoidableS / totalS)}</span>
              <small>{CAUSE_MEANINGS[cause]}{isUnknown && `. ${COST_NOT_KNOWN}`}</small>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
