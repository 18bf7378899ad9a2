// What a call site is: how long ranks waited there, for what, and who for whom.

import { rangesOf } from "../../state/ranks";
import type { Site, Store } from "../../state/store";
import { clock } from "../../words";
import { part, seconds, waitingRows, waitWords } from "../../words/found";
import { rankRanges } from "../../words/hosts";
import { longestAt, ranksAt, siteKey, siteName, waitsAt } from "../../words/sites";
import { partTone } from "../causes";
import { Row, Title } from "./parts";

/** More are in the table of waits. */
const WAITS_NAMED = 5;
/** A wait fills about a third of the range that is selected for it. */
const ROOM = 1;

export function SitePart({ store, place }: { store: Store; place: Site }) {
  const diagnosis = store.figures.value.found?.diagnosis;
  const row = diagnosis?.sites.find((each) => siteKey(each) === siteKey(place));
  const waits = diagnosis?.waits ?? [];
  const title = <Title label="Clear" clear={() => (store.selection.value = null)} text={<span class={place.place ? "command" : ""}>{siteName(place)}</span>} />;
  if (!row || !diagnosis) return <section>{title}<p class="soft">Nobody is known to have waited there for long.</p></section>;
  const there = waitsAt(waits, place.site);
  const longest = longestAt(waits, place.site);
  const ranks = ranksAt(waits, place.site);
  return (
    <section>
      {title}
      <dl>
        <Row name="Waited there" note={diagnosis.budget.waitingS > 0 ? `${part(row.seconds / diagnosis.budget.waitingS)} of all waiting` : ""}>{seconds(row.seconds)}</Row>
        {longest && <Row name="Longest" note={`${waitWords(longest).replace(/, [^,]*$/, "")}, at ${clock(longest.longestAtS * 1e9)}`}>{seconds(longest.longestS)}</Row>}
        {ranks.length > 0 && <Row name="Ranks" note="of the waits that are listed">{rankRanges(ranks).replace(/^ranks? /, "")}</Row>}
      </dl>
      <div class="actions">
        {longest && longest.longestS > 0 && <>
          <button type="button" onClick={() => store.command({ do: "seek", time_ns: Math.round(longest.longestAtS * 1e9) })}>Go to the longest</button>
          <button type="button" onClick={() => store.select({ rangeNs: aroundWait(longest.longestAtS, longest.longestS) })}>Select its time</button>
        </>}
        {ranks.length > 0 && <button type="button" onClick={() => store.select({ ranks: rangesOf(ranks) })}>Only these ranks</button>}
      </div>
      <div class="bars" role="list" aria-label="What was waited for there">
        {waitingRows(row.by).filter(({ seconds: value }) => value !== 0).sort((one, other) => other.seconds - one.seconds).map((each) => (
          <div role="listitem" key={each.part} title={each.title}><span class="swatch" style={{ backgroundColor: partTone(each.part) }} /><span>{each.name}</span><span>{seconds(each.seconds)}</span></div>
        ))}
      </div>
      {there.length > 0 && <ul>{there.slice(0, WAITS_NAMED).map((wait) => <li key={`${wait.waiter}/${wait.awaited}/${wait.function}/${wait.state}`}>{waitWords(wait).replace(/ (?=\S+$)/, "\u00a0")}</li>)}</ul>}
      {there.length === 0 && <p class="soft small">None of the waits there is among the longest of the run, which are listed.</p>}
    </section>
  );
}

/** The wait is somewhere in the call that began then. */
function aroundWait(atS: number, longS: number): [number, number] {
  return [Math.floor(Math.max(0, atS - ROOM * longS) * 1e9), Math.ceil((atS + (1 + ROOM) * longS) * 1e9)];
}
