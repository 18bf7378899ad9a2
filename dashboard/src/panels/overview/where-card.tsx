// Where: the regions with the slowest messages.

import { useComputed } from "@preact/signals";
import type { Region } from "../../feed/regions";
import { latencyColour } from "../../palette/ramps";
import { over } from "../../state/run";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { delayedMeaning } from "../../state/delayed";
import { rangesOf } from "../../state/ranks";
import { delayedShare, latencyMeaning, latencyWords, nothingYet, rangesShort, ranksWords } from "../../words/regions";
import { CAUSE_NAMES, seconds } from "../../words/found";
import { type Blamed, blamedAndWhy, type Pair, slowestPair, slowestWords, turnsWords } from "../../words/overview";
import { CauseMark } from "../causes";
import { SelectedNote } from "../selected-note";
import { RegionMark } from "../where/table";
import { show, SOURCES } from "../why/sections";
import { useRangeFigures } from "../why/range";

const SHOWN = 3;
const RANGES = 4;
/** Ranges that are named of each region of a pair. */
const RANGES_OF_ONE = 2;

export function WhereCard({ store }: { store: Store }) {
  const regions = useComputed(() => store.shownFigures.value.run.regions).value;
  const worst = [...(regions?.regions ?? [])].sort((one, other) => (other.latency ?? -1) - (one.latency ?? -1) || one.id - other.id).slice(0, SHOWN);
  const found = useComputed(() => store.figures.value.found).value;
  // What pairs exchanged in a selection is not known here.
  const pair = store.scope.value || !regions ? null : slowestPair(regions, worst);
  const { blamed, noBlamed } = blamedAndWhy(found, useRangeFigures(store).value);
  const turns = blamed ? turnsWords(blamed.turns) : "";
  const open = (): void => void (store.tab.value = "where");
  return (
    <section>
      <h2>Where <span class="soft">{blamed ? "ranks that the verdict blames, then " : ""}{regions && worst.length > 0 ? slowestWords(worst, regions.count, pair) : "regions of ranks"}</span> <SelectedNote store={store} /><button type="button" class="more" onClick={open}>Open Regions</button></h2>
      {worst.length > 0
        ? <ul class="regions">
          {blamed && <BlamedRow store={store} blamed={blamed} />}
          {turns && <li class="soft explained">{turns}</li>}
          {!blamed && noBlamed && <li class="soft explained">{noBlamed}</li>}
          {pair && <PairRow pair={pair} select={() => {
            store.selection.value = { kind: "between", a: pair.a.id, b: pair.b.id };
            open();
          }} />}
          {worst.map((region) => <Row key={region.id} region={region} select={() => {
          store.selection.value = { kind: "region", id: region.id };
          open();
        }} />)}
          <li class="soft explained">L: transfer time relative to the expected; delayed: {delayedMeaning(store.figures.value.evolution?.hasNormal ?? true)}.</li>
        </ul>
        : <>{blamed && <ul class="regions"><BlamedRow store={store} blamed={blamed} /></ul>}<Nothing store={store} /></>}
    </section>
  );
}

function PairRow({ pair: { a, b, between: { latency } }, select }: { pair: Pair; select: () => void }) {
  return (
    <li class="between">
      <button type="button" title={`Show the messages between ${ranksWords(a.ranks)} and ${ranksWords(b.ranks)} in the tab Regions`} onClick={select}><span>{`between ${rangesShort(a.ranks, RANGES_OF_ONE)} and ${rangesShort(b.ranks, RANGES_OF_ONE)}`}</span></button>
      <Latency value={latency} />
    </li>
  );
}

function Nothing({ store }: { store: Store }) {
  const run = store.figures.value;
  return <p class="soft">{nothingYet(run, over(run)).text}</p>;
}

function BlamedRow({ store, blamed: { cause, ranks, seconds: value, turns } }: { store: Store; blamed: Blamed }) {
  const ranges = rangesOf(ranks);
  const [only] = ranks;
  const select = (): void => {
    if (ranks.length === 1 && only !== undefined) store.selection.value = { kind: "rank", rank: only };
    else show(store, SOURCES);
  };
  return (
    <li class="blamed">
      <button type="button" title={ranks.length === 1 ? `Show rank ${only ?? 0} in the inspector` : "Show them in the tab Causes"} onClick={select}><CauseMark cause={cause} /><span>{rangesShort(ranges, RANGES)}</span></button>
      <span title={`${seconds(value)} over all ranks${turns.length > 0 ? "; all turns are in the tab Causes" : ""}`}>{turns.length > 0 ? "blamed by turns" : `blamed for ${CAUSE_NAMES[cause]}`}</span>
    </li>
  );
}

function Latency({ value }: { value: number | null }) {
  return <span title={latencyMeaning(value)}><i class={value === null ? "tone unknown" : "tone"} style={value === null ? {} : { backgroundColor: latencyColour(value, theme.value) }} />L {latencyWords(value)}</span>;
}

function Row({ region, select }: { region: Region; select: () => void }) {
  const { id, ranks, latency } = region;
  return (
    <li>
      <button type="button" title={`Show ${ranksWords(ranks)} in the tab Regions`} onClick={select}><RegionMark id={id} /><span>{rangesShort(ranks, RANGES)}</span></button>
      <Latency value={latency} />
      <span class="soft" title="Of the exact messages inside">{latency === null ? "\u2013" : `${delayedShare(region)} delayed`}</span>
    </li>
  );
}
