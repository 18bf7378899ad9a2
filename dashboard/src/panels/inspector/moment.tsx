// What a window of a region is, or of what goes between two.

import { same } from "../../same";
import { over } from "../../state/run";
import type { Moment, Store } from "../../state/store";
import { pointTold, ranksOfCourse, windowOf } from "../../words/evolution";
import { Row, Title } from "./parts";

export function MomentPart({ store, moment }: { store: Store; moment: Moment }) {
  const { evolution } = store.figures.value;
  const clear = (): void => void (store.selection.value = null);
  const there = evolution && windowOf(moment, evolution);
  const { rangeNs, ranks } = store.perspective.value;
  if (!evolution || !there) return <section><Title label="Clear" clear={clear} text="A window" /><p class="soft">It is not kept any more: of quiet stretches that are past only three windows are.</p></section>;
  const { title, rows } = pointTold(there.course, there.found, evolution, over(store.figures.value));
  const own = ranksOfCourse(there.course, evolution);
  const range = [moment.fromNs, moment.toNs] as const;
  const isRange = rangeNs?.[0] === range[0] && rangeNs[1] === range[1];
  const isAlone = same(ranks, own);
  return (
    <section>
      <Title label="Clear" clear={clear} text={title} />
      <dl>{rows.map(([name, value, note]) => <Row key={name} name={name} note={note}>{value}</Row>)}</dl>
      <div class="actions">
        <button type="button" onClick={() => store.command({ do: "seek", time_ns: moment.fromNs })}>Go to its start</button>
        <button type="button" aria-pressed={isRange} onClick={() => store.select({ rangeNs: isRange ? null : range })}>Only this range</button>
        {own.length > 0 && <button type="button" aria-pressed={isAlone} onClick={() => store.select({ ranks: isAlone ? null : own })}>Only these ranks</button>}
        <button type="button" title="Which messages led to which in this window, in the tab Graph" onClick={() => {
          store.select({ rangeNs: range });
          store.tab.value = "what";
        }}>What happened then</button>
      </div>
    </section>
  );
}
