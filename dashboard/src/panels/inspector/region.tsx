// What a region, the traffic between regions or of two ranks is; and what a rank has to do with others.

import type { RankRange } from "../../feed/regions";
import { same } from "../../same";
import { rangesOf } from "../../state/ranks";
import type { RunState } from "../../state/run";
import type { Place, Store } from "../../state/store";
import { tell } from "../../words/regions";
import { Row, Title } from "./parts";

export function PlacePart({ store, place }: { store: Store; place: Place }) {
  const run = store.figures.value;
  const description = tell(place, run);
  const clear = (): void => void (store.selection.value = null);
  if (!description) return <section><Title label="Clear" clear={clear} text="A region" /><p class="soft">It is not there any more: regions were found anew.</p></section>;
  const ranks = ranksOf(place, run);
  const only = store.perspective.value.ranks;
  const alone = same(only, ranks);
  return (
    <section>
      <Title label="Clear" clear={clear} text={description.title} />
      <dl>{description.rows.map(([name, value, note]) => <Row key={name} name={name} note={note}>{value}</Row>)}</dl>
      <div class="actions">
        {place.kind === "pair" && [place.src, place.dst].map((rank) => (
          <button type="button" key={rank} onClick={() => (store.selection.value = { kind: "rank", rank })}>Rank {rank}</button>
        ))}
        <button type="button" aria-pressed={alone} onClick={() => store.select({ ranks: alone ? null : ranks })}>Only these ranks</button>
      </div>
    </section>
  );
}

function ranksOf(place: Place, run: RunState): RankRange[] {
  if (place.kind === "pair") return rangesOf([place.src, place.dst]);
  const ids = place.kind === "region" ? [place.id] : [place.a, place.b];
  const ranges = run.regions?.regions.filter(({ id }) => ids.includes(id)).flatMap(({ ranks }) => ranks) ?? [];
  return ranges.sort(([one], [other]) => one - other).map(([first, last]): RankRange => [first, last]);
}

/** Nothing while nothing is known. */
export function TalkRows({ run, rank }: { run: RunState; rank: number }) {
  const description = run.pairs && tell({ kind: "rank", rank }, run);
  const rows = description?.rows.filter(([name]) => name === "Region" || name === "Latency L" || name === "Talks to") ?? [];
  return <>{rows.map(([name, value, note]) => <Row key={name} name={name} note={note}>{value}</Row>)}</>;
}
